package commands

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/makesafe"
	"github.com/labtuner/tuner/cmd/tuner/show"
)

func newMakeSafeCommand(e *host.Env) *cobra.Command {
	var all, after bool
	cmd := &cobra.Command{
		Use:   "make-safe CONFIG|NAME",
		Short: "Bring every actuator to its safe value, now",
		Long: `Bring every actuator to its safe value and confirm it, whatever on_fault says.

A run on this computer that answers by its socket does it: that is tuner stop. Where none
does, and a file is named, make-safe does it within five seconds by a path of its own: no
policy, no journal, no loop. It may be repeated.

With --after-service it is meant for ExecStopPost= of a systemd service, where it runs
however the service ended: it asks no run, and brings every actuator to its on_fault state
(safe, off, or hold, which leaves it; with --all, to its safe value). It first looks at what systemd tells ExecStopPost= of the service's
end ($SERVICE_RESULT, $EXIT_CODE, $EXIT_STATUS). Where tuner run has ended by itself
and confirmed where its actuators are (exit code 0 or 130) it says so and leaves them
in their shutdown states; after any other end it does its work.

What it says has been read back from the instrument, within the tolerance of the file's
readback; a value that does not come is written again every second.

Where the file is broken or gone, the copy is used that the last run of it has left
beside its control state; it says so, and what is wrong with the file as well. Where the
file leaves its safe values to a device and there is no such copy, the device is asked what it is
first, which takes up to five seconds more.

It reads the control state and locks nothing, so a tuner that hangs does not keep it
from its work. A serial port that such a one holds cannot be opened.

Exit code 0: every device confirmed; 7: one did not, within the five seconds; 3: the
file cannot be used, and no run has left a copy.`,
		Args:              oneFile(askArgument),
		ValidArgsFunction: completeRuns(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			if after && makesafe.EndedSafely(e.Lookup) {
				_, err := fmt.Fprintln(e.Stdout, "the service has brought its actuators to rest and confirmed it: nothing to do")
				return err
			}
			if !after {
				done, err := ask.MakeSafe(cmd.Context(), e, args[0])
				switch {
				case done, !ask.IsFile(args[0]):
					return err
				case err != nil:
					fmt.Fprintf(e.Stderr, "tuner: warning: the run does not do it: %s\n", show.Printable(err.Error()))
				}
			}
			// A signal does not cut it short: that is what it is there for.
			ctx := context.WithoutCancel(cmd.Context())
			w, err := makesafe.Load(ctx, e, args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, e.Patience(makesafe.Time-makesafe.Grace))
			defer cancel()
			return makesafe.All(ctx, w, all || !after, e.Stdout)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "with --after-service: every actuator to its safe value")
	cmd.Flags().BoolVar(&after, "after-service", false, "do nothing where systemd says that tuner run has ended and confirmed its actuators")
	return cmd
}
