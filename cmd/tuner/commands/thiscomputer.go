package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/drivers/exec/thiscomputer"
	"github.com/labtuner/tuner/loop/worker"
)

func newThisComputerCommand(e *host.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "thiscomputer",
		Short:  "Be the instrument of the sample thiscomputer, as a child of tuner run",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tell := show.NewNarrator(e.Stderr, show.Style{})
			defer tell.Close()
			dev := thiscomputer.New(drivers.Env{Clock: worker.RealClock{}, Log: show.NewLog(tell)})
			err := exec.Serve(cmd.Context(), e.Stdin, e.Stdout, "thiscomputer", dev)
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
}
