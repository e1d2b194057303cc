package control

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// Panel is what the world outside of the loop's goroutine has of a run: commands go in
// by Do, and Status, events and concluded steps come out. Every method may be called
// from any goroutine, before, during and after the run; none of them makes the loop
// wait. One Panel serves one run.
//
//	Do ──> queue (64) ──> recorded ──> acts ──> answer recorded, returned
//	Do(stop) ───────────> acts ──────> recorded, returned
//
// A stop acts before any command and any reading that waits. Every other command is
// durable in the journal's table command before it acts, so that whatever happened to
// an instrument can be traced to who asked for it. A command whose caller has given up
// (the context has ended) does not act any more.
type Panel struct {
	reachable atomic.Bool
	// Stop asks for a stop; bell has a token when something waits.
	stop     atomic.Bool
	bell     chan struct{}
	status   atomic.Pointer[Status]
	pictures pictures
	// memory is what a transport wants kept over a restart, unsaved that it is newer than the
	// control state.
	memory  atomic.Pointer[controlstate.CommandMemory]
	unsaved atomic.Bool
	// over is closed when the run has ended.
	over     chan struct{}
	overOnce sync.Once

	mu sync.Mutex
	// queue holds commands in the order of their arrival, stops those stops that wait for
	// their answer, notes what was refused before it came here.
	queue, stops, notes []*Order
	// told are the events that transports have to publish.
	told []string
	// inHand counts the commands that the loop has taken and not answered, unnoted the
	// notes that found no room.
	inHand, unnoted int
	subs            []*Subscription
	ended           bool
}

// NewPanel returns a panel of a run that has not begun. session names this process's run:
// a random text that dies with it, so that a command meant for another session can be
// told.
func NewPanel(session string) *Panel {
	p := &Panel{bell: make(chan struct{}, 1), over: make(chan struct{}), pictures: pictures{renewed: make(chan struct{}, 1)}}
	p.status.Store(&Status{Session: session, State: StateStarting, Phase: "opening"})
	return p
}

// The commands. A stop makes safe: every actuator to its safe value, now. An end is quiet:
// each to its shutdown state.
const (
	CommandPause   = "pause"
	CommandResume  = "resume"
	CommandStop    = "stop"
	CommandReset   = "reset"
	CommandSetBest = "set-best"
	CommandEnd     = "end"
	CommandTry     = "try"
	CommandStatus  = "status"
	// These change what decisions go by: see Edit.
	CommandStrike   = "strike"
	CommandUnstrike = "unstrike"
	CommandNarrow   = "narrow"
	CommandWiden    = "widen"
	CommandFreeze   = "freeze"
	CommandFree     = "free"
	CommandChange   = "change"
)

// Commands lists all of them.
func Commands() []string {
	return []string{CommandPause, CommandResume, CommandStop, CommandReset, CommandSetBest, CommandEnd, CommandTry, CommandStrike, CommandUnstrike,
		CommandNarrow, CommandWiden, CommandFreeze, CommandFree, CommandChange, CommandStatus}
}

// Request is a command to a running loop.
type Request struct {
	// Command is one of Commands.
	Command string
	// Who asks, as far as the transport can tell; "" where it cannot. Transport is
	// "mqtt", "web", "signal" or "cli".
	Who, Transport string
	// Transaction is the sender's name for this request; the panel only records it.
	Transaction string
	// Args is a JSON object or empty. Every command takes {"reason": TEXT}: why, for the
	// record, at most 200 bytes; CommandTry what Try has, those that change what decisions go by
	// what Edit has. Any other member is refused.
	Args json.RawMessage
}

// Response is the answer to a Request.
type Response struct {
	// OK says that the command was followed. Code is one word for programs (see the Code
	// constants), Message the same for people: where the command was refused, which
	// interlock, sensor or latch is the reason.
	OK      bool
	Code    string
	Message string
	// Status is as it was just after the command.
	Status *Status
}

