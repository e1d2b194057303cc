package session

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// openControl opens the control state and refuses to go on while something is
// latched.
func (s *session) openControl(deps *loop.Deps) error {
	var err error
	s.control, err = controlstate.Open(runfiles.ControlPath(s.Path), disk.Holder{Since: s.Clock.Now()})
	if err == nil && s.Resume {
		err = runfiles.LostControl(s.control, s.Path, len(s.Setup.Options.Safety.Doses) > 0)
	}
	switch {
	case errors.Is(err, controlstate.ErrLost):
		return fmt.Errorf("%w: what was latched and what was dosed is not known: %w", guard.ErrLatched, err)
	case err != nil:
		return err
	}
	for _, notice := range s.control.Notices() {
		s.tell.Say("tuner: warning: %s", notice)
	}
	deps.Control, deps.Machine = s.control, host.ThisMachine()
	if err := guard.Latched(s.control.State()); err != nil {
		return err
	}
	if err := s.claim(); err != nil {
		return err
	}
	instrument := s.Setup.Instrument()
	remarks, err := runfiles.OtherTrips(s.Env, runfiles.ControlPath(s.Path), instrument, deps.Machine)
	for _, text := range remarks {
		s.tell.Say("tuner: warning: %s", text)
	}
	if err != nil {
		return err
	}
	if err := s.ownControl(instrument, deps.Machine); err != nil {
		return err
	}
	runfiles.NoteControl(s.Env, runfiles.ControlPath(s.Path))
	if err := runfiles.SaveGood(runfiles.ControlPath(s.Path), s.Setup.Config.Text); err != nil {
		s.tell.Say("tuner: warning: no copy of the file is kept for make-safe: %v", err)
	}
	return nil
}

// ownControl has the control state say whose it is, before anything is driven: others look
// there.
func (s *session) ownControl(to controlstate.Instrument, machine guard.Machine) error {
	state := s.control.State()
	s.control.Belongs(to)
	if reflect.DeepEqual(state.Instrument, to) {
		return nil
	}
	if state.Generation == 0 { // time counts from here
		state.Wall, state.BootID, state.Uptime = s.Clock.Now().Round(0).UTC(), machine.BootID, machine.Uptime()
	}
	return s.control.Write(state)
}

// recordResets puts into the journal what was reset while no run was there to record it.
func (s *session) recordResets() error {
	if s.control == nil || len(s.control.State().Resets) == 0 {
		return nil
	}
	state := s.control.State()
	for _, r := range state.Resets {
		text := fmt.Sprintf("tuner reset by %s at %s cleared %s", r.By, r.Wall.Format(time.RFC3339), r.Cleared)
		if err := s.journal.Log(journal.Event{Level: "info", Kind: journal.EventCommand, Message: text, At: journal.Stamp{Wall: s.Clock.Now().Round(0)}}); err != nil {
			return err
		}
	}
	state.Resets = nil
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

// closeControl lets go of the control state, and of the instruments.
func (s *session) closeControl() (err error) {
	if s.control != nil {
		err = s.control.Close()
	}
	for _, c := range s.claims {
		err = errors.Join(err, c.Close())
	}
	return err
}
