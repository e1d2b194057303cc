package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/trace"
)

func newReplayCommand(e *env) *cobra.Command {
	var until int
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Derive every decision and every safety verdict of a run anew",
		Long: `Derive every decision of a run anew, from the configuration and the observations that
its journal holds, and compare each with the recorded one to the last bit: control set,
setting, what the bounds made of it, work units. The first difference is told, and is
exit code 1. Where the file was changed between two sessions of the run, each is derived
by its own.

Then derive every verdict of the safety layer anew, tick by tick, from the readings and
the proposals that it was given, by the limits of its session: mode, causes, setpoints and
the rules that acted, to the last bit. A journal of an older version has none.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if until < 0 {
				return usageError{fmt.Errorf("--until is %d; it is a step, counted from 1", until)}
			}
			r, err := e.openJournal(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			replay, err := replayOf(r, folder, e.executable)
			if err != nil {
				return err
			}
			tell := newNarrator(e.stderr, e.style())
			defer tell.close()
			replay.Until, replay.Step = until, func(n int) { tell.show(fmt.Sprintf("step %d", n)) }
			var done replayed
			if done.Replayed, err = replay.Run(cmd.Context(), r); err == nil {
				done.Verdicts, err = trace.Replay(r.Tapes(), until)
			}
			tell.close()
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

// replayOf prepares the replay of a journal, by the configurations that it holds.
func replayOf(r *journal.Reader, folder, executable string) (*replay.Decisions, error) {
	all, err := r.Configurations()
	if err != nil {
		return nil, err
	}
	earlier, err := r.Warm()
	if err != nil {
		return nil, err
	}
	replay := &replay.Decisions{Changed: map[int]func() (plan.Options, policy.Policy, error){}}
	for i, c := range all {
		run := r.Run()
		run.ConfigFile, run.ConfigText = c.File, c.Text
		remake := func() (o plan.Options, p policy.Policy, err error) {
			w, err := wireRun(run, folder, executable)
			if err != nil {
				return o, nil, fmt.Errorf("the configuration of session %d: %w", c.Session, err)
			}
			p, err = w.newPolicy(earlier)
			return w.opt, p, err
		}
		if i > 0 {
			replay.Changed[c.Session] = remake
		} else if replay.Options, replay.Policy, err = remake(); err != nil {
			return nil, err
		}
	}
	return replay, nil
}

// wireRun wires the configuration that a journal holds, in the mode of its run.
func wireRun(run journal.Run, folder, executable string) (*wiring, error) {
	if len(run.ConfigText) == 0 {
		return nil, errors.New("the journal holds no configuration, so there is nothing to derive its decisions from")
	}
	file := run.ConfigFile
	if folder != "" {
		file = filepath.Join(folder, filepath.Base(file))
	}
	cfg, err := configs.Parse(file, run.ConfigText, knownPolicies())
	w, err := wire(cfg, err, executable)
	if err != nil {
		return nil, err
	}
	w.opt.Mode = plan.Mode(run.Mode)
	return w, nil
}

// replayed is what came of a replay.
type replayed struct {
	replay.Replayed
	Verdicts trace.Verdicts `json:"verdicts"`
}

// tellReplay prints what came of a replay; a difference is an error.
func tellReplay(e *env, run journal.Run, done replayed, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(e.stdout).Encode(struct {
			Type string `json:"type"`
			Run  string `json:"run"`
			replayed
		}{"replay", run.ID, done}); err != nil {
			return err
		}
	}
	hint := "a journal of another kind of processor, or a changed file beside the configuration, would explain it; a bug report with the journal is welcome"
	if v := buildVersion(); v != run.Version {
		hint = fmt.Sprintf("it was recorded by version %s, and this is %s: replay it with that one", run.Version, v)
	}
	d := done.First
	if v := done.Verdicts.First; d == nil && v != nil {
		return withHint(fmt.Errorf("tick %d of session %d of the safety layer differs, %s after its beginning and after %d that agree: %s was %s, and is now %s",
			v.Tick, v.Session, duration(v.At), done.Verdicts.Ticks, v.What, v.Recorded, v.Derived), hint)
	}
	if d == nil {
		if asJSON {
			return nil
		}
		compared := ""
		if done.Compared > 0 {
			compared = fmt.Sprintf("\nso does the comparison with the starting setting, in %s", count(done.Compared, "step"))
		}
		if v := done.Verdicts; v.Sessions > 0 {
			compared += fmt.Sprintf("\nso do %s of the safety layer, in %s", count(v.Ticks, "verdict"), count(v.Sessions, "session"))
		}
		_, err := fmt.Fprintf(e.stdout, "%s: %d decisions derive as they were recorded, to the last bit%s\n", run.Name, done.Steps, compared)
		return err
	}
	return withHint(fmt.Errorf("step %d differs, after %d that agree: the %s was %s, and is now %s", d.Step, done.Steps, d.What, d.Recorded, d.Derived), hint)
}
