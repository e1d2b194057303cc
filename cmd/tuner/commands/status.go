package commands

import (
	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/control"
)

func newStatusCommand(e *host.Env) *cobra.Command {
	q := ask.Question{Env: e, Command: control.CommandStatus}
	cmd := &cobra.Command{
		Use: "status CONFIG|NAME", Short: "Show how a running tuner stands",
		Long: `Show how a running tuner stands: whether it is there, what it does, why it holds, what it
has found. Through a broker that needs no right to command.` + askWords,
		Args: oneFile(askArgument), ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Find(cmd.Context(), args[0]); err != nil {
				return err
			}
			return q.Status(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&q.JSON, "json", false, "print one JSON document")
	return cmd
}
