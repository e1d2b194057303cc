package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// order is a request on its way through the loop.
type order struct {
	Request
	// reason is why, for the record.
	reason string
	// answer takes one Response; nil where nobody waits.
	answer chan Response
	// refusal, if any, is what the transport has said: the order is only recorded.
	refusal *Response
	// state is one of the order states: whoever changes it from waiting decides.
	state atomic.Int32
}

const (
	orderWaits int32 = iota
	orderActs
	orderGivenUp
)

func (o *order) begin() bool  { return o.state.CompareAndSwap(orderWaits, orderActs) }
func (o *order) giveUp() bool { return o.state.CompareAndSwap(orderWaits, orderGivenUp) }

func (o *order) reply(r Response) {
	if o.answer != nil {
		o.answer <- r // there is room for one, and there is one
	}
}

// reasonMax bounds the text that is recorded with a command, in bytes.
const reasonMax = 200

// check refuses what cannot be carried out whatever the run does.
func (o *order) check() (Response, bool) {
	if !slices.Contains(Commands(), o.Command) {
		return Response{Code: CodeUnknown, Message: fmt.Sprintf("there is no command %q; there are %s", clip(o.Command), strings.Join(Commands(), ", "))}, false
	}
	if len(bytes.TrimSpace(o.Args)) == 0 {
		return Response{}, true
	}
	var args struct {
		Reason string `json:"reason"`
	}
	d := json.NewDecoder(bytes.NewReader(o.Args))
	d.DisallowUnknownFields()
	err := d.Decode(&args)
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = fmt.Errorf("more than one value")
	}
	switch {
	case err != nil:
		return Response{Code: CodeArgs, Message: fmt.Sprintf("args of %s: %v; it takes {\"reason\": TEXT}", o.Command, err)}, false
	case len(args.Reason) > reasonMax:
		return Response{Code: CodeArgs, Message: fmt.Sprintf("args.reason has %d bytes; at most %d are kept", len(args.Reason), reasonMax)}, false
	}
	o.reason = args.Reason
	return Response{}, true
}

// clip shortens foreign text for a message.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// record is what the journal keeps of the order.
func (o *order) record(at journal.Stamp) journal.Command {
	return journal.Command{Name: o.Command, Who: o.Who, Transport: o.Transport, Transaction: o.Transaction, Args: string(o.Args), At: at}
}

// takeOrders begins what the panel has: each command is made durable before it acts.
func (l *Loop) takeOrders() {
	commands, notes, unnoted := l.deps.Panel.take()
	for _, o := range notes {
		l.note(o)
	}
	if unnoted > 0 {
		l.event("warn", EventCommand, fmt.Sprintf("%d more commands were refused than can be recorded one by one", unnoted))
	}
	for _, o := range commands {
		if l.phase >= closing {
			l.deps.Panel.answered()
			o.reply(Response{Code: CodeEnding, Message: "the run is ending", Status: l.deps.Panel.Status()})
			continue
		}
		l.takeOrder(o)
	}
}

// EventCommand is the kind of the events that tell of commands.
const EventCommand = "command"

// note records what a transport has refused.
func (l *Loop) note(o *order) {
	c, a := o.record(l.stamp()), answerOf(*o.refusal, l.stamp())
	l.enqueue(due{what: "refused command", write: func(j *journal.Journal) error { return j.Ordered(c, a) }, story: true})
}

func answerOf(r Response, at journal.Stamp) journal.Answer {
	return journal.Answer{OK: r.OK, Code: r.Code, Message: r.Message, At: at}
}

// takeOrder records an order, then carries it out.
func (l *Loop) takeOrder(o *order) {
	c := o.record(l.stamp())
	var id int64
	l.enqueue(due{what: "command " + c.Name,
		write: func(j *journal.Journal) (err error) { id, err = j.Order(c); return err },
		then: func() {
			l.deps.Panel.answered()
			l.carryOut(o, id)
		},
		failed: func(err error) {
			l.deps.Panel.answered()
			o.reply(Response{Code: CodeUnrecorded, Message: fmt.Sprintf("it could not be recorded, and has not acted: %v", err), Status: l.deps.Panel.Status()})
		}})
}

