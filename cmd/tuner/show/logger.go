package show

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
)

// logHandler puts what drivers log into the house's voice, one line each:
//
//	tuner: warning: connection lost: device=doser error="read: EOF"
type logHandler struct {
	say   func(format string, args ...any)
	level slog.Level
	// attrs is what With added, formatted; group is the prefix of further keys.
	attrs, group string
}

// NewLog is a logger that tells warnings and errors, and where details are asked for all else.
func NewLog(tell *Narrator) *slog.Logger {
	level := slog.LevelWarn
	if tell.style.Level == Verbose {
		level = slog.LevelDebug
	}
	return slog.New(logHandler{say: tell.Say, level: level})
}

// Enabled implements slog.Handler.
func (h logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle implements slog.Handler.
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.group, a)
		return true
	})
	attrs := h.attrs + b.String()
	if attrs != "" {
		attrs = ":" + attrs
	}
	h.say("tuner: %s%s%s", levelWord(r.Level), r.Message, attrs)
	return nil
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		writeAttr(&b, h.group, a)
	}
	h.attrs += b.String()
	return h
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.group += name + "."
	}
	return h
}

// writeAttr appends " key=value", quoted where it would not read as one word.
func writeAttr(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, member := range v.Group() {
			writeAttr(b, group, member)
		}
		return
	}
	if a.Equal(slog.Attr{}) {
		return
	}
	text := v.String()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' }) {
		text = strconv.Quote(text)
	}
	fmt.Fprintf(b, " %s%s=%s", group, a.Key, text)
}

// levelWord is what stands before a message.
func levelWord(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error: "
	case l >= slog.LevelWarn:
		return "warning: "
	}
	return ""
}
