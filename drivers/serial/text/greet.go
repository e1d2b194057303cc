package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
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
	return t.forgive(ctx, l)
}

// commandError is an entry of an error queue that says that a command was not understood: SCPI's
// codes -100 to -199 (SCPI 1999, 21.8.9).
var commandError = regexp.MustCompile(`^-1\d\d\b`)

// forgive empties the error queue. That the spoil text was not understood is what it is for: one
// such entry is no error of the instrument. What else is there is from before, or of init.
func (t *Protocol) forgive(ctx context.Context, l *protocol.Line) error {
	errs, err := t.errorQueue(ctx, l)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(errs, commandError.MatchString); i >= 0 && *t.Spoil != "" {
		l.Log.Debug("the instrument has not understood what spoils a half-written command, as it should", "error", errs[i])
		errs = slices.Delete(errs, i, i+1)
	}
	if len(errs) > 0 {
		l.Log.Warn("the instrument had errors from before, or from init", "errors", quoted(errs))
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
				return t.endGreeting(ctx, l)
			}
			if !t.coded || !strings.HasPrefix(text, "*") {
				heard = append(heard, wire.Quote([]byte(text)))
			}
		}
		if err != nil && !protocol.Suspicious(err) && !protocol.Refused(err) {
			return err
		}
		spent := l.Spent(err)
		if len(heard) > 0 {
			err = fmt.Errorf("%w: to %q it answers %s, and nothing that matches %q; is another instrument on this port?",
				drivers.ErrProtocol, t.Identify.Out, strings.Join(heard, ", "), t.Identify.Match)
		} else {
			err = fmt.Errorf("to %q: %w", t.Identify.Out, err)
		}
		if spent {
			return err
		}
	}
	return err
}

// endGreeting clears what belongs to the greeting still: the code that ends the answer
// where there are codes, and what came twice.
func (t *Protocol) endGreeting(ctx context.Context, l *protocol.Line) error {
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
		if err = t.exchange(ctx, l, r); err == nil || !protocol.Suspicious(err) || l.Spent(err) {
			return err
		}
		if _, err := l.Drain(ctx, t.timing.ReadTimeout); err != nil {
			return err
		}
	}
	return err
}

// complaints reads the error queue until it is empty; what it held is an error.
func (t *Protocol) complaints(ctx context.Context, l *protocol.Line) error {
	errs, err := t.errorQueue(ctx, l)
	if err == nil && len(errs) > 0 {
		err = fmt.Errorf("%w: its errors are %s", drivers.ErrRefused, quoted(errs))
	}
	return err
}

func quoted(errs []string) string {
	var all []string
	for _, e := range errs {
		all = append(all, wire.Quote([]byte(e)))
	}
	return strings.Join(all, ", ")
}

// errorQueue takes out what the error queue holds, the oldest first.
func (t *Protocol) errorQueue(ctx context.Context, l *protocol.Line) (errs []string, err error) {
	if t.ok == nil {
		return nil, nil
	}
	for range t.Errors.Most {
		if err := protocol.GiveWay(ctx); err != nil {
			return nil, err
		}
		answer, err := t.question(ctx, l, &question{out: t.Errors.Out, timeout: t.timing.ReplyTimeout})
		if err != nil {
			return nil, err
		}
		if t.ok.MatchString(answer) {
			return errs, nil
		}
		errs = append(errs, answer)
	}
	return nil, errors.Join(protocol.ErrMismatch, fmt.Errorf("after %d answers to %q none says that there is no error more (%q); the first was %s",
		t.Errors.Most, t.Errors.Out, t.Errors.OK, wire.Quote([]byte(errs[0]))))
}