// carryOut has a recorded order act, unless its caller has given up, and records what
// came of it.
func (l *Loop) carryOut(o *order, id int64) {
	r := Response{Code: CodeGivenUp, Message: "the caller gave up before it acted"}
	acts := o.begin()
	if acts {
		r = l.obey(o.Command)
		l.tellOrder(o, r)
	}
	a := answerOf(r, l.stamp())
	l.record("answer to a command", func(j *journal.Journal) error { return j.Answer(id, a) }, nil)
	if acts {
		l.publish(l.now())
		r.Status = l.deps.Panel.Status()
		o.reply(r)
	}
}

// tellOrder adds a command to the run's story.
func (l *Loop) tellOrder(o *order, r Response) {
	if o.Command == CommandStatus {
		return
	}
	text := o.Command + " asked for by " + o.origin()
	if o.reason != "" {
		text += fmt.Sprintf(" (%q)", o.reason)
	}
	l.event("info", EventCommand, text+": "+r.Message)
}

// origin is who asked, and by which way.
func (o *order) origin() string {
	if o.Who == "" {
		return o.Transport
	}
	return fmt.Sprintf("%q over %s", o.Who, o.Transport)
}

// answerStops answers the stops that wait, once the safety layer has had one.
func (l *Loop) answerStops() {
	for _, o := range l.deps.Panel.takeStops() {
		if _, ok := o.check(); !ok {
			o.reason = "" // a stop is never refused for its arguments
		}
		r := Response{OK: true, Code: CodeOK, Message: "stopped: actuators go to their fault states, and the run ends"}
		if l.opt.Mode == plan.Shadow {
			r.Message = "stopped: nothing was driven, and the run ends"
		}
		l.publish(l.now())
		r.Status = l.deps.Panel.Status()
		o.reply(r)
		c, a := o.record(l.stamp()), answerOf(r, l.stamp())
		l.record("stop", func(j *journal.Journal) error { return j.Ordered(c, a) }, nil)
		l.tellOrder(o, r)
	}
}

// obey carries out a command other than stop.
func (l *Loop) obey(command string) Response {
	switch {
	case command == CommandStatus:
		return Response{OK: true, Code: CodeOK, Message: l.stateWords()}
	case l.phase <= booting:
		return Response{Code: CodeStarting, Message: "the run is starting: its devices are being opened and read"}
	case l.phase >= resting:
		return Response{Code: CodeEnding, Message: "the run is ending"}
	case l.opt.Mode == plan.Shadow:
		return Response{Code: CodeDryRun, Message: fmt.Sprintf("a dry run drives nothing: there is nothing to %s", command)}
	}
	now := l.now()
	switch command {
	case CommandPause:
		return l.pause(now)
	case CommandResume:
		return l.resume(now)
	case CommandReset:
		return l.reset(now)
	default:
		return l.setBest()
	}
}

// done says what came of a command that was followed.
func done(format string, args ...any) Response {
	return Response{OK: true, Code: CodeOK, Message: fmt.Sprintf(format, args...)}
}

// pause holds the run where it is.
func (l *Loop) pause(now time.Time) Response {
	switch l.safety.Mode {
	case safety.Run, safety.Hold:
		held := l.safety.Mode == safety.Hold && !l.safety.Paused
		l.pass(now, safety.CommandPause)
		if l.safety.Mode != safety.Hold {
			return Response{Code: CodeConditions, Message: modeWords[l.safety.Mode] + ": " + l.story()}
		}
		if held {
			return done("paused; it was held already: %s", l.causes(l.out.Active))
		}
		return done("paused: every actuator stays where it is until resume")
	default:
		return Response{Code: CodeMode, Message: fmt.Sprintf("%s: nothing runs that could be paused", l.stateWords())}
	}
}

