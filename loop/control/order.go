package control

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/labtuner/tuner/loop/journal"
)

// Order is a request on its way through the loop.
type Order struct {
	Request
	// Reason is why, for the record.
	Reason string
	// Answer takes one Response; nil where nobody waits.
	Answer chan Response
	// Refusal, if any, is what the transport has said: the order is only recorded.
	Refusal *Response
	// state is one of the order states: whoever changes it from waiting decides.
	state atomic.Int32
}

const (
	orderWaits int32 = iota
	orderActs
	orderGivenUp
)

func (o *Order) Begin() bool { return o.state.CompareAndSwap(orderWaits, orderActs) }

func (o *Order) giveUp() bool { return o.state.CompareAndSwap(orderWaits, orderGivenUp) }

func (o *Order) Reply(r Response) {
	if o.Answer != nil {
		o.Answer <- r // there is room for one, and there is one
	}
}

// reasonMax bounds the text that is recorded with a command, in bytes.
const reasonMax = 200

// Check refuses what cannot be carried out whatever the run does.
func (o *Order) Check() (Response, bool) {
	if !slices.Contains(Commands(), o.Command) {
		return Response{Code: CodeUnknown, Message: fmt.Sprintf("there is no command %q; there are %s", Clip(o.Command), strings.Join(Commands(), ", "))}, false
	}
	if o.Command == CommandTry {
		return o.checkTry()
	}
	if IsEdit(o.Command) {
		return o.checkEdit()
	}
	if len(bytes.TrimSpace(o.Args)) == 0 {
		return Response{}, true
	}
	var args argsOf
	if err := decode(o.Args, &args); err != nil {
		return o.badArgs(err, `{"reason": TEXT}`)
	}
	return o.takeReason(args.Reason)
}

// checkTry refuses a try that says nothing to be tried.
func (o *Order) checkTry() (Response, bool) {
	if _, err := ParseTry(o.Args); err != nil {
		return o.badArgs(err, `{"values": {NAME: NUMBER}, "rest": "recommended" or "present", "shots": N, "times": N, "reason": TEXT}`)
	}
	var args tryArgs
	_ = decode(o.Args, &args) // it was read above
	return o.takeReason(args.Reason)
}

func (o *Order) badArgs(err error, takes string) (Response, bool) {
	return Response{Code: CodeArgs, Message: fmt.Sprintf("args of %s: %v; it takes %s", o.Command, err, takes)}, false
}

// takeReason keeps why, if it is short enough for the record.
func (o *Order) takeReason(reason string) (Response, bool) {
	if len(reason) > reasonMax {
		return Response{Code: CodeArgs, Message: fmt.Sprintf("args.reason has %d bytes; at most %d are kept", len(reason), reasonMax)}, false
	}
	o.Reason = reason
	return Response{}, true
}

// TransactionMax bounds the sender's name for a command, in bytes.
const TransactionMax = 64

// CheckTransaction refuses a name that could be taken for another, or not be shown.
func CheckTransaction(name string) error {
	if name == "" {
		return errors.New("transaction is missing: a name of your own for this command, such as a UUID")
	}
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == ':')
	}
	if len(name) > TransactionMax || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("transaction is %q and must be 1 to %d letters, digits and -_.:", Clip(name), TransactionMax)
	}
	return nil
}

// Clip shortens foreign text for a message.
func Clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Record is what the journal keeps of the order.
func (o *Order) Record(at journal.Stamp) journal.Command {
	return journal.Command{Name: o.Command, Who: o.Who, Transport: o.Transport, Transaction: o.Transaction, Args: string(o.Args), At: at}
}

func AnswerOf(r Response, at journal.Stamp) journal.Answer {
	return journal.Answer{OK: r.OK, Code: r.Code, Message: r.Message, At: at}
}

// Origin is who asked, and by which way.
func (o *Order) Origin() string { return OriginOf(o.Who, o.Transport) }

// OriginOf is who asked, and by which way.
func OriginOf(who, transport string) string {
	if who == "" {
		return transport
	}
	return fmt.Sprintf("%q over %s", who, transport)
}
