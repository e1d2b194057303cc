package loop

import (
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/record"
)

// What follows once something is durable: the Done of a record's entry.
type (
	// reached: a test learns that the run has come to this point.
	reached string
	// decisionRecorded: the decision of a step may be carried out.
	decisionRecorded struct{ journal.Decision }
	// actionsIntended: the actions, of which these are the journal's ids, may be done, of the way home or of the step.
	actionsIntended struct {
		step    int
		actions []journal.Action
		ids     []int64
		home    map[int]float64
		// one and id are room for what one device does.
		one [1]journal.Action
		id  [1]int64
	}
	// actionsResolved: what became of the actions with these ids is on record.
	actionsResolved struct {
		ids     []int64
		state   journal.ActionState
		problem string
		at      journal.Stamp
	}
	// outcomeRecorded: a step is concluded. Its shots are those that are not on record yet.
	outcomeRecorded struct {
		decision journal.Decision
		shots    []journal.Shot
		outcome  journal.Outcome
	}
	// doseIntended: a dose may be given.
	doseIntended struct {
		dose   *instrument.Dose
		action int64
	}
	// commandRecorded: a command may act.
	commandRecorded struct {
		order *control.Order
		id    int64
	}
	// commandAnswered: what came of a command is on record, and its caller may be told; nil:
	// nobody waits.
	commandAnswered struct {
		response control.Response
		order    *control.Order
	}
	// lessonsRecorded: what the policy has learnt is in the record.
	lessonsRecorded struct{}
	// traceWritten: a piece of the safety trace waits no more.
	traceWritten struct{ piece *guard.Piece }
	// endRecorded: everything before the end is in the record.
	endRecorded struct{}
)

// Write implements [record.Record].
func (d *decisionRecorded) Write(j *journal.Journal) error { return j.Decide(d.Decision) }

// Write records all of the actions, or none.
func (a *actionsIntended) Write(j *journal.Journal) error {
	return j.Together("the intended actions", func() error {
		a.ids = a.ids[:0]
		for _, action := range a.actions {
			id, err := j.Intend(action)
			if err != nil {
				return err
			}
			a.ids = append(a.ids, id)
		}
		return nil
	})
}

// Write records what became of all of the actions, or of none.
func (a *actionsResolved) Write(j *journal.Journal) error {
	return j.Together("what became of the actions", func() error {
		for _, id := range a.ids {
			if err := j.Resolve(id, a.state, nil, a.problem, a.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// Write records the shots with the outcome.
func (o *outcomeRecorded) Write(j *journal.Journal) error {
	return j.Together("the outcome", func() error {
		if err := j.Shoot(o.shots); err != nil {
			return err
		}
		return j.Conclude(o.outcome)
	})
}

func (l *Loop) put(e record.Entry) { l.recorded(l.recorder.Put(l.now(), e)) }

// recorded follows what the recorder tells.
func (l *Loop) recorded(events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case record.Said:
			l.event(e.Level, journal.EventDisk, e.Message)
		case record.Unknown:
			l.deps.logger().Warn("the free space on the disk is not known", "error", e.Err)
		case *record.Written:
			l.deps.Watch.Meter.Record(e.Took)
			l.follow(e.Done)
		case record.Refused:
			if c, ok := e.Done.(*commandRecorded); ok {
				l.orders.unrecordedCommand(c.order, e.Err)
			}
		case record.Failed:
			l.lost(e.Done, e.Err)
			l.fail(fmt.Errorf("%w: %s: %w", ErrJournal, e.What, e.Err))
		}
	}
}

// follow goes on with what waited for a record.
func (l *Loop) follow(done any) {
	switch d := done.(type) {
	case reached:
		l.failpoint(string(d))
	case *decisionRecorded:
		if l.stepper.awaits(d.Step) {
			l.failpoint("decision-durable")
			l.guard.MarkUnderway()
			l.stepper.intend()
		}
	case *actionsIntended:
		l.stepper.act(d)
	case *actionsResolved:
		l.failpoint("action-settled")
	case *outcomeRecorded:
		l.failpoint("outcome-durable")
		l.tellStep(&d.decision, &d.outcome)
	case *doseIntended:
		l.sensed(l.instrument.Intended(l.present(), d.dose, d.action))
	case *commandRecorded:
		l.deps.Panel.Answered()
		l.failpoint("command-durable")
		l.orders.carryOut(d.order, d.id)
	case changeRecorded:
		l.failpoint("change-durable")
		d.asking.answer(d.response)
	case *commandAnswered:
		l.failpoint("answer-durable")
		l.orders.answer(d)
	case lessonsRecorded:
		l.advisor.Rebuild()
	case traceWritten:
		d.piece.Written()
	case endRecorded:
		l.ending.endOfRecord()
	}
}

// awaits says that a step waits for its record. One that was abandoned meanwhile does not,
// though the way home that followed waits for a record of its own.
func (l *stepper) awaits(step int) bool {
	return l.phase == recording && l.step.open && l.step.n == step
}

// lost notes what will never be recorded, because the run ends for it.
func (l *Loop) lost(done any, err error) {
	switch d := done.(type) {
	case *decisionRecorded:
		if l.stepper.step.n == d.Step {
			l.stepper.step.open = false // there is no such step: it has no outcome, and was not abandoned
		}
	case *commandAnswered:
		l.orders.answer(d)
	case *doseIntended:
		l.instrument.Unintended(d.dose, err)
		l.doseEnded()
	}
}

// needed reports whether a run cannot be replayed, or gone on with, without the events of a
// kind: they are never lost.
func needed(kind string) bool {
	switch kind {
	case journal.EventAbandoned, journal.EventStart, journal.EventWaited, journal.EventShutdown:
		return true
	}
	return false
}

// ErrUnkept: a run ended while its control state could not be written.
var ErrUnkept = errors.New("the control state could not be written before the end: it says less than has been latched and dosed, so the next start may be refused until a reset")
