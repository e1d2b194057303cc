package commands

import (
	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

func newSimulateCommand(e *host.Env) *cobra.Command {
	var path, tries string
	var asJSON bool
	var inject, warm []string
	cmd := &cobra.Command{
		Use:   "simulate CONFIG",
		Short: "Run a configuration on its simulated plant",
		Long: `Run a configuration on its simulated plant, in virtual time, through the same
policy, safety layer, timing and journal as on the instrument. The plant of
[plant] stands in for every device. The same file gives the same run.

The journal is always a new one: NAME.simulate.db in the working folder, where an
earlier simulation is replaced, or the file that --journal names.

With --inject FAULT@STEP something goes wrong at that step: dropout, stale, stuck,
spike, lost, slow or wrong-sign, of a channel (:CHANNEL), for some steps (+STEPS).
The output says how the safety layer reacts; a run that it ends has exit code 4.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := setup.Load(args[0], e)
			if err != nil {
				return err
			}
			if w.Plant == nil {
				return w.Refuse("plant", "missing: there is nothing to simulate with", `add [plant] with kind = "laser", "growth", "dosing" or "table", or tune the instrument itself with tuner run`)
			}
			earlier, err := w.ReadWarm(w.WarmFiles(warm))
			if err != nil {
				return err
			}
			w.Options.Mode = plan.Simulate
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON per step, and one for the result")
	return cmd
}
