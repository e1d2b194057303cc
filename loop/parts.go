package loop

import (
	"cmp"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/record"
	"github.com/labtuner/tuner/loop/worker"
)

// parts are what a run consists of: what is used by all that drives it.
type parts struct {
	opt        plan.Options
	deps       Deps
	pool       *worker.Pool
	instrument *instrument.Instrument
	guard      *guard.Guard
	advisor    *advisor.Advisor
	recorder   *record.Recorder
	course
	// runner is whom they ask for what concerns all of the run.
	runner runner
}

// course is where the run stands.
type course struct {
	start time.Time
	phase phase
	// since is when the phase began.
	since time.Time
	// held says that the step's clocks stand still.
	held bool
	// waited is how long the run has waited for a resume before it began.
	waited time.Duration
	// number is the step's that the run is at.
	number int
}

// runner is the run, as its parts know it.
type runner interface {
	// fail ends the run because of an error, finish at a stop condition.
	fail(err error)
	finish(reason string)
	// endure waits after n failed steps in a row, which are too many; enduring says that the
	// run has waited since the last valid one.
	endure(n int, problem string)
	enduring() bool
	// recovered notes that a step has had valid data again.
	recovered()
	// recommended goes on once the policy has said what it recommends.
	recommended(a advisor.Recommended)
	// sensed follows what the instrument tells.
	sensed(events []any)
	// put queues something to be recorded.
	put(e record.Entry)
	// obey carries out a command other than stop; publish replaces the status.
	obey(o *control.Order, id int64) control.Response
	edit(o *control.Order, id int64, answer func(control.Response))
	// changing says that a change is in force by which the policy was not made yet.
	changing() bool
	endByHand() control.Response
	publish(now time.Time)
}

func (l *parts) now() time.Time { return l.deps.Clock.Now() }

// stamp is the present by both clocks.
func (l *parts) stamp() journal.Stamp {
	now := l.now()
	return journal.Stamp{Mono: now.Sub(l.start), Wall: now}
}

// enter changes the phase.
func (l *parts) enter(p phase) {
	l.phase, l.since = p, l.now()
}

// event tells and records a line of the run's story.
func (l *parts) event(level, kind, message string) {
	l.eventWith(journal.Facts{}, level, kind, message)
}

// eventWith does so with what programs read of it.
func (l *parts) eventWith(f journal.Facts, level, kind, message string) {
	e := journal.Event{Level: level, Kind: kind, Message: message, Facts: f, Step: l.number, At: l.stamp()}
	l.tellEvent(e)
	l.keepEvent(e)
}

// keepEvent records a line of the run's story.
func (l *parts) keepEvent(e journal.Event) {
	l.runner.put(record.Entry{What: "event", Record: record.Func(func(j *journal.Journal) error { return j.Log(e) }), Story: !needed(e.Kind)})
}

// record writes to the journal on its worker, in the order of the calls; done, if any,
// follows after the write has succeeded. A disk that fails holds the run until it is well
// again; another failure, or any where outages are not waited out, ends it.
func (l *parts) record(what string, write func(*journal.Journal) error, done any) {
	l.keep(what, record.Func(write), done)
}

// keep does so with a record that is one object with what follows, as those of every step are.
func (l *parts) keep(what string, r record.Record, done any) {
	l.runner.put(record.Entry{What: what, Record: r, Done: done})
}

// diskProblem says why the run is held for the disk, "" where it is not.
func (l *parts) diskProblem() string { return cmp.Or(l.recorder.Problem(), l.guard.Problem()) }

// failpoint tells a test where the loop is.
func (l *parts) failpoint(name string) {
	if l.deps.Failpoint != nil {
		l.deps.Failpoint(name)
	}
}

// ownStall takes in that the loop has stood still, or that the watchdog has halted the
// devices for it: what was decided before does not leave any more.
func (l *parts) ownStall(now time.Time) {
	if l.guard.OwnStall(now, l.instrument.Halted()) {
		l.instrument.Revoke()
	}
}

// showSign tells the watchdog that the loop goes on.
func (l *parts) showSign(now time.Time) {
	driving := l.phase > booting && l.phase < closing && l.instrument.Drove()
	if jump, jumped := l.guard.ShowSign(now, driving); jumped {
		l.event("warn", "clock", fmt.Sprintf("the wall clock has jumped by %v; every timer uses the monotonic clock, and only dates are affected", jump))
	}
}

// say adds lines to the run's story.
func (l *parts) say(lines []guard.Said) {
	for _, s := range lines {
		l.event(s.Level, s.Kind, s.Message)
	}
}

// startTrace begins the session's safety trace.
func (l *parts) startTrace() {
	start, said := l.guard.StartTrace()
	l.say(said)
	if start != nil {
		at := l.stamp()
		l.record("what the safety layer begins from", func(j *journal.Journal) error { return j.Tape(start, 0, at) }, nil)
	}
}

// saveTrace records the piece of the safety trace in hand.
func (l *parts) saveTrace() {
	piece, said := l.guard.Cut()
	l.say(said)
	if piece != nil {
		at := l.stamp()
		l.record("what the safety layer did", func(j *journal.Journal) error { return j.Tape(piece.Data, piece.Ticks, at) }, traceWritten{piece})
	}
}

// ran is how long the run has gone on, all sessions together.
func (l *parts) ran(now time.Time) time.Duration {
	d := now.Sub(l.start) - l.waited
	if l.phase == idling {
		d -= now.Sub(l.since)
	}
	if l.deps.Past != nil {
		d += l.deps.Past.Elapsed
	}
	return d
}

// stamped are actions of a step, now.
func (l *parts) stamped(step int, actions []journal.Action) []journal.Action {
	for k := range actions {
		actions[k].Step, actions[k].At = step, l.stamp()
	}
	return actions
}

// present is what the instrument has to know of the run.
func (l *parts) present() instrument.Present {
	return instrument.Present{Now: l.now(), Mode: l.guard.Mode(), Ending: l.guard.Ending(), MakesSafe: l.guard.MakesSafe(), Reconnects: l.reconnects(), Moving: l.phase == moving}
}

// reconnects reports whether a device that fails now is waited for.
func (l *parts) reconnects() bool {
	return l.opt.Outages.Wait && l.phase > booting && l.phase < homing
}

// intendDose makes the intent of a dose durable.
func (l *parts) intendDose(d *instrument.Dose) {
	action := l.stamped(l.number, []journal.Action{l.instrument.Intent(d)})[0]
	intended := &doseIntended{dose: d}
	l.record("intent of a dose", func(j *journal.Journal) (err error) {
		intended.action, err = j.Intend(action)
		return err
	}, intended)
}

// doseResolved records what became of a dose.
func (l *parts) doseResolved(d instrument.DoseResolved) {
	l.doseEnded()
	at := l.stamp()
	l.record("outcome of a dose", func(j *journal.Journal) error {
		return j.Resolve(d.Action, d.State, d.Readback, d.Message, at)
	}, reached("dose-settled"))
}

// doseEnded lets the others have their time: those that wait for the device have waited
// for this one.
func (l *parts) doseEnded() {
	if l.phase == moving {
		l.since = l.now()
	}
}

// letDosesEnd lets the doses of devices end that cannot stop them.
func (l *parts) letDosesEnd() {
	for i := range l.opt.Variables {
		if v := &l.opt.Variables[i]; l.endsByItself(i) {
			v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
			l.guard.LetEnd(i)
		}
	}
}

// endsByItself says that a variable is one of doses which its device cannot stop.
func (l *parts) endsByItself(i int) bool {
	return l.opt.Variables[i].Dose && !l.instrument.StopsDoses(i)
}
