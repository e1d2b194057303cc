package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// The codes of refusals, beside loop's.
const (
	codeOK        = control.CodeOK
	CodeRetained  = "retained"
	CodeOversize  = "oversize"
	CodeRate      = "rate"
	CodeUnsigned  = "unsigned"
	CodeSignature = "signature"
	CodeMalformed = "malformed"
	// CodeTransaction: the transaction was another command's.
	CodeTransaction = "transaction"
	CodeSession     = "session"
	CodeExpired     = "expired"
	// CodeReplay: a signed command whose number is not above the last one.
	CodeReplay = "replay"
)

// codesHere lists the codes of refusals that this package makes.
func codesHere() []string {
	return []string{CodeRetained, CodeOversize, CodeRate, CodeUnsigned, CodeSignature, CodeMalformed,
		CodeTransaction, CodeSession, CodeExpired, CodeReplay}
}

// firstDay is before this program was: a clock that shows less has never been set, and
// nothing is judged by it.
var firstDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Answer is what the sender of a command gets.
type Answer struct {
	control.Answer
	// State is the run's just after. Repeated says that this is the answer of an earlier
	// time, and nothing was done now.
	State    string    `json:"state"`
	Repeated bool      `json:"repeated,omitempty"`
	At       time.Time `json:"at"`
	// Data is the whole status, for the command status.
	Data *control.Status `json:"data,omitempty"`
}

// incoming is a command that came in.
type incoming struct {
	name string
	Command
	who string
	// until is when it expires, by the clock of Options.
	until time.Time
}

// refusal is why a command does not act.
type refusal struct{ code, message string }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// Handle judges a command and queues it, or answers why it is refused.
func (r *Remote) Handle(m Message) {
	now := r.o.Now()
	if !r.admit(m, now) {
		return
	}
	in, no := r.check(m, now)
	if no == nil {
		no = r.enqueue(in)
	}
	if no != nil && no.code != "" {
		r.answerRefusal(in, *no, now)
	}
}

// admit applies the rate limit. What is beyond it is counted and gets no answer: an
// answer to each would be a flood as well.
func (r *Remote) admit(m Message, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.rate.allow(now) {
		r.unheard++
		return false
	}
	if n := r.unheard; n > 0 {
		r.unheard = 0
		r.o.Log.Warn("commands come faster than they are taken", slog.Int("dropped", n), slog.Int("rate", commandRate))
		name, _ := r.o.Topics.commandOf(m.Topic)
		r.record(control.Request{Command: name, Transport: transport}, refusal{CodeRate, fmt.Sprintf("%d commands came faster than %d a second", n, commandRate)}, now)
	}
	return true
}

// check decides whether a command may act. A repeat is answered here and gives the empty
// refusal.
func (r *Remote) check(m Message, now time.Time) (incoming, *refusal) {
	name, known := r.o.Topics.commandOf(m.Topic)
	in := incoming{name: name}
	switch {
	case !known:
		in.name = control.Clip(strings.TrimPrefix(m.Topic, r.o.Topics.Command("")))
		return in, refuse(control.CodeUnknown, "there is no command %q; there are %s", in.name, strings.Join(control.Commands(), ", "))
	case m.Retained:
		return in, refuse(CodeRetained, "a retained command is refused: it would act at every start; publish it without the retain flag")
	case len(m.Payload) > MaxPayload:
		return in, refuse(CodeOversize, "the command has %d bytes or more; at most %d are taken", len(m.Payload), MaxPayload)
	}
	if no := r.open(&in, m); no != nil {
		in.Command = Command{Transaction: lenientTransaction(m.Payload)} // so that its sender knows the answer
		return in, no
	}
	if answered := r.repeat(in); answered != nil {
		return in, answered
	}
	if no := r.timely(&in, now); no != nil {
		return in, no
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if in.who != "" && !r.cache.fresh(in.Key, in.Session, in.Seq) {
		return in, refuse(CodeReplay, "seq %d of key %q is not above the last one: sign each command again", in.Seq, in.Key)
	}
	return in, nil
}

// open reads the payload, and its signature where keys are configured.
func (r *Remote) open(in *incoming, m Message) *refusal {
	var err error
	switch {
	case r.o.Keys != nil && isSigned(m.Payload):
		if in.Command, err = r.o.Keys.open(m.Topic, m.Payload); err == nil {
			in.who = in.Key
		}
	case r.o.Keys != nil && in.name != control.CommandStatus:
		return refuse(CodeUnsigned, "commands must be signed with one of the keys that the tuner knows")
	default:
		in.Command, err = parseCommand(m.Payload)
	}
	switch {
	case errors.Is(err, errForged):
		return refuse(CodeSignature, "%v: the key, the topic or a byte of the command is not the one that was signed", err)
	case err != nil:
		return refuse(CodeMalformed, "%v", err)
	}
	return nil
}

// lenientTransaction is the transaction of a payload that is refused, "" where it has none
// that could be shown.
func lenientTransaction(payload []byte) string {
	if isSigned(payload) {
		head, _, _ := bytes.Cut(payload, []byte("."))
		payload, _ = base64.RawURLEncoding.DecodeString(string(head)) // what cannot be decoded is no JSON either
	}
	var loose struct {
		Transaction string `json:"transaction"`
	}
	if json.Unmarshal(payload, &loose) != nil || control.CheckTransaction(loose.Transaction) != nil {
		return ""
	}
	return loose.Transaction
}

// repeat answers a transaction that is known already; the refusal it returns is then the
// empty one, which needs no answer any more.
func (r *Remote) repeat(in incoming) *refusal {
	r.mu.Lock()
	known, there := r.cache.answers[in.Transaction]
	r.mu.Unlock()
	switch {
	case !there:
		return nil
	case known.command != in.name:
		return refuse(CodeTransaction, "transaction %q was a %s: each command needs a name of its own", in.Transaction, known.command)
	case known.pending:
		return &refusal{} // its answer is on the way
	}
	again := known.answer
	again.Repeated = true
	r.answer(again)
	return &refusal{}
}

// timely refuses what is meant for another session, or comes too late.
func (r *Remote) timely(in *incoming, now time.Time) *refusal {
	switch {
	case in.Session == r.o.Session:
	case in.Session == "" && (in.name == control.CommandStatus || in.name == control.CommandStop):
	case in.Session == "":
		return refuse(CodeSession, "session is missing: it stands in %s", r.o.Topics.Status())
	default:
		return refuse(CodeSession, "it is meant for session %q, which has ended; the present one stands in %s", control.Clip(in.Session), r.o.Topics.Status())
	}
	in.until = now.Add(in.Expires)
	if in.Issued.IsZero() || now.Before(firstDay) {
		return nil
	}
	age := now.Round(0).Sub(in.Issued)
	switch {
	case age > in.Expires:
		return refuse(CodeExpired, "it was issued %v ago and expired after %v", age.Round(time.Millisecond), in.Expires)
	case age < -in.Expires:
		return refuse(CodeExpired, "it was issued %v from now by its sender's clock: set the clocks, or leave issued out", (-age).Round(time.Millisecond))
	}
	in.until = now.Add(min(in.Expires-age, in.Expires))
	return nil
}

// enqueue hands a command to the worker and remembers that it has come.
func (r *Remote) enqueue(in incoming) *refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.commands <- in:
	default:
		return refuse(control.CodeBusy, "%d commands wait already: try again in a second; a stop is never refused", commandQueue)
	}
	r.cache.remember(in.Transaction, remembered{command: in.name, pending: true})
	if in.who != "" {
		r.cache.seqs[in.Key] = controlstate.CommandSeq{Key: in.Key, Session: in.Session, Seq: in.Seq}
	}
	return nil
}

