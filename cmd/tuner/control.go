package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
)

// controlPath is where the control state of a journal's instrument lies. A new
// journal does not change it: what was latched and dosed belongs to the instrument.
func controlPath(journalPath string) string {
	return strings.TrimSuffix(journalPath, filepath.Ext(journalPath)) + ".control"
}

// thisMachine tells the time since the machine's start.
func thisMachine() loop.Machine {
	return loop.Machine{BootID: bootID(), Uptime: uptime}
}

// uptime is the time since the machine's start, 0 where the kernel does not say.
func uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e9) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// openControl opens the control state and refuses to go on while something is
// latched.
func (s *session) openControl(deps *loop.Deps) error {
	var err error
	s.control, err = controlstate.Open(controlPath(s.path), disk.Holder{Since: s.clock.Now()})
	if err == nil && s.resume {
		err = lostControl(s.control, s.path, s.w)
	}
	switch {
	case errors.Is(err, controlstate.ErrLost):
		return fmt.Errorf("%w: what was latched and what was dosed is not known: %w", loop.ErrLatched, err)
	case err != nil:
		return err
	}
	for _, notice := range s.control.Notices() {
		s.tell.say("tuner: warning: %s", notice)
	}
	deps.Control, deps.Machine = s.control, thisMachine()
	if err := loop.Latched(s.control.State()); err != nil {
		return err
	}
	instrument := s.w.instrument()
	remarks, err := s.env.otherTrips(controlPath(s.path), instrument, deps.Machine)
	for _, text := range remarks {
		s.tell.say("tuner: warning: %s", text)
	}
	if err != nil {
		return err
	}
	if err := s.ownControl(instrument, deps.Machine); err != nil {
		return err
	}
	s.env.noteControl(controlPath(s.path))
	if err := keepGood(controlPath(s.path), s.w.cfg.Text); err != nil {
		s.tell.say("tuner: warning: no copy of the file is kept for make-safe: %v", err)
	}
	return nil
}

// ownControl has the control state say whose it is, before anything is driven: others look
// there.
func (s *session) ownControl(to controlstate.Instrument, machine loop.Machine) error {
	state := s.control.State()
	s.control.Belongs(to)
	if reflect.DeepEqual(state.Instrument, to) {
		return nil
	}
	if state.Generation == 0 { // time counts from here
		state.Wall, state.BootID, state.Uptime = s.clock.Now().Round(0).UTC(), machine.BootID, machine.Uptime()
	}
	return s.control.Write(state)
}

// clearUnderway has the control state say that the run has come to its end: a start that
// finds no journal then begins a new one.
func (s *session) clearUnderway() error {
	if s.control == nil || !s.control.State().Underway {
		return nil
	}
	state := s.control.State()
	state.Underway = false
	return s.control.Write(state)
}

// closeControl lets go of the control state.
func (s *session) closeControl() error {
	if s.control == nil {
		return nil
	}
	return s.control.Close()
}

func newResetCommand(e *env) *cobra.Command {
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
			w, err := loadWiring(args[0], e.executable)
			if err != nil {
				return err
			}
			if err := w.haveReservoirs(refilled); err != nil {
				return err
			}
			r := resetting{w: w, journal: runJournalPath(w.cfg, e.resetFolder(args[0]), false), refilled: refilled, anew: anew}
			if w.cfg.MQTT != nil && len(refilled) == 0 && r.elsewhere() && !e.othersLatched(controlPath(r.journal), w.instrument()) {
				where := fmt.Sprintf("there is no control state here (%s-a), so the running tuner was asked; where none runs, reset it on the computer and in the folder of its journal", controlPath(r.journal))
				return withHint(e.resetRunning(cmd.Context(), w.cfg, nil), where)
			}
			err = e.reset(r)
			if isLocked(err) && len(refilled) == 0 {
				return e.resetRunning(cmd.Context(), w.cfg, err)
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
	w *wiring
	// journal is the run's, beside which the control state lies.
	journal  string
	refilled []string
	anew     bool
}

// reset clears the control state and says what it cleared.
func (e *env) reset(r resetting) (err error) {
	path := controlPath(r.journal)
	c, err := controlstate.Open(path, disk.Holder{Since: e.now()})
	if c == nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err == nil {
		err = lostControl(c, r.journal, r.w)
	}
	state := c.State()
	switch {
	case errors.Is(err, controlstate.ErrLost):
		fmt.Fprintf(e.stderr, "tuner: warning: %v\n", err)
		if err = e.recallDoses(r, &state); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		held, others := loop.Latched(state), 0
		if others, err = e.resetOthers(path, r.w.instrument()); err != nil {
			return err
		}
		if held == nil {
			if others == 0 {
				fmt.Fprintln(e.stdout, "nothing is latched"+absentControl(path))
			}
			if len(r.refilled) == 0 {
				return nil
			}
			break
		}
		fmt.Fprintf(e.stdout, "cleared: %s\n", strings.TrimPrefix(held.Error(), loop.ErrLatched.Error()+": "))
	}
	state = e.resetState(state)
	e.refill(r, &state)
	return c.Write(state)
}

// resetState is a control state after a reset. The safety layer's time goes on from here, so
// that no dose grows old by it.
func (e *env) resetState(state controlstate.State) controlstate.State {
	machine := thisMachine()
	state.At += loop.Away(machine, state)
	state.Wall, state.BootID, state.Uptime = e.now().Round(0).UTC(), machine.BootID, machine.Uptime()
	return loop.Reset(state)
}
