package commands

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

func newRunCommand(e *host.Env) *cobra.Command {
	var shadow, fresh, extend, asJSON bool
	var resume, format, tries string
	var warm []string
	cmd := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Tune the instrument",
		Long: `Tune the instrument until a stop condition holds. Ctrl-C and SIGTERM finish the
write in flight, bring every actuator to its declared shutdown state and say so; a
second one only says that this is under way.

A run that was interrupted, or whose process died, goes on where its journal ends:
actuators are read before they are driven, a step in flight is closed as unknown, and
the next decision is what it would have been. A file that was changed meanwhile is
taken over; the journal keeps both.

Typed on a terminal, tuner run arms and starts. A service (systemd sets
$NOTIFY_SOCKET or $INVOCATION_ID, and no terminal is there) starts by itself: then,
or wherever --resume is given, --resume decides.

  hold   read everything, write nothing, wait for resume (a service's default)
  run    begin, or go on, without an operator; at most 3 times in an hour, kept over
         crashes: the fourth comes up in hold and says so
  never  begin nothing: refused with exit code 4

With --try FILE the settings of a table are measured first, each as a step that counts in
[stop] and stands for one of the initial design; tuner try asks for more while it runs. A run
that goes on takes none of them twice.

With --shadow nothing is written: the sensors are read, proposals are recorded,
nothing is charged. A dry run ends by stop.time.

A run that has ended goes on with --extend, once a stop condition of [stop] says more than it
did: with the next step, by all that was learnt, as if it had not ended. At its new end
the recommended setting is compared with the starting one again.

The journal is [journal] path, else NAME.db in $STATE_DIRECTORY or the working
folder. A dry run keeps its own beside it, NAME.shadow.db.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.LogFormat(format); err != nil {
				return err
			}
			if fresh && extend {
				return fault.Usage(fault.WithHint(errors.New("--new and --extend contradict each other"), "--extend goes on with the run that is there, --new begins another"))
			}
			e.RunLean()
			w, err := setup.LoadAsked(cmd.Context(), args[0], e, recorded(e, shadow, fresh))
			if err != nil {
				return err
			}
			if err := refuseLongBypass(w, e.Now()); err != nil {
				return err
			}
			if resume == "" && cmd.Flags().Changed("resume") { // an unset variable of a unit must not drive
				return fault.Usage(fault.WithHint(errors.New(`--resume is ""`), "it is never, hold or run"))
			}
			if w.Options.Start, err = session.StartMode(e, resume); err != nil {
				return err
			}
			w.Options.Mode = plan.Live
			if shadow {
				w.Options.Mode = plan.Shadow
			}
			begin := session.Start{Env: e, Setup: w, JSON: asJSON, Clock: worker.RealClock{}}
			if err := firstTries(&begin, tries); err != nil {
				return err
			}
			path := runfiles.RunJournalPath(w.Config, e.StateDirectory(), shadow)
			want := runfiles.Wanted{Fresh: fresh, Extend: extend, Config: w.Config.Text, Warm: len(w.WarmFiles(warm)) > 0}
			earlier, err := session.WarmFor(w, path, want, warm)
			if err != nil {
				return err
			}
			there, err := runfiles.PrepareRunJournal(path, want, e.Now())
			if err != nil {
				return err
			}
			begin.Path, begin.Resume, begin.Extend, begin.Warm = path, there.Resume, extend, earlier
			if there.Done != "" {
				begin.Remarks = append(begin.Remarks, there.Done)
			}
			return session.Play(cmd.Context(), begin)
		},
	}
	cmd.Flags().BoolVar(&shadow, "shadow", false, "dry run: read the sensors, write nothing")
	cmd.Flags().BoolVar(&fresh, "new", false, "move an existing journal aside and begin a new run")
	cmd.Flags().BoolVar(&extend, "extend", false, "go on with a run that has ended, once its [stop] says more")
	cmd.Flags().StringVar(&resume, "resume", "", "what an automatic start does: never, hold or run (default hold for a service)")
	cmd.Flags().StringArrayVar(&warm, "warm-start", nil, "a journal or CSV table of earlier observations, beside model.warm_start; may be repeated")
	cmd.Flags().StringVar(&tries, "try", "", "settings of your own to measure first, from a CSV table, a column a variable and a row a step")
	cmd.Flags().StringVar(&format, "log-format", "text", "narration on stderr as text or json, a line each with the run and the step")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON per step, and one for the result")
	return cmd
}

// recorded gives the text that the run in the journal of a configuration goes by, nil where there is
// none to go on with.
func recorded(e *host.Env, shadow, fresh bool) func(*configs.Config) []byte {
	return func(cfg *configs.Config) []byte {
		path := runfiles.RunJournalPath(cfg, e.StateDirectory(), shadow)
		if _, err := os.Stat(path); fresh || err != nil {
			return nil
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			return nil // which is told when the run begins
		}
		defer r.Close() //nolint:errcheck // it was only read
		return r.Run().ConfigText
	}
}

// refuseLongBypass refuses a bypass that ends later than one may last: each start of a
// process would give it that time anew.
func refuseLongBypass(w *setup.Setup, now time.Time) error {
	var problems []configs.Problem
	for i, b := range w.Config.Safety.Bypasses {
		if left := b.Until.Sub(now); left > plan.BypassMax {
			problems = append(problems, w.Config.Problem(fmt.Sprintf("safety.bypass.%d.until", i+1),
				fmt.Sprintf("%s is %s away, a bypass lasts %s at most: every restart would begin it again", b.Until.Format(time.RFC3339), show.Duration(left.Round(time.Minute)), show.Duration(plan.BypassMax)),
				"write an end within that time, when the work begins"))
		}
	}
	return configs.NewError(problems...)
}
