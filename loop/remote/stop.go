package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

// Urgent takes stops, ahead of whatever waits and of the rate limit. It reports whether
// it has taken m.
//
// A stop needs no payload, no session, no signature and no expiry. One that is retained is
// refused: it would end every run at once. One that names a session or an expiry is held to
// them, because its sender asks for that. Anything else acts, whatever its payload is.
func (r *Remote) Urgent(m Message) bool {
	if name, _ := r.o.Topics.commandOf(m.Topic); name != control.CommandStop {
		return false
	}
	select {
	case r.stops <- m:
	default: // as many wait already, and each of them stops the run
	}
	return true
}

// carryOutStops stops the run.
func (r *Remote) carryOutStops(ctx context.Context) {
	for {
		select {
		case m := <-r.stops:
			r.stop(ctx, m)
		case <-ctx.Done():
			return
		}
	}
}

func (r *Remote) stop(ctx context.Context, m Message) {
	now := r.o.Now()
	in := incoming{name: control.CommandStop}
	if no := r.readStop(&in, m, now); no != nil {
		if no.code != "" {
			r.answerRefusal(in, *no, now)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	r.finish(in, r.panel.Do(ctx, request(in)))
}

// readStop finds what a stop says about itself. Only the retain flag, a session that is
// over, an expiry that has passed and a repeat keep it from acting.
func (r *Remote) readStop(in *incoming, m Message, now time.Time) *refusal {
	if m.Retained {
		return refuse(CodeRetained, "a retained stop is refused: it would end every run; publish it without the retain flag. "+
			"Take this one away when no tuner is connected: the empty message that does so is a stop to one that is")
	}
	if len(m.Payload) > MaxPayload {
		return nil
	}
	if r.open(in, m) != nil { // unsigned or malformed: take what can be read of it
		in.Command, in.who = Command{}, ""
		var loose wireCommand
		if json.Unmarshal(bytes.TrimSpace(m.Payload), &loose) != nil {
			return nil
		}
		in.Session = loose.Session
		if control.CheckTransaction(loose.Transaction) == nil {
			in.Transaction = loose.Transaction
		}
		if loose.ExpiresMS != nil && *loose.ExpiresMS > 0 && *loose.ExpiresMS <= MaxExpiry.Milliseconds() {
			in.Expires = time.Duration(*loose.ExpiresMS) * time.Millisecond
			in.Issued, _ = time.Parse(time.RFC3339Nano, loose.Issued) // none: from its arrival
		}
	}
	if in.Transaction != "" {
		if no := r.repeat(*in); no != nil && no.code == "" {
			return no
		}
	}
	return r.timely(in, now)
}
