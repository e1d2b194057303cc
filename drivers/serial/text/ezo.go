package text

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Atlas Scientific's EZO circuits answer a command with at most one line of data
// and then a code. Codes also come on their own, at any time:
//
//	*OK        done                      *ER       not understood, or not possible
//	*OV *UV    supply voltage too high, too low
//	*RS *RE    restarting, ready again: settings may be lost
//	*SL *WA    asleep, awake again
//	*DONE,v    a pump has finished, v ml in all
//	*TOOFAST   a pump cannot pump that fast; *ER follows
const (
	ezoOK = "*OK"
	ezoER = "*ER"
)

// CodedRefusal is what such a circuit says to a command that it does not know, whatever its settings.
const CodedRefusal = ezoER

// ezoSpoil is sent in place of the cancel character: a half command that it
// follows is none any more, and on its own it switches the codes on, without
// which nothing here could tell where an answer ends.
const ezoSpoil = "*OK,1"

// ezoQuiet ends the continuous mode, in which readings come unasked; a greeting
// would drown in them.
const ezoQuiet = "C,0"

// ezoRestarts are the codes that tell of a restart.
func ezoRestarts() []string { return []string{"*RS", "*RE"} }

// ezoCodes is how many codes may come beside an answer.
const ezoCodes = 16

// codedAnswer receives an answer that ends with a code.
func (t *Protocol) codedAnswer(ctx context.Context, l *protocol.Line, want expected) (string, error) {
	data, gathered := "", false
	var remarks []string
	for range ezoCodes {
		text, err := t.receive(ctx, l, want.timeout)
		if err != nil {
			return "", err
		}
		if want.ack != nil && strings.HasPrefix(text, "*") && want.ack.MatchString(text) {
			return data, nil
		}
		switch {
		case text == ezoOK:
			return t.whole(l, data, gathered, want)
		case text == ezoER:
			return "", fmt.Errorf("%w: it answered %s", drivers.ErrRefused, strings.Join(append(remarks, ezoER), ", "))
		case slices.Contains(ezoRestarts(), text):
			return "", fmt.Errorf("%w (it says %s)", protocol.ErrRestarted, text)
		case text == "*OV" || text == "*UV":
			t.log.Warn("the supply voltage of the circuit is out of bounds", slog.String("code", text))
		case strings.HasPrefix(text, "*"):
			remarks = append(remarks, wire.Quote([]byte(text)))
		case gathered:
			return "", fmt.Errorf("%w: %s follows %s; a command has one line of data", protocol.ErrMismatch, wire.Quote([]byte(text)), wire.Quote([]byte(data)))
		default:
			data, gathered = text, true
		}
	}
	return "", fmt.Errorf("%w: %d lines and no code that ends the answer", protocol.ErrMismatch, ezoCodes)
}

// whole checks an answer that *OK has ended.
func (t *Protocol) whole(l *protocol.Line, data string, gathered bool, want expected) (string, error) {
	switch {
	case want.data && !gathered:
		return "", fmt.Errorf("%w: %s and no data", protocol.ErrMismatch, ezoOK)
	case !want.data && gathered:
		return "", fmt.Errorf("%w: %s, where no data should come; is the circuit in continuous mode?", protocol.ErrMismatch, wire.Quote([]byte(data)))
	case want.ack != nil && !want.ack.MatchString(ezoOK):
		return "", fmt.Errorf("%w: %w: it answered %s, and not what matches %q", drivers.ErrRefused, protocol.ErrAnother, ezoOK, want.ack)
	}
	if len(l.Buf) > 0 && l.Buf[0] == '*' {
		return data, nil // a code on its own, which the next command clears
	}
	return data, l.Over()
}
