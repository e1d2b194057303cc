package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
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
	return instrument.Present{Now: l.now(), Mode: l.safety.Mode, Ending: l.safety.Ending, Mends: l.mends(), Moving: l.phase == moving}
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
			l.faults.Add(safety.RuleComms, e.Device)
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
	renewed := l.instrument.Accept(h, l.believed)
	l.hearSpell(renewed)
	if l.phase == measuring && !l.held {
		l.offerShot(renewed, h.Reading.At, h.Asked)
	}
}

// believed passes a sensor's value through the safety layer.
func (l *Loop) believed(i int, value float64, at time.Time) bool {
	sample := safety.Sample{Value: value, At: l.safeTime(at), Known: true}
	var verdict safety.Verdict
	l.safety.Sensor[i], verdict = l.limits.Sensors[i].Take(l.safety.Sensor[i], sample)
	l.trace.Heard(trace.Reading{Sensor: i, Sample: sample, Verdict: verdict})
	return verdict == safety.Believed
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

// budgetOf is the index of a variable's budget.
func (l *Loop) budgetOf(i int) int {
	return slices.IndexFunc(l.limits.Doses, func(d safety.DoseLimits) bool { return d.Variable == i })
}

// doseWait is how long a dose may have to wait: for the interval since the one before,
// and for that one to show.
func (l *Loop) doseWait(i int) (wait time.Duration) {
	if k := l.budgetOf(i); k >= 0 {
		wait = l.limits.Doses[k].MinInterval
	}
	if !l.opt.Variables[i].Dose {
		return wait
	}
	for _, r := range l.limits.Responses {
		if r.Variable == i {
			wait = max(wait, r.Within)
		}
	}
	return wait
}

// letDosesEnd lets the doses of devices end that cannot stop them.
func (l *Loop) letDosesEnd(limits *safety.Limits) {
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if v.Dose && !l.instrument.StopsDoses(i) {
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
			limits.Variables[i].OnFault, limits.Variables[i].Shutdown = safety.RestHold, safety.RestHold
		}
	}
}