// Answer is a Response on the wire, by whatever way; each way adds to it.
type Answer struct {
	// Transaction is the sender's name for the command, Session the run that was asked.
	Transaction string `json:"transaction"`
	Session     string `json:"session"`
	Command     string `json:"command"`
	// OK says that the command was followed; Code and Message what came of it.
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// AnswerTo is the answer of a session to a request.
func (r Response) AnswerTo(q Request, session string) Answer {
	return Answer{q.Transaction, session, q.Command, r.OK, r.Code, r.Message}
}

// The codes of a Response.
const (
	CodeOK = "ok"
	// CodeUnknown: there is no such command. CodeArgs: its arguments cannot be read.
	CodeUnknown = "unknown-command"
	CodeArgs    = "bad-args"
	// CodeConditions: what must be healthy first is not. CodeLatched: a trip must be reset
	// first. CodeMode: it has no meaning in the mode that the run is in.
	CodeConditions = "conditions"
	CodeLatched    = "latched"
	CodeMode       = "mode"
	// CodeDryRun: a dry run drives nothing.
	CodeDryRun = "dry-run"
	// CodeStarting and CodeEnding: the run cannot take it yet, or any more.
	CodeStarting = "starting"
	CodeEnding   = "ending"
	// CodeBusy: too many commands wait. CodeGivenUp: the caller's context ended before it
	// acted; it has not. CodeUnrecorded: it could not be recorded; it has not acted.
	// CodeUnanswered: a stop was given, or a command acts, and the loop has not said so in time.
	CodeBusy       = "busy"
	CodeGivenUp    = "given-up"
	CodeUnrecorded = "unrecorded"
	CodeUnanswered = "unanswered"
)

// Codes lists all of them.
func Codes() []string {
	return []string{CodeOK, CodeUnknown, CodeArgs, CodeConditions, CodeLatched, CodeMode, CodeDryRun, CodeStarting, CodeEnding,
		CodeBusy, CodeGivenUp, CodeUnrecorded, CodeUnanswered}
}

// PanelMax bounds the commands that wait for their answer, the stops that do, and the
// refusals that wait to be recorded. Not fewer: two people and a dashboard
// may press at once. Not more: each must become durable before the next one acts.
const PanelMax = 64

// actsGrace is how much longer Do waits for the answer of a command that acts already, whose
// record may wait for the disk.
const actsGrace = 2 * time.Second

// Do has the loop carry out a command and returns what came of it, or CodeGivenUp when
// ctx ends before the command has acted. A stop acts whatever else waits and whatever
// becomes of ctx; its answer follows.
func (p *Panel) Do(ctx context.Context, r Request) Response {
	o := p.Post(r)
	select {
	case a := <-o.Answer:
		return a
	case <-p.over:
	case <-ctx.Done():
		if o.giveUp() {
			return Response{Code: CodeGivenUp, Message: "no answer in time: the command was withdrawn and has not acted", Status: p.Status()}
		}
		if r.Command == CommandStop {
			return Response{Code: CodeUnanswered, Message: "the stop was given, and no answer came in time", Status: p.Status()}
		}
		select { // it acts already
		case a := <-o.Answer:
			return a
		case <-p.over:
		case <-time.After(actsGrace):
			return Response{Code: CodeUnanswered, Message: "it acts, and no answer came in time: the journal's disk may hold it", Status: p.Status()}
		}
	}
	select {
	case a := <-o.Answer:
		return a
	default:
		return Response{Code: CodeEnding, Message: "the run has ended", Status: p.Status()}
	}
}

// Post is Do for one who does not wait: the order's Answer takes what comes of it.
func (p *Panel) Post(r Request) *Order {
	o := &Order{Request: r, Answer: make(chan Response, 1)}
	if r.Command == CommandStop {
		o.Begin() // it cannot be withdrawn
	} else if bad, ok := o.Check(); !ok {
		p.Refused(r, bad)
		bad.Status = p.Status()
		o.Reply(bad)
		return o
	}
	if bad, ok := p.put(o); !ok {
		bad.Status = p.Status()
		o.Reply(bad)
	}
	return o
}

// put queues an order and wakes the loop.
func (p *Panel) put(o *Order) (Response, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, waiting := &p.queue, len(p.queue)+p.inHand
	if o.Command == CommandStop {
		list, waiting = &p.stops, len(p.stops)
		defer p.AskStop() // once it is listed: the loop takes the list when it is asked
	}
	switch {
	case p.ended:
		return Response{Code: CodeEnding, Message: "the run has ended"}, false
	case waiting >= PanelMax && o.Command == CommandStop:
		return Response{OK: true, Code: CodeOK, Message: "a stop is under way"}, false
	case waiting >= PanelMax:
		return Response{Code: CodeBusy, Message: "too many commands wait: try again in a second; a stop is never refused"}, false
	}
	*list = append(*list, o)
	p.ring()
	return Response{}, true
}

// Refused records a command that its transport has refused, as one that is expired or
// not signed: it acts on nothing. It never waits; when too many refusals wait to be
// recorded, the others are counted and recorded as one.
func (p *Panel) Refused(r Request, because Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if len(p.notes) >= PanelMax {
		p.unnoted++
		return
	}
	p.notes = append(p.notes, &Order{Request: r, Refusal: &because})
	p.ring()
}

// Tell has the loop tell and record what a transport has seen, as an event of the run. It
// never waits; what finds no room stands in the transport's log alone.
func (p *Panel) Tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || len(p.told) >= PanelMax {
		return
	}
	p.told = append(p.told, text)
	p.ring()
}

