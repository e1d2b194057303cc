package exec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

const (
	// maxTail bounds one log line of the child, in bytes; the rest is dropped.
	maxTail = 1024
	// maxLines bounds the lines that a child gets into the log in one window. Not
	// fewer: the traceback of a deep call has fifty, and must not lose its end.
	maxLines = 200
	window   = 10 * time.Second
)

// stderrTail relays the child's standard error to the log and keeps its last
// line, which often is why it died.
type stderrTail struct {
	mu   sync.Mutex
	line []byte

	// Since opened, lines have gone to the log and dropped ones have not. These are
	// the relaying goroutine's own.
	opened         time.Time
	lines, dropped int
}

// relay turns lines into log records until the stream ends. It reads on when there
// are too many for the log: a child that is stuck in writing could not answer.
func (w *stderrTail) relay(stderr io.Reader, env drivers.Env) {
	r := bufio.NewReaderSize(stderr, maxTail)
	tail := false // the line began in an earlier piece
	for {
		piece, err := r.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		level, text := levelOf(bytes.TrimRight(piece, "\r\n"))
		if !tail && len(bytes.TrimSpace(text)) > 0 {
			w.add(text)
			if w.allowed(env) {
				logLine(level, string(text), env.Log, cut)
			}
		}
		tail = cut
		if err != nil && !tail {
			w.reportDropped(env.Log)
			return
		}
	}
}

// add remembers the line as the last.
func (w *stderrTail) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(w.line[:0], line...)
}

// allowed reports whether one more line may go to the log, and counts those that did not.
func (w *stderrTail) allowed(env drivers.Env) bool {
	if now := env.Clock.Now(); w.opened.IsZero() || now.Sub(w.opened) >= window {
		w.reportDropped(env.Log)
		w.opened, w.lines = now, 0
	}
	if w.lines < maxLines {
		w.lines++
		return true
	}
	if w.dropped == 0 {
		env.Log.Warn("the child writes too much to its standard error: more of it is dropped for now",
			slog.Int("lines", maxLines), slog.Duration("within", window))
	}
	w.dropped++
	return false
}

// reportDropped logs how many lines were dropped, if any were.
func (w *stderrTail) reportDropped(log *slog.Logger) {
	if w.dropped > 0 {
		log.Warn("lines of the child's standard error were dropped", slog.Int("dropped", w.dropped))
	}
	w.dropped = 0
}

// logLine logs one line.
func logLine(level slog.Level, text string, log *slog.Logger, cut bool) {
	attrs := []slog.Attr{slog.String("from", "child")}
	if cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	log.LogAttrs(context.Background(), level, text, attrs...)
}

// levelOf splits the level prefix from a line.
func levelOf(line []byte) (slog.Level, []byte) {
	if len(line) >= 3 && line[1] == '!' && line[2] == ' ' {
		switch line[0] {
		case 'E':
			return slog.LevelError, line[3:]
		case 'W':
			return slog.LevelWarn, line[3:]
		case 'I':
			return slog.LevelInfo, line[3:]
		case 'D':
			return slog.LevelDebug, line[3:]
		}
	}
	return slog.LevelInfo, line
}

// last is the last line that was not empty, or "".
func (w *stderrTail) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.line)
}
