package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/reset"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

func newResetCommand(e *host.Env) *cobra.Command {
	var refilled []string
	var anew bool
	cmd := &cobra.Command{
		Use:   "reset CONFIG|NAME",
		Short: "Clear what the safety layer has latched",
		Long: `Clear what the safety layer has latched, so that tuner run may begin again: a trip,
a stop, a dose whose outcome is not known (it counts as delivered). Look at the
instrument first. A reset starts nothing, and what was dosed stays booked.

While a tuner runs it is asked, by its socket or through the broker of [mqtt], and refuses
as long as the cause is there. So it is where neither its journal nor its control state is
here.

Of a service, whose file is /etc/tuner/NAME.toml, it is the state in /var/lib/tuner/NAME.

With --refilled VARIABLE the reservoir of that variable is full again; no tuner may run
then.

Where both copies of the control state are damaged, what was dosed is taken from the
journal. Where it is not there either, and the file has budgets, the reset is refused
until --doses-anew starts them again.`,
		Args:              oneFile(askArgument),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(refilled) == 0 && !anew {
				// What follows reports, of a file, why no run is found.
				q := ask.Question{Env: e, Command: control.CommandReset}
				err := q.Find(cmd.Context(), args[0])
				if q.Run != nil && q.Run.Identity.Mode == plan.Live {
					return q.Ask(cmd.Context())
				}
				if err != nil && !ask.IsFile(args[0]) {
					return err
				}
			}
			w, err := setup.LoadAsked(cmd.Context(), args[0], e, recorded(e, false, false))
			if err != nil {
				return err
			}
			if err := reset.HaveReservoirs(w, refilled); err != nil {
				return err
			}
			r := reset.Request{Setup: w, Journal: runfiles.RunJournalPath(w.Config, reset.Folder(e, args[0]), false), Refilled: refilled, Anew: anew}
			if w.Config.MQTT != nil && len(refilled) == 0 && r.Elsewhere() && !runfiles.OthersLatched(e, runfiles.ControlPath(r.Journal), w.Instrument()) {
				where := fmt.Sprintf("there is no control state here (%s-a), so the running tuner was asked; where none runs, reset it on the computer and in the folder of its journal", runfiles.ControlPath(r.Journal))
				return fault.WithHint(ask.ResetRunning(cmd.Context(), e, w.Config, nil), where)
			}
			err = reset.Clear(e, r)
			if reset.IsLocked(err) && len(refilled) == 0 {
				return ask.ResetRunning(cmd.Context(), e, w.Config, err)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&refilled, "refilled", nil, "a variable whose reservoir is full again; may be repeated")
	cmd.Flags().BoolVar(&anew, "doses-anew", false, "begin the budgets of doses again where the record of doses is lost")
	return cmd
}
