package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/control"
)

func newStatusCommand(e *host.Env) *cobra.Command {
	q := ask.Question{Env: e, Command: control.CommandStatus}
	cmd := &cobra.Command{
		Use: "status [CONFIG|NAME]", Short: "Show how a running tuner stands, or list all of this computer",
		Long: `Without an argument: list the runs of this computer that you may reach, one line each.

With one: show how a running tuner stands: whether it is there, what it does, why it holds,
what it has found, and where a stop and an end would bring each actuator. Through a broker
that needs no right to command.` + strings.Replace(askWords, "Without an argument it is the run of this computer, where there is one only.\n\n", "", 1),
		Args: optionalRun, ValidArgsFunction: completeRuns(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ask.ListRuns(cmd.Context(), e, q.JSON)
			}
			if err := q.Find(cmd.Context(), args[0]); err != nil {
				return err
			}
			return q.Status(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&q.JSON, "json", false, "print one JSON document")
	return cmd
}