// TakeTold empties the list of what transports have to tell.
func (p *Panel) TakeTold() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.told
	p.told = nil
	return told
}

// AskStop has the run stop, and returns at once: nobody hears what came of it.
func (p *Panel) AskStop() {
	p.stop.Store(true)
	p.ring()
}

func (p *Panel) ring() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// Status is the run as it was after the loop's last tick; it is never nil and nobody
// changes it. Before the first tick it holds the session alone.
func (p *Panel) Status() *Status { return p.status.Load() }

// Done is closed when the run has ended and its last Status is there.
func (p *Panel) Done() <-chan struct{} { return p.over }

// MakeReachable says that people can send commands to this run. Then one that has fallen
// back or tripped stays, with its actuators in their fault states, until a person resets
// and resumes it; else it ends.
func (p *Panel) MakeReachable() { p.reachable.Store(true) }

// Remember has m kept in the control state, soon. Nobody may change it any more. A run
// without a control state forgets it.
func (p *Panel) Remember(m *controlstate.CommandMemory) {
	p.memory.Store(m)
	p.unsaved.Store(true)
}

// TakeUnsaved reports whether there is something to be kept, and forgets it.
func (p *Panel) TakeUnsaved() bool { return p != nil && p.unsaved.Swap(false) }

// Remembered is what a transport wants kept, or else before.
func (p *Panel) Remembered(before *controlstate.CommandMemory) *controlstate.CommandMemory {
	if p != nil {
		if m := p.memory.Load(); m != nil {
			return m
		}
	}
	return before
}

// IsReachable is false for a nil panel.
func (p *Panel) IsReachable() bool { return p != nil && p.reachable.Load() }

// StopAsked reports whether a stop has been asked for, and forgets it: the latch
// remembers.
func (p *Panel) StopAsked() bool { return p != nil && p.stop.Swap(false) }

// StopWaits reports the same and forgets nothing.
func (p *Panel) StopWaits() bool { return p != nil && p.stop.Load() }

// Rings is a channel that has a token when something waits.
func (p *Panel) Rings() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.bell
}

// TakeOrders empties the queue of commands and that of refusals; unnoted is how many of the
// latter found no room.
func (p *Panel) TakeOrders() (commands, notes []*Order, unnoted int) {
	if p == nil {
		return nil, nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	commands, notes, unnoted = p.queue, p.notes, p.unnoted
	p.queue, p.notes, p.unnoted = nil, nil, 0
	p.inHand += len(commands)
	return commands, notes, unnoted
}

// Answered makes room for another command.
func (p *Panel) Answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inHand--
}

// TakeStops empties the list of stops that wait for their answer.
func (p *Panel) TakeStops() []*Order {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	stops := p.stops
	p.stops = nil
	return stops
}

// End tells everybody that the run is over.
func (p *Panel) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.ended = true
	p.queue, p.notes, p.stops = nil, nil, nil
	for _, s := range p.subs {
		s.end()
	}
	p.subs = nil
	p.mu.Unlock()
	p.overOnce.Do(func() { close(p.over) })
}

// Show replaces the status by s, which nobody changes any more.
func (p *Panel) Show(s *Status) { p.status.Store(s) }
