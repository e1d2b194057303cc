package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

func newSimulateCommand(e *host.Env) *cobra.Command {
	var path, tries string
	var asJSON, asMeasured, probe bool
	var inject, warm []string
	cmd := &cobra.Command{
		Use:   "simulate CONFIG",
		Short: "Run a configuration on its simulated plant",
		Long: `Run a configuration on its simulated plant, in virtual time, through the same
policy, safety layer, timing and journal as on the instrument. The plant of
[plant] stands in for every device. The same file gives the same run.

A decision is cut at the deadline in [policy] here too, by a table of what its units of
work take, so that it is the same on every computer. --as-measured takes what they take on
this one.

The journal is always a new one: NAME.simulate.db in the working folder, where an
earlier simulation is replaced, or the file that --journal names.

With --inject FAULT@STEP something goes wrong at that step: dropout, stale, stuck,
spike, lost, slow or wrong-sign, of a channel (:CHANNEL), for some steps (+STEPS).
The output says how the safety layer reacts; a run that it ends has exit code 4.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := loadToSimulate(cmd.Context(), args[0], e, probe)
			if err != nil {
				return err
			}
			earlier, err := w.ReadWarm(w.WarmFiles(warm))
			if err != nil {
				return err
			}
			w.Options.Mode = plan.Simulate
			if asMeasured {
				if err := countAsMeasured(w, e); err != nil {
					return err
				}
			}
			begin := session.Start{Env: e, Setup: w, JSON: asJSON, Clock: worker.NewVirtualClock(setup.SimulationStart()), Warm: earlier}
			if err := firstTries(&begin, tries); err != nil {
				return err
			}
			if path, err = runfiles.SimulateJournalPath(w.Config, path); err != nil {
				return err
			}
			if err := w.Inject(inject); err != nil {
				return err
			}
			w.Options.Outages.Wait = false // the plant's faults count steps: while it waited, none would end
			begin.Path = path
			return session.Play(cmd.Context(), begin)
		},
	}
	cmd.Flags().StringVar(&path, "journal", "", "file of the new journal (default NAME.simulate.db)")
	cmd.Flags().StringVar(&tries, "try", "", "settings of your own to measure first, from a CSV table, a column a variable and a row a step")
	cmd.Flags().StringArrayVar(&inject, "inject", nil, "a fault beside those of [plant], such as stuck:energy@120; may be repeated")
	cmd.Flags().StringArrayVar(&warm, "warm-start", nil, "a journal or CSV table of earlier observations, beside model.warm_start; may be repeated")
	probeFlag(cmd, &probe)
	cmd.Flags().BoolVar(&asMeasured, "as-measured", false, "cut decisions at the deadline by what work takes on this computer")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON per step, and one for the result")
	return cmd
}

// loadToSimulate is loadProbed for a file that needs a plant: without one its devices are asked nothing.
func loadToSimulate(ctx context.Context, path string, e *host.Env, probe bool) (*setup.Setup, error) {
	w, err := setup.Load(path, e)
	asks, left := errors.AsType[*setup.Unasked](err)
	if left {
		w = &setup.Setup{Config: asks.Config}
	} else if err != nil {
		return nil, err
	}
	switch {
	case w.Config.Plant == nil:
		return nil, w.Refuse("plant", "missing: there is nothing to simulate with", `add [plant] with kind = "laser", "growth", "dosing" or "table", or tune the instrument itself with tuner run`)
	case !left:
		return w, nil
	}
	return loadProbed(ctx, path, e, probe)
}

// probeFlag adds the flag for loadProbed.
func probeFlag(cmd *cobra.Command, probe *bool) {
	cmd.Flags().BoolVar(probe, "probe", false, "ask the devices for what the file leaves to them; nothing is moved")
}

// loadProbed loads a file, and asks its devices what it leaves to them where that was wanted.
func loadProbed(ctx context.Context, path string, e *host.Env, probe bool) (*setup.Setup, error) {
	if probe {
		return setup.LoadAsked(ctx, path, e, nil)
	}
	return setup.Load(path, e)
}

// countAsMeasured has units of work count for what they take on this computer.
func countAsMeasured(w *setup.Setup, e *host.Env) error {
	timed, err := examine.Decision(w, e.Now)
	if err != nil || timed.Units == 0 { // a design has none
		return err
	}
	unit := timed.Took / time.Duration(timed.Units)
	table := advisor.UnitTime(timed.Observations, len(w.Options.Variables))
	w.Options.UnitScale = float64(unit) / float64(table)
	fmt.Fprintf(e.Stderr, "tuner: a unit of work takes %s on this computer with %s, %.2g times what the table has\n",
		show.Duration(describe.Rounded(unit)), show.Count(timed.Observations, "observation"), w.Options.UnitScale)
	return nil
}
