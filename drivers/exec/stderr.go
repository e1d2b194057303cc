package exec

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// maxWords bounds one log line of the child, in bytes; the rest is dropped.
const maxWords = 1024

// lastWords relays the child's standard error to the log and keeps its last
// line, which often is why it died.
type lastWords struct {
	mu   sync.Mutex
	line string
}

// relay turns lines into log records until the stream ends.
func (w *lastWords) relay(stderr io.Reader, log *slog.Logger) {
	r := bufio.NewReaderSize(stderr, maxWords)
	tail := false // the line began in an earlier piece
	for {
		piece, err := r.ReadSlice('\n')
		if len(piece) > 0 && !tail {
			w.say(strings.TrimRight(string(piece), "\r\n"), log, errors.Is(err, bufio.ErrBufferFull))
		}
		tail = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !tail {
			return
		}
	}
}

// say logs one line at the level that its prefix asks for.
func (w *lastWords) say(line string, log *slog.Logger, cut bool) {
	level, text := levelOf(line)
	if strings.TrimSpace(text) == "" {
		return
	}
	w.mu.Lock()
	w.line = text
	w.mu.Unlock()
	attrs := []slog.Attr{slog.String("from", "child")}
	if cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	log.LogAttrs(context.Background(), level, text, attrs...)
}

// levelOf splits the level prefix from a line.
func levelOf(line string) (slog.Level, string) {
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
func (w *lastWords) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.line
}
