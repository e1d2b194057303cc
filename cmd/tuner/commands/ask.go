package commands

import (
	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/control"
)

// newAskCommands returns pause, resume, stop, set-best and end.
func newAskCommands(e *host.Env) []*cobra.Command {
	texts := [][3]string{
		{control.CommandPause, "Hold a running tuner where it is",
			"Every actuator stays where it is until tuner resume."},
		{control.CommandResume, "Let a running tuner go on",
			"Go on after a pause, a hold, a fallback or a reset, when conditions are good. Where they are\nnot, it says which interlock or sensor is the reason, and nothing changes."},
		{control.CommandStop, "Make safe: stop a running tuner at once",
			"Every actuator goes to its safe value now, before anything that waits and whatever\non_fault and shutdown say, and the run ends. It stays latched: tuner reset CONFIG comes\nbefore the next run. tuner end is the quiet way out."},
		{control.CommandSetBest, "End the search at the best setting",
			"End the search of a running tuner as a stop condition does: at the recommended\nsetting."},
		{control.CommandEnd, "End a running tuner quietly",
			"End a running tuner now: each actuator goes to its shutdown state (hold, the default,\nleaves it where it is), and the run is over. Nothing is latched. The answer says where\neach comes to be; tuner status says it before. tuner stop makes safe instead."},
	}
	var list []*cobra.Command
	for _, t := range texts {
		list = append(list, newAskCommand(e, t[0], t[1], t[2]))
	}
	return list
}

const askWords = `

Without an argument it is the run of this computer, where there is one only.

A run on this computer is reached by its socket, which takes commands from its user and
root, and from whom [socket] of its file names; it may also be named by its name, without
a file. A run elsewhere is reached through the broker of the file's [mqtt], with the same
login; the command is signed where the file has command_keys_file.

Exit codes: 0 the tuner has done it, 1 it has refused, 3 the file, 5 no tuner, no broker
or no answer.`

// askArgument is what names a run on the command line.
const askArgument = "a configuration file or the name of a run"

func newAskCommand(e *host.Env, name, short, long string) *cobra.Command {
	q := ask.Question{Env: e, Command: name}
	cmd := &cobra.Command{
		Use: name + " [CONFIG|NAME]", Short: short, Long: long + askWords,
		Args: optionalRun, ValidArgsFunction: completeRuns(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Find(cmd.Context(), append(args, "")[0]); err != nil {
				return err
			}
			return q.Ask(cmd.Context())
		},
	}
	askFlags(&q, cmd)
	cmd.Flags().StringVar(&q.Reason, "reason", "", "why, for the record")
	return cmd
}

func askFlags(q *ask.Question, cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.Key, "key", "", "name of the key to sign with (default: the first of the file)")
	cmd.Flags().BoolVar(&q.JSON, "json", false, "print the answer as one JSON document")
}
