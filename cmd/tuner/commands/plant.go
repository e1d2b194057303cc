package commands

import (
	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/serve"
)

func newPlantCommand(e *host.Env) *cobra.Command {
	var device, faults string
	var probe bool
	cmd := &cobra.Command{
		Use:   "plant CONFIG",
		Short: "Serve the simulated plant as an instrument",
		Long: `Serve the simulated plant of a configuration as if it were the instrument, each
device under its own driver: serial devices on a pseudo-terminal that port becomes a
link to, mqtt devices on their topics at their broker, an exec device on stdin and
stdout, so that

  command = ["tuner", "plant", "my.toml", "--device", "laboratory"]

makes it a child of tuner run. It ends with Ctrl-C, and as a child with its input.

With --faults PIPE things go wrong while it runs: each line that is written to the named
pipe, which is made if it is not there, is a fault as [plant] faults has them, without a
time or with one:

  echo stuck:energy+30s > PIPE
  echo garbage:laser+5s > PIPE`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := loadProbed(cmd.Context(), args[0], e, probe)
			if err != nil {
				return err
			}
			served, err := serve.Pick(w, device)
			if err != nil {
				return err
			}
			return serve.Plant(cmd.Context(), e, w, serve.Asked{Devices: served, Faults: faults})
		},
	}
	probeFlag(cmd, &probe)
	cmd.Flags().StringVar(&device, "device", "", "serve this device only")
	cmd.Flags().StringVar(&faults, "faults", "", "take faults from this named pipe while it runs")
	return cmd
}