// resume goes on from a hold, a fallback or a reset, when conditions are good. What is
// refused leaves everything as it was.
func (l *Loop) resume(now time.Time) Response {
	commands, goal := []safety.Command{safety.CommandResume}, safety.Run
	switch l.safety.Mode {
	case safety.Run, safety.Armed:
		return done("the run goes on already")
	case safety.Hold:
	case safety.Fallback:
		goal = safety.Armed
	case safety.Init, safety.Idle:
		commands, goal = append(commands, safety.CommandArm), safety.Armed
	default:
		return Response{Code: CodeLatched, Message: fmt.Sprintf("%s: %s: look at the instrument, then reset", modeWords[l.safety.Mode], l.story())}
	}
	if refused, mode := l.rehearse(now, commands...); mode != goal {
		return Response{Code: CodeConditions, Message: l.causes(refused)}
	}
	l.pass(now, commands...)
	if goal == safety.Armed {
		return done("armed; the run goes on with a new step")
	}
	return done("the run goes on")
}

// reset clears a latched trip whose cause has gone. It starts nothing.
func (l *Loop) reset(now time.Time) Response {
	if l.safety.Mode < safety.Tripped {
		if l.safety.Latched.Empty() {
			return done("nothing is latched")
		}
		return Response{Code: CodeMode, Message: fmt.Sprintf("%s: %s: resume acknowledges it", l.stateWords(), l.story())}
	}
	if _, mode := l.rehearse(now, safety.CommandReset); mode == safety.Idle {
		was := l.story()
		l.pass(now, safety.CommandReset)
		return done("cleared: %s; resume starts the run again", was)
	}
	if l.out.Active.Empty() || l.needsRestart() {
		return Response{Code: CodeLatched, Message: fmt.Sprintf("%s: that needs a new start of the program, then a reset", l.story())}
	}
	return Response{Code: CodeConditions, Message: l.causes(l.out.Active)}
}

// needsRestart says that something is latched which this process cannot be trusted after.
func (l *Loop) needsRestart() bool {
	for r, of := range l.safety.Latched {
		if of != 0 && safety.About(safety.Rule(r)).Clear == safety.ClearRestart {
			return true
		}
	}
	return false
}

// setBest ends the search as a stop condition does: at the best setting that the policy
// can defend.
func (l *Loop) setBest() Response {
	switch {
	case l.safety.Mode != safety.Run:
		return Response{Code: CodeMode, Message: fmt.Sprintf("%s: resume first", l.stateWords())}
	case l.reason != "" || l.wantBest:
		return done("the run is on its way there already")
	case l.best == nil:
		return Response{Code: CodeConditions, Message: "no step has given data yet: there is no best setting"}
	}
	l.wantBest = true
	if l.phase != concluding { // else the step is about to end by itself
		l.abandonStep("set-best: the search ends")
		l.next()
	}
	if l.opt.Verify.Pairs > 0 {
		return done("the search ends: the best setting it can defend is measured against the starting one, then the run goes there")
	}
	return done("the search ends: the run goes to the best setting it can defend")
}

// rehearse asks the safety layer what commands would come to, and changes nothing: what
// keeps the last of them from being followed, and the mode.
func (l *Loop) rehearse(now time.Time, commands ...safety.Command) (refused safety.Causes, mode safety.Mode) {
	state, p := l.safety, l.proposal()
	var out safety.Output
	for _, c := range commands {
		in := l.inputs(now, c)
		state, out = safety.Step(&l.limits, state, &in, &p, l.safeTime(now))
	}
	return out.Refused, state.Mode
}

// pass gives commands to the safety layer, and follows it.
func (l *Loop) pass(now time.Time, commands ...safety.Command) {
	for _, c := range commands {
		l.guard(now, c)
	}
	l.heed(now)
}
