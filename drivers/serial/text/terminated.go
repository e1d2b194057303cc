package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// send writes one command. Before it, it throws away what came unasked: an answer
// to it cannot have come yet.
func (t *Protocol) send(ctx context.Context, l *protocol.Line, command string) error {
	if err := l.Clear(ctx); err != nil {
		return err
	}
	if err := port.Pause(ctx, t.timing.Pause-time.Since(l.Last)); err != nil {
		return err
	}
	return l.Put(command + *t.OutTerminator)
}

// receive waits for one line: timeout for its first byte, read_timeout from each
// byte to the next. Without an in_terminator the pause is what ends the line.
func (t *Protocol) receive(ctx context.Context, l *protocol.Line, timeout time.Duration) (string, error) {
	end := []byte(*t.InTerminator)
	chunk := make([]byte, 512)
	for {
		if i := bytes.Index(l.Buf, end); i >= 0 && len(end) > 0 && i <= t.MaxLine {
			text := string(l.Buf[:i])
			l.Buf = l.Buf[i+len(end):]
			return text, nil
		}
		if len(l.Buf) > t.MaxLine {
			return "", fmt.Errorf("%w: more than %d bytes without end: %s", protocol.ErrLong, t.MaxLine, wire.Quote(l.Buf))
		}
		wait := timeout
		if len(l.Buf) > 0 {
			wait = t.timing.ReadTimeout
		}
		n, err := l.Port.Read(ctx, chunk, time.Now().Add(wait))
		switch {
		case err == nil:
			l.Buf = append(l.Buf, chunk[:n]...)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return "", err
		case len(l.Buf) == 0:
			return "", fmt.Errorf("%w within %v", protocol.ErrSilent, timeout)
		case len(end) == 0:
			text := string(l.Buf)
			l.Buf = nil
			return text, nil
		default:
			return "", fmt.Errorf("%w: %s, and no %q within %v", protocol.ErrCut, wire.Quote(l.Buf), end, t.timing.ReadTimeout)
		}
	}
}
