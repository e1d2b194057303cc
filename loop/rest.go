package loop

import (
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/record"
	"github.com/labtuner/tuner/safety"
)

// ending is how the run ends: why, and what it has found.
type ending struct {
	*parts
	result Result
	err    error
	reason string
	// closingParts counts the devices that are being closed, and the policy that may still
	// answer; settled says that everything is recorded and they are closed.
	closingParts int
	settled      bool
	// madeSafe says that the way to rest is that of a person's stop.
	madeSafe bool
	// way is the way to rest, nil before it.
	way *record.WayToRest
	// late says that a device or the journal did not end in time, and that this was reported.
	late bool
}

// rest brings every actuator to the state that pick chooses, and confirms it. A
// device that has failed is reopened and brought to its own safe state.
func (l *ending) rest(pick func(*plan.Variable) plan.RestState) {
	l.madeSafe = l.guard.MakesSafe()
	l.advisor.Stop()
	l.tellLeft()
	l.enter(resting)
	if !l.instrument.Drove() && l.guard.Mode() < safety.Fallback {
		l.restUntouched()
		return
	}
	l.intendRest(l.stamped(l.number, l.instrument.Rest(pick)))
}

// restUntouched ends a run that has written nothing: nothing is to be undone, and what was wanted is not begun. A dose that
// was charged went with its step; the safety layer takes it off the books before the devices are closed.
func (l *ending) restUntouched() {
	if p := l.deps.Past; p != nil {
		l.result.Left = p.Left
	}
	if l.opt.Mode == plan.Live && !l.result.Left { // told by why the run ends
		l.keepEvent(journal.Event{Level: "info", Kind: journal.EventShutdown, Message: "nothing was written to the actuators",
			Facts: journal.Facts{AtRest: true}, Step: l.number, At: l.stamp()})
	}
	l.instrument.Stand()
	if !l.dosePending() {
		l.closeAll()
	}
}

// dosePending says that a dose is charged of which it is yet to be known what has become.
func (l *ending) dosePending() bool {
	for i := range l.opt.Variables {
		if l.opt.Variables[i].Dose {
			if d := l.guard.Dose(i); d.Open && !d.Unknown {
				return true
			}
		}
	}
	return false
}

// tellLeft makes it an error that this process ends before it has driven anything, and the one
// before has left the actuators without a confirmed rest. Where the instrument cannot be had, that is the
// error, after which a start may be tried again.
func (l *ending) tellLeft() {
	if p := l.deps.Past; p == nil || !p.Left || l.instrument.Drove() || l.phase > booting || l.opt.Mode != plan.Live || errors.Is(l.err, ErrInstrument) {
		return
	}
	l.err = errors.Join(ErrLeft, l.err)
}

// intendRest records the way to rest. It does not wait for the record: bringing
// actuators to safety must not depend on a disk.
func (l *ending) intendRest(actions []journal.Action) {
	l.way = &record.WayToRest{Actions: actions} // one before it, which a trip has overtaken, stays unknown
	l.record("shutdown", l.way.Intend, nil)
}

// resolveRest records what became of the way to rest: confirmed where every actuator of a
// device was.
func (l *ending) resolveRest() {
	if l.way == nil {
		return
	}
	trouble := map[string]error{}
	for _, r := range l.result.Rest {
		trouble[r.Device] = errors.Join(trouble[r.Device], r.Err)
	}
	l.record("outcome of the shutdown", l.way.Resolve(trouble, l.stamp()), nil)
}

// watchRest looks which actuators are at rest; when all are, or time is up, the
// devices are closed.
func (l *ending) watchRest() {
	over, hurry, events := l.instrument.Resting(l.present(), l.since)
	l.runner.sensed(events)
	if hurry {
		l.guard.Ask(safety.CommandHurry)
	}
	if over && !(l.dosePending() && l.now().Sub(l.since) < closeTimeout) {
		l.rested()
	}
}

// rested sums up what became of the actuators and closes the devices.
func (l *ending) rested() {
	var unsafe []error
	l.result.Rest = l.instrument.Rested()
	l.resolveRest()
	for _, r := range l.result.Rest {
		if r.Err != nil {
			unsafe = append(unsafe, fmt.Errorf("%s: %w", r.Variable, r.Err))
		}
	}
	if len(unsafe) > 0 {
		l.err = errors.Join(fmt.Errorf("%w: %w", ErrUnsafe, errors.Join(unsafe...)), l.err)
		l.event("error", journal.EventShutdown, l.err.Error())
	} else if len(l.result.Rest) > 0 {
		l.eventWith(journal.Facts{AtRest: true}, "info", journal.EventShutdown, "actuators are at rest")
	}
	l.closeAll()
}

// closeAll closes the devices; a recommendation that was not asked for yet is
// asked for now.
func (l *ending) closeAll() {
	l.enter(closing)
	l.saveTrace()
	l.closingParts = len(l.deps.Devices) + 1
	l.instrument.Close()
	if l.result.HasFound {
		l.advisor.Flush()
		return
	}
	l.recommend()
}

// oneClosed notes that a device has been closed, or that the policy has answered.
func (l *ending) oneClosed() {
	if l.closingParts--; l.closingParts == 0 {
		l.awaitJournal()
	}
}

// awaitJournal ends the run once everything that was recorded has been written and
// reported: a slow disk may still be at the last outcome when the devices are closed. A
// command that was under way may then have its answer to record yet; the story, to which
// whoever may publish could add for ever, ends here.
func (l *ending) awaitJournal() {
	l.recorder.End()
	l.record("the end", func(*journal.Journal) error { return nil }, endRecorded{})
}

// endOfRecord ends the run where nothing else waits to be recorded.
func (l *ending) endOfRecord() {
	switch {
	case l.phase != closing:
	case l.recorder.Due() > 0:
		l.awaitJournal()
	default:
		l.settled = true
		l.closeSaved()
	}
}

// closeSaved ends the run when the control state has been written too.
func (l *ending) closeSaved() {
	if l.phase == closing && l.settled && !l.guard.Saving() {
		l.enter(closed)
	}
}

// owed is the error of a run that ends with records that were not written.
func (l *ending) owed() error {
	var unkept, unwritten error
	if l.guard.Owes() {
		unkept = fmt.Errorf("%w: %w", ErrJournal, ErrUnkept)
	}
	if err := l.recorder.Owed(); err != nil {
		unwritten = fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return errors.Join(unkept, unwritten)
}

// recommend asks the policy for the best setting by its lower bound; recommended follows
// in any case.
func (l *ending) recommend() {
	if l.runner.changing() {
		l.event("warn", "recommend", "a change was made by which nothing was decided yet: there is no recommendation; tuner best makes it from the record")
		l.runner.recommended(advisor.Recommended{Err: policy.ErrNoData})
		return
	}
	if l.advisor.Broken() {
		l.event("warn", "recommend", "the policy has failed: there is no recommendation")
		l.runner.recommended(advisor.Recommended{Err: policy.ErrNoData})
		return
	}
	l.advisor.Recommend()
}
