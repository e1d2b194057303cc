package commands

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/makesafe"
)

func newMakeSafeCommand(e *host.Env) *cobra.Command {
	var all, after bool
	cmd := &cobra.Command{
		Use:   "make-safe CONFIG",
		Short: "Bring the actuators to their fault states, now",
		Long: `Bring every actuator to its on_fault state (safe, off, or hold, which leaves it) and
confirm it, within five seconds, by a path of its own: no policy, no journal, no
loop. It may be repeated. It is meant for ExecStopPost= of a systemd service, where
it runs however the service ended.

With --all every actuator goes to its safe value, also those that hold.

With --after-service it first looks at what systemd tells ExecStopPost= of the service's
end ($SERVICE_RESULT, $EXIT_CODE, $EXIT_STATUS). Where tuner run has ended by itself
and confirmed where its actuators are (exit code 0 or 130) it says so and leaves them
in their shutdown states; after any other end it does its work.

What it says has been read back from the instrument, within the tolerance of the file's
readback; a value that does not come is written again every second.

Where the file is broken or gone, the copy is used that the last run of it has left
beside its control state; that is told, and what is wrong with the file as well.

It reads the control state and locks nothing, so a tuner that runs does not keep it
from its work; but a running tuner would drive on: stop that first. A serial port that
a running tuner holds cannot be opened.

Exit code 0: every device confirmed; 7: one did not, within the five seconds; 3: the
file cannot be used, and no run has left a copy.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if after && makesafe.EndedSafely(e.Lookup) {
				_, err := fmt.Fprintln(e.Stdout, "the service has brought its actuators to rest and confirmed it: nothing to do")
				return err
			}
			w, err := makesafe.Load(e, args[0])
			if err != nil {
				return err
			}
			// A signal does not cut it short: that is what it is there for.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), e.Patience(makesafe.Time-makesafe.Grace))
			defer cancel()
			return makesafe.All(ctx, w, all, e.Stdout)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "bring actuators that hold on a fault to their safe values too")
	cmd.Flags().BoolVar(&after, "after-service", false, "do nothing where systemd says that tuner run has ended and confirmed its actuators")
	return cmd
}
