package commands

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/trace"
)

func newReplayCommand(e *host.Env) *cobra.Command {
	var until int
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Derive every decision and every safety verdict of a run again",
		Long: `Derive every decision of a run again, from the configuration and the observations that
its journal holds, and compare each with the recorded one to the last bit: control set,
setting, what the bounds made of it, work units. The first difference is printed, and is
exit code 1. Where the file was changed between two sessions of the run, each is derived
by its own.

Derive what each step came to from its shots, and what was spent from the prices; the way
that variables were moved is not on record, so where that is paid the cost is taken as it is.

Then derive every verdict of the safety layer again, tick by tick, from the readings and
the proposals that it was given, by the limits of its session: mode, causes, setpoints and
the rules that acted, to the last bit. A journal of an older version has none.

The decisions of a version that decides otherwise are taken as they were recorded, and
told: they are no difference, and everything else is derived.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if until < 0 {
				return fault.Usage(fmt.Errorf("--until is %d; it is a step, counted from 1", until))
			}
			r, err := runfiles.OpenJournal(e, args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			replay, err := setup.Decisions(r, folder, e)
			if err != nil {
				return err
			}
			tell := show.NewNarrator(e.Stderr, e.Style())
			defer tell.Close()
			status, err := r.Status()
			if err != nil {
				return err
			}
			last := status.Steps
			if until > 0 {
				last = min(until, last)
			}
			replay.Until, replay.Step = until, func(n int) { tell.Show(show.Counted(fmt.Sprintf("step %d/%d", n, last), n, last)) }
			var done replayed
			if done.Replayed, err = replay.Run(cmd.Context(), r); err == nil {
				done.Verdicts, err = trace.Replay(r.Tapes(), until)
			}
			tell.Close()
			if err != nil {
				return err
			}
			return tellReplay(e, r.Run(), done, asJSON)
		},
	}
	cmd.Flags().IntVar(&until, "until", 0, "the last step to derive (default all)")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// replayed is what came of a replay.
type replayed struct {
	replay.Replayed
	Verdicts trace.Verdicts `json:"verdicts"`
}

// tellReplay prints what came of a replay; a difference is an error.
func tellReplay(e *host.Env, run journal.Run, done replayed, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(e.Stdout).Encode(struct {
			Type string `json:"type"`
			Run  string `json:"run"`
			replayed
		}{"replay", run.ID, done}); err != nil {
			return err
		}
	}
	hint := "a journal of another kind of processor, or a changed file beside the configuration, would explain it; a bug report with the journal is welcome"
	if v := host.Version(); v != run.Version {
		hint = fmt.Sprintf("it was recorded by version %s, and this is %s: replay it with that one", run.Version, v)
	}
	d := done.First
	if v := done.Verdicts.First; d == nil && v != nil {
		return fault.WithHint(fmt.Errorf("tick %d of session %d of the safety layer differs, %s after its beginning and after %d that agree: %s was %s, and is now %s",
			v.Tick, v.Session, show.Duration(v.At), done.Verdicts.Ticks, v.What, v.Recorded, v.Derived), hint)
	}
	if d == nil {
		if asJSON {
			return nil
		}
		more := ""
		if done.Compared > 0 {
			more = fmt.Sprintf("\nso does the comparison with the starting setting, in %s", show.Count(done.Compared, "step"))
		}
		more += fmt.Sprintf("\nso do %s, and what was spent", show.Count(done.Outcomes, "outcome"))
		if v := done.Verdicts; v.Sessions > 0 {
			more += fmt.Sprintf("\nso do %s of the safety layer, in %s", show.Count(v.Ticks, "verdict"), show.Count(v.Sessions, "session"))
		}
		_, err := fmt.Fprintf(e.Stdout, "%s: %s%s\n", run.Name, done.Summary(), more)
		return err
	}
	return fault.WithHint(fmt.Errorf("step %d differs, after %d that agree: the %s was %s, and is now %s", d.Step, done.Steps, d.What, d.Recorded, d.Derived), hint)
}
