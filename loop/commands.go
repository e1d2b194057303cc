package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/record"
	"github.com/labtuner/tuner/safety"
)

// orders is how commands come in: each is on record, acts, and is answered.
type orders struct {
	*parts
	// pausedBy is who has paused the run, and by which way.
	pausedBy string
	// stops have acted since a time, and are answered once what they have latched is durable.
	stops      []*commandAnswered
	stopsSince time.Time
}

// stopAnswerWait is how long a stop's answer waits for what is latched to be durable. It has
// acted by then, and an answer is worth more than certainty where a disk hangs.
const stopAnswerWait = time.Second

// takeOrders begins what the panel has: each command is made durable before it acts.
func (l *orders) takeOrders() {
	commands, notes, unnoted := l.deps.Panel.TakeOrders()
	for _, o := range notes {
		l.note(o)
	}
	for _, text := range l.deps.Panel.TakeTold() {
		l.event("warn", journal.EventCommand, text)
	}
	if unnoted > 0 {
		l.event("warn", journal.EventCommand, fmt.Sprintf("%d more commands were refused than can be recorded one by one", unnoted))
	}
	for _, o := range commands {
		if l.phase >= closing {
			l.deps.Panel.Answered()
			o.Reply(control.Response{Code: control.CodeEnding, Message: "the run is ending", Status: l.deps.Panel.Status()})
			continue
		}
		l.takeOrder(o)
	}
}

// note records what a transport has refused.
func (l *orders) note(o *control.Order) {
	c, a := o.Record(l.stamp()), control.AnswerOf(*o.Refusal, l.stamp())
	l.runner.put(record.Entry{What: "refused command", Record: record.Func(func(j *journal.Journal) error { return j.Ordered(c, a) }), Story: true})
}

// takeOrder records an order, then carries it out.
func (l *orders) takeOrder(o *control.Order) {
	c := o.Record(l.stamp())
	recorded := &commandRecorded{order: o}
	l.runner.put(record.Entry{What: "command " + c.Name, Hasty: true, Done: recorded,
		Record: record.Func(func(j *journal.Journal) (err error) { recorded.id, err = j.Order(c); return err })})
}

// unrecordedCommand answers a command that could not be recorded.
func (l *orders) unrecordedCommand(o *control.Order, err error) {
	l.deps.Panel.Answered()
	o.Reply(control.Response{Code: control.CodeUnrecorded, Message: fmt.Sprintf("it could not be recorded, and has not acted: %v", err), Status: l.deps.Panel.Status()})
}

// carryOut has a recorded order act, unless its caller has given up, and records what
// came of it. The caller is answered once that is durable: what has been said to have been
// done is done by a process that goes on after a kill as well.
func (l *orders) carryOut(o *control.Order, id int64) {
	r := control.Response{Code: control.CodeGivenUp, Message: "the caller gave up before it acted"}
	switch acts := o.Begin(); {
	case acts && control.IsEdit(o.Command):
		l.runner.edit(o, id, func(r control.Response) { l.carriedOut(o, id, r, true) })
	case acts:
		l.carriedOut(o, id, l.runner.obey(o, id), true)
	default:
		l.carriedOut(o, id, r, false)
	}
}

// carriedOut records what came of an order, and answers it.
func (l *orders) carriedOut(o *control.Order, id int64, r control.Response, acts bool) {
	if acts {
		l.tellOrder(o, r)
		l.notePause(o, r)
	}
	l.failpoint("command-acted")
	a := control.AnswerOf(r, l.stamp())
	answered := &commandAnswered{r, o}
	if !acts {
		answered.order = nil
	}
	l.record("answer to a command", func(j *journal.Journal) error { return j.Answer(id, a) }, answered)
}

// answer tells an order's caller what came of it.
func (l *orders) answer(d *commandAnswered) {
	if d.order == nil {
		return
	}
	l.runner.publish(l.now())
	d.response.Status = l.deps.Panel.Status()
	d.order.Reply(d.response)
}

// notePause remembers who holds the run.
func (l *orders) notePause(o *control.Order, r control.Response) {
	if o.Command == control.CommandPause && r.OK && l.pausedBy == "" {
		l.pausedBy = o.Origin()
	}
	if !l.guard.Paused() {
		l.pausedBy = ""
	}
}

// tellOrder adds a command to the run's story.
func (l *orders) tellOrder(o *control.Order, r control.Response) {
	if o.Command == control.CommandStatus {
		return
	}
	text := o.Command + " asked for by " + o.Origin()
	if o.Reason != "" {
		text += fmt.Sprintf(" (%q)", o.Reason)
	}
	l.event("info", journal.EventCommand, text+": "+r.Message)
}

