package serial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

// line sends and receives what ends with a terminator, over one open port.
type line struct {
	port *port
	opt  *Options
	log  *slog.Logger
	buf  []byte    // what came and belongs to no line yet
	last time.Time // when the last command had left
	// spoken says that something was asked on this connection: an answer to it may
	// be on its way.
	spoken bool
	// owed says that a question for the identity had no answer: the next answer to
	// such a question may be to that one.
	owed bool
	// restarts are texts that tell that the instrument has restarted.
	restarts []string
}

// Errors of a line that leave the port usable. What the instrument said is lost;
// before anything else is asked, the two sides must find together again.
var (
	errSilent = errors.New("no answer")
	errCut    = errors.New("the answer stops in the middle")
	errLong   = errors.New("the answer is too long")
	errNoise  = errors.New("the instrument talks without being asked and does not stop; is it in a continuous mode?")
)

// send writes one command. Before it, it throws away what came unasked: an answer
// to it cannot have come yet.
func (l *line) send(ctx context.Context, command string) error {
	if err := l.clear(ctx); err != nil {
		return err
	}
	if err := pause(ctx, l.opt.Pause-time.Since(l.last)); err != nil {
		return err
	}
	return l.put(command + *l.opt.OutTerminator)
}

// put writes bytes as they are.
func (l *line) put(text string) error {
	err := l.port.write([]byte(text), l.opt.WriteTimeout)
	l.last, l.spoken = time.Now(), true
	return err
}

// clear throws away bytes that came unasked: at once if there are none, else
// when the line has been quiet for a read_timeout, so that the rest of a line is
// not taken for an answer. Among them may be word of a restart.
func (l *line) clear(ctx context.Context) error {
	n, err := l.port.waiting()
	if err != nil || n+len(l.buf) == 0 {
		return err
	}
	stray, err := l.drain(ctx, l.opt.ReadTimeout)
	if err != nil {
		return err
	}
	for _, sign := range l.restarts {
		if bytes.Contains(stray, []byte(sign)) {
			return fmt.Errorf("%w (it says %s)", errRestarted, sign)
		}
	}
	return nil
}

// hush waits until nothing is on its way any more, as far as silence can tell: an
// answer that is later than this is one that nothing can be done about. An
// instrument that has not been asked yet needs less.
func (l *line) hush(ctx context.Context) error {
	quiet := max(l.opt.ReadTimeout, l.opt.ReplyTimeout)
	if l.spoken {
		quiet *= lateness
	}
	_, err := l.drain(ctx, quiet)
	return err
}

// lateness is how many reply_timeouts after its question an answer may come, on a
// line on which answers have been missed, without being taken for another.
const lateness = 2

// drainLimit is how many times the quiet time drain waits at most.
const drainLimit = 50

// drain throws away what comes until nothing has come for a time, and returns
// the beginning of it, at most max_line bytes.
func (l *line) drain(ctx context.Context, quiet time.Duration) ([]byte, error) {
	stray, buf := l.buf, make([]byte, 512)
	l.buf = nil
	limit := time.Now().Add(drainLimit * quiet)
	for {
		n, err := l.port.read(ctx, buf, time.Now().Add(quiet))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, err
		}
		stray = append(stray, buf[:min(n, max(0, l.opt.MaxLine-len(stray)))]...)
		if time.Now().After(limit) {
			return nil, fmt.Errorf("%w: %s", errNoise, wire.Quote(stray))
		}
	}
	if len(stray) > 0 {
		l.log.Debug("the instrument said something unasked", slog.String("text", wire.Quote(stray)))
	}
	return stray, nil
}

// receive waits for one line: timeout for its first byte, read_timeout from each
// byte to the next. Without an in_terminator the pause is what ends the line.
func (l *line) receive(ctx context.Context, timeout time.Duration) (string, error) {
	end := []byte(*l.opt.InTerminator)
	chunk := make([]byte, 512)
	for {
		if i := bytes.Index(l.buf, end); i >= 0 && len(end) > 0 && i <= l.opt.MaxLine {
			text := string(l.buf[:i])
			l.buf = l.buf[i+len(end):]
			return text, nil
		}
		if len(l.buf) > l.opt.MaxLine {
			return "", fmt.Errorf("%w: more than %d bytes without end: %s", errLong, l.opt.MaxLine, wire.Quote(l.buf))
		}
		wait := timeout
		if len(l.buf) > 0 {
			wait = l.opt.ReadTimeout
		}
		n, err := l.port.read(ctx, chunk, time.Now().Add(wait))
		switch {
		case err == nil:
			l.buf = append(l.buf, chunk[:n]...)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return "", err
		case len(l.buf) == 0:
			return "", fmt.Errorf("%w within %v", errSilent, timeout)
		case len(end) == 0:
			text := string(l.buf)
			l.buf = nil
			return text, nil
		default:
			return "", fmt.Errorf("%w: %s, and no %q within %v", errCut, wire.Quote(l.buf), end, l.opt.ReadTimeout)
		}
	}
}

// over checks that nothing follows the answer that was received last: more input
// than the description has is an error, as in StreamDevice.
func (l *line) over() error {
	if len(l.buf) > 0 {
		return fmt.Errorf("%w: %s follows the answer", errMismatch, wire.Quote(l.buf))
	}
	return nil
}
