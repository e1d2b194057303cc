package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// Line is one open port with what is on its way there.
type Line struct {
	Port *port.Port
	Timing
	Log *slog.Logger
	// Most is how much is kept of what comes unasked, in bytes.
	Most int
	Buf  []byte    // what came and belongs to no line yet
	Last time.Time // when the last command had left
	// Spoken says that something was asked on this connection: an answer to it may
	// be on its way.
	Spoken bool
	// Owed says that a question for the identity had no answer: the next answer to
	// such a question may be to that one.
	Owed bool
	// Renewable says that a new connection takes this one's place where an answer does not come:
	// nothing is asked again over this one then, so that no answer can be one to the question
	// before.
	Renewable bool
	// Restarts are texts that tell that the instrument has restarted.
	Restarts []string
}

// Spent says that after err nothing more is to be asked over this connection.
func (l *Line) Spent(err error) bool { return l.Renewable && Unanswered(err) }

// Put writes bytes as they are.
func (l *Line) Put(text string) error {
	err := l.Port.Write([]byte(text), l.WriteTimeout)
	l.Last, l.Spoken = time.Now(), true
	return err
}

// Clear throws away bytes that came unasked: at once if there are none, else
// when the line has been quiet for a read_timeout, so that the rest of a line is
// not taken for an answer. Among them may be word of a restart.
func (l *Line) Clear(ctx context.Context) error {
	n, err := l.Port.Waiting()
	if err != nil || n+len(l.Buf) == 0 {
		return err
	}
	stray, err := l.Drain(ctx, l.ReadTimeout)
	if err != nil {
		return err
	}
	for _, sign := range l.Restarts {
		if bytes.Contains(stray, []byte(sign)) {
			return fmt.Errorf("%w (it says %s)", ErrRestarted, sign)
		}
	}
	return nil
}

// Hush waits until nothing is on its way any more, as far as silence can tell: an
// answer that is later than this is one that nothing can be done about. An
// instrument that has not been asked yet needs less.
func (l *Line) Hush(ctx context.Context) error {
	quiet := max(l.ReadTimeout, l.ReplyTimeout)
	if l.Spoken {
		quiet *= lateness
	}
	_, err := l.Drain(ctx, quiet)
	return err
}

// lateness is how many reply_timeouts after its question an answer may come, on a
// line on which answers have been missed, without being taken for another.
const lateness = 2

// drainLimit is how long Drain listens to what does not stop, beside the quiet time: what a serial server
// has kept is over by then, and whoever ends a run waits for it.
const drainLimit = 5 * time.Second

// Drain throws away what comes until nothing has come for a time, and returns
// the beginning of it.
func (l *Line) Drain(ctx context.Context, quiet time.Duration) ([]byte, error) {
	stray, buf := l.Buf, make([]byte, 512)
	l.Buf = nil
	limit := time.Now().Add(quiet + drainLimit)
	for {
		n, err := l.Port.Read(ctx, buf, time.Now().Add(quiet))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, err
		}
		stray = append(stray, buf[:min(n, max(0, l.Most-len(stray)))]...)
		if time.Now().After(limit) {
			return nil, fmt.Errorf("%w: %s", ErrNoise, wire.Quote(stray))
		}
	}
	if len(stray) > 0 {
		l.Log.Debug("the instrument said something unasked", slog.String("text", wire.Quote(stray)))
	}
	return stray, nil
}

// Over checks that nothing follows the answer that was received last: more input
// than the description has is an error, as in StreamDevice.
func (l *Line) Over() error {
	if len(l.Buf) > 0 {
		return fmt.Errorf("%w: %s follows the answer", ErrMismatch, wire.Quote(l.Buf))
	}
	return nil
}
