package loop

import (
	"fmt"

	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/safety"
)

// Lanes: blocking work that must not overtake itself shares one.
const (
	laneJournal = iota
	laneControl // latches and doses, which do not wait for the journal
	laneMark    // that something is latched, which does not wait for latches and doses
	laneSpace   // the free space on the disk
	laneChange  // what is to be changed while the run goes on
	lanePolicy
	laneDevice // and one more for each further device
)

// sensed follows what the instrument tells.
func (l *Loop) sensed(events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case instrument.Opened:
			l.opened(e)
		case *instrument.Heard:
			l.heard(e)
		case instrument.NoValue:
			l.stepper.noShot(e.Asked, e.Err)
		case instrument.Troubled:
			l.deps.Watch.Meter.Trouble(e.Device, e.Doing)
		case instrument.Broken:
			l.guard.Fault(safety.RuleComms, e.Device)
			l.fail(fmt.Errorf("%w: %w", ErrInstrument, e.Err))
		case instrument.DoseResolved:
			l.doseResolved(e)
		case instrument.Said:
			l.event(e.Level, e.Kind, e.Message)
		case instrument.Closed:
			l.ending.oneClosed()
		}
	}
}

// heard takes in a reading: what the safety layer believes of it may be a shot's.
func (l *Loop) heard(h *instrument.Heard) {
	renewed := l.instrument.Accept(h, l.guard.Hear)
	for _, odd := range l.instrument.NewOdd(l.now()) {
		l.event("warn", "sensor", odd)
	}
	l.outages.hearOutage(renewed)
	if l.phase == measuring && !l.held {
		l.stepper.offerShot(renewed, h.Reading.At, h.Asked)
	}
}