// carryOutCommands has the run carry out one command after the other.
func (r *Remote) carryOutCommands(ctx context.Context) {
	for {
		select {
		case in := <-r.commands:
			r.carryOut(ctx, in)
		case <-ctx.Done():
			return
		}
	}
}

func (r *Remote) carryOut(ctx context.Context, in incoming) {
	left := in.until.Sub(r.o.Now())
	if left <= 0 {
		r.forget(in, refusal{CodeExpired, "it expired while others were carried out"})
		return
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	r.finish(in, r.panel.Do(ctx, request(in)))
}

func request(in incoming) control.Request {
	return control.Request{Command: in.name, Who: in.who, Transport: transport, Transaction: in.Transaction, Args: in.Args}
}

// transport is this way's name in the journal.
const transport = "mqtt"

// finish remembers and sends what came of a command.
func (r *Remote) finish(in incoming, came control.Response) {
	a := r.answerOf(in, came)
	r.mu.Lock()
	if in.Transaction != "" {
		r.cache.remember(in.Transaction, remembered{command: in.name, answer: a})
	}
	r.panel.Remember(r.cache.snapshot())
	r.mu.Unlock()
	if in.name == control.CommandStatus {
		a.Data = came.Status
	}
	r.answer(a)
}

// forget answers a command that was taken and does not act after all.
func (r *Remote) forget(in incoming, no refusal) {
	now := r.o.Now()
	r.mu.Lock()
	r.record(request(in), no, now)
	r.mu.Unlock()
	r.finish(in, control.Response{Code: no.code, Message: no.message})
}

func (r *Remote) answerOf(in incoming, came control.Response) Answer {
	return Answer{Answer: came.AnswerTo(request(in), r.o.Session), State: r.panel.Status().State, At: r.o.Now().Round(0).UTC()}
}

// answer sends a.
func (r *Remote) answer(a Answer) {
	r.out.put(Message{Topic: r.o.Topics.Response(a.Command), Payload: encode(a), QoS: 1})
}

// answerRefusal sends and records why a command is refused. What was asked for under a
// name that is no command is answered on no topic.
func (r *Remote) answerRefusal(in incoming, no refusal, now time.Time) {
	r.mu.Lock()
	r.record(request(in), no, now)
	r.mu.Unlock()
	if slices.Contains(control.Commands(), in.name) {
		r.answer(r.answerOf(in, control.Response{Code: no.code, Message: no.message}))
	}
}

// record has the journal keep a refusal; r.mu is held.
func (r *Remote) record(q control.Request, no refusal, now time.Time) {
	r.o.Log.Warn("command refused", slog.String("command", q.Command), slog.String("code", no.code), slog.String("why", no.message))
	if !r.audit.allow(now) {
		r.unaudited++
		return
	}
	if n := r.unaudited; n > 0 {
		r.unaudited = 0
		no.message += fmt.Sprintf(" (and %d refusals before it were not recorded)", n)
	}
	r.panel.Refused(q, control.Response{Code: no.code, Message: no.message})
}
