// Package reset is tuner reset where no run goes on: it clears what a run's control state has
// latched.
//
// [Clear] opens the control state beside a journal, says what was latched and why, clears it,
// and notes a reservoir that was refilled or budgets that begin anew. Where the control state
// was lost with doses in it, what was dosed is taken from the journal.
package reset

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/local"
)

// Request is what a reset is asked to do.
type Request struct {
	Setup *setup.Setup
	// journal is the run's, beside which the control state lies.
	Journal  string
	Refilled []string
	Anew     bool
}

// Clear clears the control state and says what it cleared.
func Clear(e *host.Env, r Request) (err error) {
	path := runfiles.ControlPath(r.Journal)
	c, err := controlstate.Open(path, disk.Holder{Since: e.Now()})
	if c == nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err == nil {
		err = runfiles.LostControl(c, r.Journal, len(r.Setup.Options.Safety.Doses) > 0)
	}
	state, cleared := c.State(), "nothing: a reservoir was refilled"
	switch {
	case errors.Is(err, controlstate.ErrLost):
		cleared = err.Error()
		fmt.Fprintf(e.Stderr, "tuner: warning: %v\n", err)
		if err = recallDoses(e, r, &state); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		held, others := guard.Latched(state), 0
		if others, err = resetOthers(e, path, r.Setup.Instrument()); err != nil {
			return err
		}
		if held == nil {
			if others == 0 {
				fmt.Fprintln(e.Stdout, "nothing is latched"+absentControl(path))
			}
			if len(r.Refilled) == 0 {
				return nil
			}
			break
		}
		cleared = latchedWords(held)
		fmt.Fprintf(e.Stdout, "cleared: %s\n", cleared)
	}
	state = resetState(e, state, cleared)
	refill(e, r, &state)
	return c.Write(state)
}

// latchedWords say what is latched.
func latchedWords(held error) string {
	return strings.TrimPrefix(held.Error(), guard.ErrLatched.Error()+": ")
}

// resetState is a control state after a reset, which the next journal is to record. The safety layer's time goes on from here, so
// that no dose grows old by it.
func resetState(e *host.Env, state controlstate.State, cleared string) controlstate.State {
	machine := host.ThisMachine()
	state.Resets = append(state.Resets, controlstate.Reset{Wall: e.Now().Round(0).UTC(), By: local.Person(os.Getuid(), os.Getpid()), Cleared: cleared})
	state.Resets = state.Resets[max(len(state.Resets)-controlstate.ResetsMax, 0):]
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
	fmt.Fprintf(e.Stdout, "cleared of the run %q (%s): %s\n", state.Instrument.Name, path, latchedWords(held))
	return c.Write(resetState(e, state, latchedWords(held)))
}

// Folder is the state folder that a reset of a configuration is about.
func Folder(e *host.Env, file string) string {
	if dir := e.StateDirectory(); dir != "" {
		return dir
	}
	return runfiles.ServiceState(file, runfiles.UnitConfigs, runfiles.UnitStates)
}

// Elsewhere says that nothing of a run is here: neither its control state nor its journal.
func (r *Request) Elsewhere() bool {
	_, err := os.Lstat(r.Journal)
	return err != nil && !controlstate.Has(runfiles.ControlPath(r.Journal))
}

// absentControl says where a control state was looked for in vain, "" where it is.
func absentControl(path string) string {
	if controlstate.Has(path) {
		return ""
	}
	return ": there is no " + path + "-a"
}

// IsLocked says that another process has a file.
func IsLocked(err error) bool { return errors.Is(err, disk.ErrLocked) }
