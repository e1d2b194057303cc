package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

const (
	// outageFirst is the wait before the next step after FailureLimit failed ones in a
	// row; it doubles up to outageMost. Not longer: five minutes of a night are little,
	// and a step that fails teaches little.
	outageFirst = 10 * time.Second
	outageMost  = 5 * time.Minute
	// steady is how long every cause must be gone before a run that has fallen back
	// goes on by itself. Not shorter: what comes and goes is not over.
	steady = 10 * time.Second
	// refusalsMax is how often, a second apart, a device may refuse its rest state
	// before that is reported and the run ends.
	refusalsMax = 10
)

// outage is a time in which steps fail one after the other: the run waits, and tries
// a step now and then.
type outage struct {
	on bool
	// device indexes the device that seems to be out of order.
	device int
	// until is when the next step is tried, wait how long that was waited for.
	until time.Time
	wait  time.Duration
	// silent says that the last step had no data: the first value ends the wait.
	silent bool
}

// fallenState is how a run stands that has fallen back and waits.
type fallenState struct {
	// clear is since when no cause is left, zero while there is one.
	clear time.Time
	// refusals of a rest state, the last at refused.
	refusals int
	refused  time.Time
}

// outages is how the run waits for an instrument that is out of order.
type outages struct {
	*parts
	stepper *stepper
	ending  *ending
	outage  outage
	fallen  fallenState
}

// endure waits after n failed steps in a row, which are too many.
func (l *outages) endure(n int, problem string) {
	s := &l.outage
	s.wait = min(max(2*s.wait, outageFirst), outageMost)
	*s = outage{on: true, device: l.suspect(), until: l.now().Add(s.wait), wait: s.wait, silent: len(l.stepper.step.shots.Taken()) == 0 && l.instrument.Refuses() < 0}
	l.event("warn", "outage", fmt.Sprintf("%s in a row gave no valid data, the last because: %s; the run is held, and tries again in %v", plan.Counted(n, "step"), problem, s.wait))
	l.enter(waiting)
}

// recovered ends an outage: a step has had valid data.
func (l *outages) recovered() { l.outage = outage{} }

// endure and recovered pass on what the steps tell.
func (l *Loop) endure(n int, problem string) { l.outages.endure(n, problem) }
func (l *Loop) enduring() bool               { return l.outages.outage.wait > 0 }
func (l *Loop) recovered()                   { l.outages.recovered() }

// suspect is the device that failed steps point at: one that refuses its setpoint,
// else the objective's.
func (l *outages) suspect() int {
	if i := l.instrument.Refuses(); i >= 0 {
		return l.opt.Variables[i].Channel.Device
	}
	return max(l.opt.Sensors[l.opt.Objective.Uses[0]].Channel.Device, 0)
}

// watchOutage ends the wait when its time is over. The next step follows when the
// safety layer runs again.
func (l *outages) watchOutage(now time.Time) {
	if s := &l.outage; s.on && !now.Before(s.until) {
		s.on = false
	}
}

// hearOutage ends the wait at the first value of what had been silent.
func (l *outages) hearOutage(renewed []int) {
	if s := &l.outage; s.on && s.silent && slices.Contains(renewed, l.opt.Objective.Uses[0]) {
		s.until = l.now()
	}
}

// waitsOut reports whether a run that has fallen back goes on by itself: nothing is
// latched, nobody holds it, it was an outage that came first, and the run still measures.
func (l *outages) waitsOut() bool {
	return l.opt.Outages.Wait && (l.ending.reason == "" || l.stepper.verifying.running) && l.guard.Outage()
}

// fallAsleep keeps a run that has fallen back, to be resumed by a person or, after an
// outage, by itself.
func (l *outages) fallAsleep(why error) {
	l.stepper.abandonStep(why.Error())
	l.instrument.Stand()
	l.fallen = fallenState{}
	l.enter(fallen)
	if l.waitsOut() {
		l.event("warn", "outage", fmt.Sprintf("%v; the run waits, and goes on when that has been over for %v", why, steady))
	}
}

// watchFallen resumes a run after an outage, and ends one whose time is over or whose
// actuator refuses its rest state.
func (l *outages) watchFallen(now time.Time) {
	f := &l.fallen
	if l.stepper.timeIsOver(now) {
		l.ending.rest(l.restWhenTaken)
		return
	}
	for i := range l.opt.Variables {
		refused := l.instrument.Refused(i)
		if refused == nil || now.Sub(f.refused) < time.Second {
			continue
		}
		if f.refusals++; f.refusals > refusalsMax {
			l.runner.fail(fmt.Errorf("%w: %s refuses its rest state: %w", ErrInstrument, l.opt.Variables[i].Name, refused))
			return
		}
		f.refused = now
		l.instrument.AskAgain(i)
	}
	switch {
	case !l.waitsOut() || !l.guard.Clear():
		f.clear = time.Time{}
	case f.clear.IsZero():
		f.clear = now
	case now.Sub(f.clear) >= steady:
		f.clear = time.Time{}
		l.event("info", journal.EventSafety, "the outage is over: going on")
		if l.outage.wait == 0 { // else the next failed step waits longer
			l.stepper.failures = 0
		}
		l.guard.Ask(safety.CommandResume)
	}
}

// watchWaiting begins the next step once the wait is over and the layer runs.
func (l *outages) watchWaiting() {
	switch {
	case l.outage.on, l.held:
	case l.opt.Mode == plan.Shadow || l.guard.Mode() == safety.Run && !l.instrument.Disconnected():
		l.stepper.next()
	}
}
