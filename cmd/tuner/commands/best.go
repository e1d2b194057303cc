package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// bestFlags say what best is to find, and how it is written.
type bestFlags struct {
	risk      float64
	risked    bool
	front     bool
	sensors   string
	folder    string
	asJSON    bool
	asCSV     bool
	asCommand bool
}

func newBestCommand(e *host.Env) *cobra.Command {
	var b bestFlags
	cmd := &cobra.Command{
		Use:   "best JOURNAL|CONFIG|NAME",
		Short: "Show the recommended setting, ready to be set again",
		Long: `Show the recommended setting of a journal, or of a running tuner: every variable with its
value, and whether the setting sets it, holds it, or leaves it to vary; and the command that
measures it again (tuner try).

With --risk it is the setting that would be recommended if risk were another, by what is on
record. With --front it is all settings that were tried of which no other is both higher and
steadier, by the model, with its uncertainty. Both need to know how the noise depends on the
setting: where the run did not learn that it is learnt now, from the shots of its steps.

With --sensors it is the settings that were measured of which no other is better by both of
two sensors, with standard errors. Say which way is better: energy:max,temperature:min. "objective" stands for the objective of a shot. All shots of one setting count together.
The model is rebuilt from all steps on record, which takes a while for a long run.`,
		Args: oneFile("a journal, a configuration file or the name of a run"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeRuns(e)(cmd, args, begun) // the shell completes a file as well
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			b.risked = cmd.Flags().Changed("risk")
			if err := b.check(); err != nil {
				return fault.Usage(err)
			}
			return b.show(cmd.Context(), e, args[0])
		},
	}
	cmd.Flags().Float64Var(&b.risk, "risk", 0, "as if [policy] risk were this")
	cmd.Flags().BoolVar(&b.front, "front", false, "all settings of which none is both higher and steadier, by the model")
	cmd.Flags().StringVar(&b.sensors, "sensors", "", "the settings of which none is better by both of two sensors, as in a:max,b:min")
	cmd.Flags().StringVar(&b.folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	cmd.Flags().BoolVar(&b.asJSON, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&b.asCSV, "csv", false, "print a CSV table")
	cmd.Flags().BoolVar(&b.asCommand, "try", false, "print the command that measures it again, alone")
	return cmd
}

// check refuses flags that do not go together.
func (b *bestFlags) check() error {
	count := func(flags ...bool) (n int) {
		for _, f := range flags {
			if f {
				n++
			}
		}
		return n
	}
	switch {
	case count(b.asJSON, b.asCSV, b.asCommand) > 1:
		return errors.New("--json, --csv and --try exclude each other")
	case count(b.risked, b.front, b.sensors != "") > 1:
		return errors.New("--risk, --front and --sensors exclude each other")
	case b.asCommand && (b.front || b.sensors != ""):
		return errors.New("--try is for one setting: --json has the command of each setting of a front")
	case !(b.risk >= 0) || b.risk-b.risk != 0:
		return fmt.Errorf("--risk is %g; it is a number that is not negative, in 1/(the objective's unit)", b.risk)
	}
	return nil
}

// show finds what was asked for and prints it.
func (b *bestFlags) show(ctx context.Context, e *host.Env, argument string) error {
	path := argument
	if !isJournal(argument) {
		q := ask.Question{Env: e, Command: control.CommandStatus}
		if err := q.Find(ctx, argument); err != nil {
			return err
		}
		if !b.risked && !b.front && b.sensors == "" {
			s, err := q.State(ctx)
			if err != nil {
				return err
			}
			found, err := outcome.BestOfStatus(s)
			if err != nil {
				return err
			}
			return b.print(e, found)
		}
		if q.Run == nil {
			return fault.Usage(fault.WithHint(fmt.Errorf("the run of %s is on another computer, and so is its journal", argument), "ask there, or copy the journal and name that"))
		}
		path = q.Run.Identity.Journal
	}
	return b.ofJournal(ctx, e, path)
}

// isJournal says that an argument names a journal, and not a configuration or a run.
func isJournal(argument string) bool {
	ext := filepath.Ext(argument)
	info, err := os.Stat(argument)
	return ext == ".db" || err == nil && !info.IsDir() && ext != ".toml"
}

func (b *bestFlags) ofJournal(ctx context.Context, e *host.Env, path string) (err error) {
	r, err := outcome.OpenRecorded(e, path, b.folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o := &r.Setup.Options
	if b.sensors != "" {
		both, err := outcome.Quantities(o, strings.Split(b.sensors, ","))
		if err != nil {
			return fault.Usage(fmt.Errorf("--sensors: %w", err))
		}
		struck, err := r.Reader.Struck()
		if err != nil {
			return err
		}
		f, err := front.OfSensors(o, r.Reader, both[0], both[1], func(s journal.Step) bool { _, out := struck[s.Decision.Step]; return !out })
		if err != nil {
			return err
		}
		return b.printFront(e, outcome.FrontOf(r, f, false), len(o.Constraints) > 0)
	}
	if b.front {
		f, fitted, err := r.Front(ctx)
		if err != nil {
			return b.hint(err)
		}
		return b.printFront(e, outcome.FrontOf(r, f, fitted), len(o.Constraints) > 0)
	}
	var risk *float64
	if b.risked {
		risk = &b.risk
	}
	found, err := r.Best(ctx, risk)
	if err != nil {
		return b.hint(err)
	}
	return b.print(e, found)
}

// hint says what helps where the record has no noise.
func (b *bestFlags) hint(err error) error {
	if errors.Is(err, policy.ErrNoNoise) {
		return fault.WithHint(err, "shots = 2 or more in [objective], or tuner try NAME ... --shots 5 --times 2")
	}
	return err
}

func (b *bestFlags) print(e *host.Env, found *outcome.Best) error {
	switch {
	case b.asJSON:
		return found.WriteJSON(e.Stdout)
	case b.asCSV:
		return found.WriteCSV(e.Stdout)
	case b.asCommand && found.Try == "":
		return errors.New("the recommended setting sets nothing: there is nothing to try")
	case b.asCommand:
		_, err := fmt.Fprintln(e.Stdout, found.Try)
		return err
	}
	return e.Print(found.WriteText)
}

func (b *bestFlags) printFront(e *host.Env, d *outcome.FrontDocument, constrained bool) error {
	switch {
	case b.asJSON:
		return d.WriteJSON(e.Stdout)
	case b.asCSV:
		return d.WriteCSV(e.Stdout)
	}
	return e.Print(func(w io.Writer) error { return d.WriteText(w, constrained) })
}
