package commands

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
)

func newDoctorCommand(e *host.Env) *cobra.Command {
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [CONFIG]",
		Short: "Look at this computer: ports, brokers, disk, clock",
		Long: `Say what a run would meet on this computer: the serial ports and whether this user
may use them, the folder of the journal (does it survive a power cut, how long does a
durable write take, is there room), the clock, and, for a configuration, whether its
brokers are reached and its serial ports are there.

Nothing is moved and no port is opened: opening a port resets some instruments.
tuner check --probe CONFIG reads the instruments themselves. Exit code 1 says that
something is wrong.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return oneFile("a configuration file")(cmd, args)
		},
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var w *setup.Setup
			if len(args) == 1 {
				var err error
				w, err = setup.Load(args[0], e)
				if asks, left := errors.AsType[*setup.Unasked](err); left { // where its devices are stands in the file
					w, err = &setup.Setup{Config: asks.Config, Devices: asks.Devices}, nil
				}
				if err != nil {
					return err
				}
			}
			return examine.Print(e.Stdout, examine.Computer(cmd.Context(), w, folder), asJSON)
		},
	}
	cmd.Flags().StringVar(&folder, "journal", ".", "folder of the journal")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document a line")
	return cmd
}
