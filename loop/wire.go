package loop

import (
	"fmt"

	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// Lanes: blocking work that must not overtake itself shares one.
const (
	laneJournal = iota
	laneControl // latches and doses, which do not wait for the journal
	laneMark    // that something is latched, which does not wait for latches and doses
	laneSpace   // the free space on the disk
	lanePolicy
	laneDevice // and one more for each further device
)

// present is what the instrument has to know of the run.
func (l *Loop) present() instrument.Present {
	return instrument.Present{Now: l.now(), Mode: l.guard.Mode(), Ending: l.guard.Ending(), Mends: l.mends(), Moving: l.phase == moving}
}

// mends reports whether a device that fails now is waited for.
func (l *Loop) mends() bool {
	return l.opt.Outages.Wait && l.phase > booting && l.phase < homing
}

// sensed follows what the instrument tells.
func (l *Loop) sensed(events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case instrument.Opened:
			l.opened(e)
		case instrument.Heard:
			l.heard(e)
		case instrument.NoValue:
			l.noShot(e.Asked, e.Err)
		case instrument.Troubled:
			l.meterTrouble(e)
		case instrument.Broken:
			l.guard.Fault(safety.RuleComms, e.Device)
			l.fail(fmt.Errorf("%w: %w", ErrInstrument, e.Err))
		case instrument.DoseSettled:
			l.doseSettled(e)
		case instrument.Said:
			l.event(e.Level, e.Kind, e.Message)
		case instrument.Closed:
			l.oneClosed()
		}
	}
}

// heard takes in a reading: what the safety layer believes of it may be a shot's.
func (l *Loop) heard(h instrument.Heard) {
	renewed := l.instrument.Accept(h, l.guard.Hear)
	l.hearSpell(renewed)
	if l.phase == measuring && !l.held {
		l.offerShot(renewed, h.Reading.At, h.Asked)
	}
}

// intendDose makes the intent of a dose durable.
func (l *Loop) intendDose(d *instrument.Dose) {
	action := l.stamped(l.step.n, []journal.Action{l.instrument.Intent(d)})[0]
	intended := &doseIntended{dose: d}
	l.record("intent of a dose", func(j *journal.Journal) (err error) {
		intended.action, err = j.Intend(action)
		return err
	}, intended)
}

// doseSettled records what became of a dose.
func (l *Loop) doseSettled(d instrument.DoseSettled) {
	l.doseEnded()
	at := l.stamp()
	l.record("outcome of a dose", func(j *journal.Journal) error {
		return j.Settle(d.Action, d.State, d.Readback, d.Message, at)
	}, reached("dose-settled"))
}

// doseEnded lets the others have their time: those that wait for the device have waited
// for this one.
func (l *Loop) doseEnded() {
	if l.phase == moving {
		l.since = l.now()
	}
}

// letDosesEnd lets the doses of devices end that cannot stop them.
func (l *Loop) letDosesEnd() {
	for i := range l.opt.Variables {
		if v := &l.opt.Variables[i]; l.endsByItself(i) {
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
			l.guard.LetEnd(i)
		}
	}
}

// endsByItself says that a variable is one of doses which its device cannot stop.
func (l *Loop) endsByItself(i int) bool {
	return l.opt.Variables[i].Dose && !l.instrument.StopsDoses(i)
}
