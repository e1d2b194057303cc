package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/loop/worker"
)

// execTest is what the flags of exec-test say.
type execTest struct {
	options exec.Options
	moving  bool
	asJSON  bool
}

func newExecTestCommand(e *host.Env) *cobra.Command {
	t := execTest{options: exec.Default()}
	cmd := &cobra.Command{
		Use:   "exec-test [flags] COMMAND [ARGUMENT]...",
		Short: "Check that a program speaks tuner-exec/1",
		Long: `Start a program as a device of driver "exec" does, several times, and check that
it conforms to tuner-exec/1: hello, unknown operations and channels, readings and how
long they take, safe twice, the end of its input between and inside lines, a line that
is too long or no JSON, and the signal TERM.

The outputs are brought to safe; nothing else is moved. With --write each output is
also set to its safe value, and released where it can be.

It fails (exit code 1) where a check does. Warnings are for what the protocol allows
and an instrument should not do.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Usage(fault.WithHint(errors.New("tuner exec-test takes a command, and got none"), cmd.UseLine()))
			}
			t.options.Command, t.options.Executable = args, e.Executable
			return t.run(cmd, e)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command belongs to it
	flags.BoolVar(&t.moving, "write", false, "also write each output's safe value, and release it")
	flags.DurationVar(&t.options.StartTimeout, "start-timeout", t.options.StartTimeout, "longest wait for the hello")
	flags.DurationVar(&t.options.ReplyTimeout, "reply-timeout", t.options.ReplyTimeout, "longest wait for an answer")
	flags.DurationVar(&t.options.ExitTimeout, "exit-timeout", t.options.ExitTimeout, "how long the program may take to go safe and exit")
	flags.BoolVar(&t.asJSON, "json", false, "print one JSON document a line: a check each, then the result")
	return cmd
}

// run examines the command and tells of every check as it is done.
func (t *execTest) run(cmd *cobra.Command, e *host.Env) error {
	env := drivers.Env{Clock: worker.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	if e.Level == show.Verbose {
		tell := show.NewNarrator(e.Stderr, show.Style{})
		defer tell.Close()
		env.Log = show.NewLog(tell)
	}
	counts := map[exec.Verdict]int{}
	var writing error
	show := showCheck
	if t.asJSON {
		show = showCheckJSON
	}
	ok, err := exec.Examine(cmd.Context(), t.options, env, t.moving, func(c exec.Check) {
		counts[c.Verdict]++
		writing = errors.Join(writing, show(e.Stdout, c))
	})
	if err = errors.Join(err, writing); err != nil {
		return err
	}
	if t.asJSON {
		err = json.NewEncoder(e.Stdout).Encode(map[string]any{"type": "exec-test", "conforms": ok,
			"passed": counts[exec.Passed], "warnings": counts[exec.Warning], "failed": counts[exec.Failed], "skipped": counts[exec.Skipped]})
	} else {
		_, err = fmt.Fprintf(e.Stdout, "%d checks passed, %d warnings, %d failed, %d skipped\n",
			counts[exec.Passed], counts[exec.Warning], counts[exec.Failed], counts[exec.Skipped])
	}
	if err != nil {
		return err
	}
	if !ok {
		return fault.WithHint(fmt.Errorf("%q does not conform to %s: %d checks failed", strings.Join(t.options.Command, " "), exec.Protocol, counts[exec.Failed]),
			"mend the first failure first; the others may follow from it")
	}
	return nil
}

// showCheck prints one check, with its hint on a line of its own.
func showCheck(w io.Writer, c exec.Check) error {
	line := fmt.Sprintf("%-8s %s", c.Verdict, c.Name)
	if c.Detail != "" {
		line += ": " + c.Detail
	}
	if c.Hint != "" {
		line += "\n         hint: " + c.Hint
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

func showCheckJSON(w io.Writer, c exec.Check) error {
	return json.NewEncoder(w).Encode(map[string]string{"type": "check", "check": c.Name, "verdict": string(c.Verdict), "detail": c.Detail, "hint": c.Hint})
}