// takeStops records and takes in the stops that the safety layer has just had.
func (l *orders) takeStops() {
	if len(l.stops) == 0 {
		l.stopsSince = l.now()
	}
	for _, o := range l.deps.Panel.TakeStops() {
		if _, ok := o.Check(); !ok {
			o.Reason = "" // a stop is never refused for its arguments
		}
		r := control.Response{OK: true, Code: control.CodeOK, Message: "made safe, and the run ends: " + l.opt.RestWords((*plan.Variable).OnStop, l.instrument.Lapses)}
		if l.opt.Mode == plan.Shadow {
			r.Message = "the run ends; it has driven nothing"
		}
		c, a := o.Record(l.stamp()), control.AnswerOf(r, l.stamp())
		l.record("stop", func(j *journal.Journal) error { return j.Ordered(c, a) }, nil)
		l.tellOrder(o, r)
		l.stops = append(l.stops, &commandAnswered{r, o})
	}
	l.answerStops(false)
}

// answerStops answers the stops that have acted: a process that is killed after that and begins
// again is latched, as was said. over: whatever is durable, because the run is over.
func (l *orders) answerStops(over bool) {
	if len(l.stops) == 0 || !over && l.guard.Owes() && l.now().Sub(l.stopsSince) < stopAnswerWait {
		return
	}
	for _, d := range l.stops {
		l.answer(d)
	}
	l.stops = nil
}

// obey carries out a command other than stop; id is its number in the journal.
func (l *Loop) obey(o *control.Order, id int64) control.Response {
	command := o.Command
	switch {
	case command == control.CommandStatus:
		return control.Response{OK: true, Code: control.CodeOK, Message: l.stateWords()}
	case l.phase <= booting:
		return control.Response{Code: control.CodeStarting, Message: "the run is starting: its devices are being opened and read"}
	case l.phase >= resting:
		return control.Response{Code: control.CodeEnding, Message: "the run is ending"}
	case command == control.CommandEnd:
		return l.endByHand()
	case l.opt.Mode == plan.Shadow:
		return control.Response{Code: control.CodeDryRun, Message: fmt.Sprintf("a dry run drives nothing: there is nothing to %s", command)}
	}
	now := l.now()
	switch command {
	case control.CommandPause:
		return l.guard.Pause(l.stateWords(), l.command)
	case control.CommandResume:
		return l.guard.Resume(*l.told(now), l.command)
	case control.CommandReset:
		return l.guard.Reset(*l.told(now), l.stateWords(), l.command)
	case control.CommandTry:
		return l.stepper.people.queue(o, id)
	default:
		return l.setBest()
	}
}

// edit carries out a command that changes what decisions go by; answer follows.
func (l *Loop) edit(o *control.Order, id int64, answer func(control.Response)) {
	args := o.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	e, err := control.ParseEdit(o.Command, args)
	if err != nil { // the panel has seen it
		answer(control.Response{Code: control.CodeArgs, Message: err.Error()})
		return
	}
	l.stepper.changes.ask(&asking{request: EditRequest{Command: o.Command, Edit: e}, by: journal.Person{Command: id, Who: o.Origin(), Reason: o.Reason}, answer: answer})
}

// done says what came of a command that was followed.
func done(format string, args ...any) control.Response {
	return control.Response{OK: true, Code: control.CodeOK, Message: fmt.Sprintf(format, args...)}
}

// setBest ends the search as a stop condition does: at the recommended setting.
func (l *Loop) setBest() control.Response {
	switch {
	case l.guard.Mode() != safety.Run:
		return control.Response{Code: control.CodeMode, Message: fmt.Sprintf("%s: resume first", l.stateWords())}
	case l.ending.reason != "" || l.stepper.wantBest:
		return done("the run is on its way there already")
	case l.stepper.best == nil:
		return control.Response{Code: control.CodeConditions, Message: "no step has given data yet: there is no best setting"}
	}
	l.stepper.wantBest = true
	if l.phase != concluding { // else the step is about to end by itself
		l.stepper.abandonStep("set-best: the search ends")
		l.stepper.next()
	}
	if l.opt.Verify.Pairs > 0 {
		return done("the search ends: the recommended setting is measured against the starting one, then the run goes there")
	}
	return done("the search ends: the run goes to the recommended setting")
}

// command passes commands through the safety layer, and follows it.
func (l *Loop) command(commands ...safety.Command) {
	now := l.now()
	for _, c := range commands {
		l.pass(now, c)
	}
	l.followMode(now)
}
