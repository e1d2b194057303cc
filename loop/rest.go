package loop

import (
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// rest brings every actuator to the state that pick chooses, and confirms it. A
// device that has failed is reopened once and brought to its own safe state.
func (l *Loop) rest(pick func(*plan.Variable) plan.RestState) {
	l.advisor.Stop()
	l.tellLeft()
	l.enter(resting)
	if !l.instrument.Drove() && l.guard.Mode() < safety.Fallback {
		l.closeAll() // nothing was written: nothing is to be undone
		return
	}
	l.intendRest(l.stamped(l.step.n, l.instrument.Rest(pick)))
}

// tellLeft makes it an error that this process ends before it has driven anything, and
// the one before was killed while it drove. Where the instrument cannot be had, that is the
// error, after which a start may be tried again.
func (l *Loop) tellLeft() {
	if p := l.deps.Past; p == nil || !p.Left || l.instrument.Drove() || l.phase > booting || l.opt.Mode != plan.Live || errors.Is(l.err, ErrInstrument) {
		return
	}
	l.err = errors.Join(ErrLeft, l.err)
}

// intendRest records the way to rest. It does not wait for the record: bringing
// actuators to safety must not depend on a disk.
func (l *Loop) intendRest(actions []journal.Action) {
	done := 0
	l.record("shutdown", func(j *journal.Journal) error {
		for ; done < len(actions); done++ {
			if _, err := j.Intend(actions[done]); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// watchRest looks which actuators are at rest; when all are, or time is up, the
// devices are closed.
func (l *Loop) watchRest() {
	over, hurry, events := l.instrument.Resting(l.present(), l.since)
	l.sensed(events)
	if hurry {
		l.guard.Ask(safety.CommandHurry)
	}
	if over {
		l.rested()
	}
}

// rested sums up what became of the actuators and closes the devices.
func (l *Loop) rested() {
	var unsafe []error
	l.result.Rest = l.instrument.Rested()
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
func (l *Loop) closeAll() {
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
func (l *Loop) oneClosed() {
	if l.closingParts--; l.closingParts == 0 {
		l.awaitJournal()
	}
}

// awaitJournal ends the run once everything that was recorded has been written and
// told of: a slow disk may still be at the last outcome when the devices are closed. A
// command that was under way may then have its answer to record yet; the story, to which
// whoever may publish could add for ever, ends here.
func (l *Loop) awaitJournal() {
	l.recorder.End()
	l.record("the end", func(*journal.Journal) error { return nil }, endRecorded{})
}

// endOfRecord ends the run where nothing else waits to be recorded.
func (l *Loop) endOfRecord() {
	switch {
	case l.phase != closing:
	case l.recorder.Due() > 0:
		l.awaitJournal()
	default:
		l.settled = true
		l.closeSettled()
	}
}

// closeSettled ends the run when the control state has been written too.
func (l *Loop) closeSettled() {
	if l.phase == closing && l.settled && !l.guard.Keeping() {
		l.enter(closed)
	}
}
