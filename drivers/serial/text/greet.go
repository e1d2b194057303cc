package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Greet implements protocol.Protocol. The instrument may hold the first half of a command
// whose second half a broken cable swallowed, and answers to earlier questions
// may still be on their way. So:
//
//	spoil text and terminator   the half command ends as one that means nothing
//	silence                     whatever that was answered is thrown away
//	identify                    the right instrument answers. Instruments answer in
//	                            order: after this answer no earlier one can come,
//	                            unless it answers an earlier identify; then silence
//	                            comes before the next
//	init                        its settings, which a restart may have undone
//	error queue                 empty, so that later errors are ours
func (t *Protocol) Greet(ctx context.Context, l *protocol.Line) error {
	l.Buf = nil
	if t.coded {
		l.Restarts = ezoRestarts()
	}
	for i := range t.taken {
		t.taken[i] = math.NaN() // it may have restarted
	}
	fresh := !l.Spoken
	if *t.Spoil != "" {
		if err := l.Put(*t.Spoil + *t.OutTerminator); err != nil {
			return err
		}
	}
	if t.coded {
		if err := l.Put(ezoQuiet + *t.OutTerminator); err != nil {
			return err
		}
	}
	if t.identify == nil {
		// Without a question that tells, only a long silence shows that nothing more
		// is coming.
		l.Spoken = !fresh
		if err := l.Hush(ctx); err != nil {
			return err
		}
	} else if _, err := l.Drain(ctx, t.timing.ReadTimeout); err != nil {
		return err
	}
	if err := t.recognise(ctx, l); err != nil {
		return err
	}
	for _, r := range t.init {
		if err := t.prepare(ctx, l, r); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	if err := t.complaints(ctx, l); err != nil {
		if !protocol.Refused(err) {
			return err
		}
		l.Log.Warn("the instrument had errors from before", "errors", err)
	}
	return nil
}

// lateAnswers is how many lines may come before the answer to identify: one for
// each retry of a question, and one for the spoilt command.
const lateAnswers = 12

// recognise asks who answers. Answers to earlier questions may come first.
func (t *Protocol) recognise(ctx context.Context, l *protocol.Line) error {
	if t.identify == nil {
		return nil
	}
	var err error
	for range 1 + t.timing.Retries {
		if l.Owed {
			// With two such questions open, the first answer would not be the last.
			if err := l.Hush(ctx); err != nil {
				return err
			}
		}
		if err = t.send(ctx, l, t.Identify.Out); err != nil {
			return err
		}
		l.Owed = true
		var heard []string
		for range lateAnswers {
			var text string
			if text, err = t.receive(ctx, l, t.timing.ReplyTimeout); err != nil {
				break
			}
			if t.identify.MatchString(text) {
				l.Owed = false
				return t.settle(ctx, l)
			}
			if !t.coded || !strings.HasPrefix(text, "*") {
				heard = append(heard, wire.Quote([]byte(text)))
			}
		}
		if err != nil && !protocol.Suspicious(err) && !protocol.Refused(err) {
			return err
		}
		if len(heard) > 0 {
			err = fmt.Errorf("%w: to %q it answers %s, and nothing that matches %q; is another instrument on this port?",
				drivers.ErrProtocol, t.Identify.Out, strings.Join(heard, ", "), t.Identify.Match)
		} else {
			err = fmt.Errorf("to %q: %w", t.Identify.Out, err)
		}
	}
	return err
}

// settle clears what belongs to the greeting still: the code that ends the answer
// where there are codes, and what came twice.
func (t *Protocol) settle(ctx context.Context, l *protocol.Line) error {
	n, err := l.Port.Waiting()
	if err != nil || !t.coded && n+len(l.Buf) == 0 {
		return err
	}
	_, err = l.Drain(ctx, t.timing.ReadTimeout)
	return err
}

// prepare sends one line of init; since it moves nothing, it may be repeated.
func (t *Protocol) prepare(ctx context.Context, l *protocol.Line, r ready) error {
	var err error
	for range 1 + t.timing.Retries {
		if err = t.exchange(ctx, l, r); err == nil || !protocol.Suspicious(err) {
			return err
		}
		if _, err := l.Drain(ctx, t.timing.ReadTimeout); err != nil {
			return err
		}
	}
	return err
}

// complaints reads the error queue until it is empty.
func (t *Protocol) complaints(ctx context.Context, l *protocol.Line) error {
	if t.ok == nil {
		return nil
	}
	var errs []string
	for range t.Errors.Most {
		if err := protocol.GiveWay(ctx); err != nil {
			return err
		}
		answer, err := t.question(ctx, l, &question{out: t.Errors.Out, timeout: t.timing.ReplyTimeout})
		if err != nil {
			return err
		}
		if t.ok.MatchString(answer) {
			if len(errs) == 0 {
				return nil
			}
			return fmt.Errorf("%w: its errors are %s", drivers.ErrRefused, strings.Join(errs, ", "))
		}
		errs = append(errs, wire.Quote([]byte(answer)))
	}
	return errors.Join(protocol.ErrMismatch, fmt.Errorf("after %d answers to %q none says that there is no error more (%q); the first was %s",
		t.Errors.Most, t.Errors.Out, t.Errors.OK, errs[0]))
}
