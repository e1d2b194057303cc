package loop

import (
	"fmt"
	"time"

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
		case instrument.Heard:
			l.heard(e)
		case instrument.NoValue:
			l.stepper.noShot(e.Asked, e.Err)
		case instrument.Troubled:
			l.meterTrouble(e)
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

// oddAgain is how long a sensor whose values are no data is not told of again: one at the edge of its
// range would fill the record.
const oddAgain = time.Minute

// tellOdd tells of sensors that give what is no data.
func (l *Loop) tellOdd(now time.Time) {
	for i := range l.opt.Sensors {
		s := &l.opt.Sensors[i]
		odd := s.OddWords(l.instrument.Sensor(i), l.instrument.OddSensor(i), now)
		if told := l.toldOdd[i]; odd == "" || !told.IsZero() && now.Sub(told) < oddAgain {
			continue
		}
		l.toldOdd[i] = now
		l.event("warn", "sensor", fmt.Sprintf("sensor %s: %s: no data", s.Name, odd))
	}
}

// heard takes in a reading: what the safety layer believes of it may be a shot's.
func (l *Loop) heard(h instrument.Heard) {
	renewed := l.instrument.Accept(h, l.guard.Hear)
	l.tellOdd(l.now())
	l.outages.hearOutage(renewed)
	if l.phase == measuring && !l.held {
		l.stepper.offerShot(renewed, h.Reading.At, h.Asked)
	}
}
