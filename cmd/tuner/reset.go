package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/spf13/cobra"
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
until --doses-anew says that they are to begin anew.`,
		Args:              oneFile(askArgument),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(refilled) == 0 && !anew {
				// What keeps a run from being found is told by what follows, of a file.
				q := question{env: e, command: control.CommandReset}
				err := q.find(cmd.Context(), args[0])
				if q.run != nil && q.run.Identity.Mode == plan.Live {
					return q.ask(cmd.Context())
				}
				if err != nil && !isFile(args[0]) {
					return err
				}
			}
			w, err := setup.Load(args[0], e)
			if err != nil {
				return err
			}
			if err := haveReservoirs(w, refilled); err != nil {
				return err
			}
			r := resetting{w: w, journal: runfiles.RunJournalPath(w.Config, resetFolder(e, args[0]), false), refilled: refilled, anew: anew}
			if w.Config.MQTT != nil && len(refilled) == 0 && r.elsewhere() && !runfiles.OthersLatched(e, runfiles.ControlPath(r.journal), w.Instrument()) {
				where := fmt.Sprintf("there is no control state here (%s-a), so the running tuner was asked; where none runs, reset it on the computer and in the folder of its journal", runfiles.ControlPath(r.journal))
				return fault.WithHint(resetRunning(e, cmd.Context(), w.Config, nil), where)
			}
			err = clearLatches(e, r)
			if isLocked(err) && len(refilled) == 0 {
				return resetRunning(e, cmd.Context(), w.Config, err)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&refilled, "refilled", nil, "a variable whose reservoir is full again; may be repeated")
	cmd.Flags().BoolVar(&anew, "doses-anew", false, "begin the budgets of doses anew where what was dosed is lost")
	return cmd
}

// resetting is what a reset is asked to do.
type resetting struct {
	w *setup.Setup
	// journal is the run's, beside which the control state lies.
	journal  string
	refilled []string
	anew     bool
}

// reset clears the control state and says what it cleared.
func clearLatches(e *host.Env, r resetting) (err error) {
	path := runfiles.ControlPath(r.journal)
	c, err := controlstate.Open(path, disk.Holder{Since: e.Now()})
	if c == nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err == nil {
		err = runfiles.LostControl(c, r.journal, len(r.w.Options.Safety.Doses) > 0)
	}
	state := c.State()
	switch {
	case errors.Is(err, controlstate.ErrLost):
		fmt.Fprintf(e.Stderr, "tuner: warning: %v\n", err)
		if err = recallDoses(e, r, &state); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		held, others := guard.Latched(state), 0
		if others, err = resetOthers(e, path, r.w.Instrument()); err != nil {
			return err
		}
		if held == nil {
			if others == 0 {
				fmt.Fprintln(e.Stdout, "nothing is latched"+absentControl(path))
			}
			if len(r.refilled) == 0 {
				return nil
			}
			break
		}
		fmt.Fprintf(e.Stdout, "cleared: %s\n", strings.TrimPrefix(held.Error(), guard.ErrLatched.Error()+": "))
	}
	state = resetState(e, state)
	refill(e, r, &state)
	return c.Write(state)
}

// resetState is a control state after a reset. The safety layer's time goes on from here, so
// that no dose grows old by it.
func resetState(e *host.Env, state controlstate.State) controlstate.State {
	machine := host.ThisMachine()
	state.At += guard.Away(machine, state)
	state.Wall, state.BootID, state.Uptime = e.Now().Round(0).UTC(), machine.BootID, machine.Uptime()
	return guard.Reset(state)
}

// resetOthers clears what other runs of the same instrument have latched, and says so.
func resetOthers(e *host.Env, own string, of controlstate.Instrument) (cleared int, err error) {
	for _, s := range runfiles.Siblings(e, own, of) {
		if s.State.Instrument.Config == "" || guard.Latched(s.State) == nil {
			continue
		}
		more := resetOther(e, s.Path)
		if err = errors.Join(err, more); more == nil {
			cleared++
		}
	}
	return cleared, err
}

func resetOther(e *host.Env, path string) (err error) {
	c, err := controlstate.Open(path, disk.Holder{Since: e.Now()})
	if err != nil {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	state := c.State()
	held := guard.Latched(state)
	if held == nil {
		return nil
	}
	fmt.Fprintf(e.Stdout, "cleared of the run %q (%s): %s\n", state.Instrument.Name, path, strings.TrimPrefix(held.Error(), guard.ErrLatched.Error()+": "))
	return c.Write(resetState(e, state))
}

// resetFolder is the state folder that a reset of a configuration is about.
func resetFolder(e *host.Env, file string) string {
	if dir := e.StateDirectory(); dir != "" {
		return dir
	}
	return runfiles.ServiceState(file, runfiles.UnitConfigs, runfiles.UnitStates)
}

// elsewhere says that nothing of a run is here: neither its control state nor its journal.
func (r *resetting) elsewhere() bool {
	_, err := os.Lstat(r.journal)
	return err != nil && !controlstate.Has(runfiles.ControlPath(r.journal))
}

// absentControl says where a control state was looked for in vain, "" where it is.
func absentControl(path string) string {
	if controlstate.Has(path) {
		return ""
	}
	return ": there is no " + path + "-a"
}
