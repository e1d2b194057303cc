package show

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestNarratorInAPipe(t *testing.T) {
	var out bytes.Buffer
	n := NewNarrator(&out, Style{})
	n.Show(Counted("step 1", 1, 2))
	n.Say("tuner: started %q", "x")
	n.Show(Counted("step 2", 2, 2))
	n.Close()
	if got, want := out.String(), "tuner: started \"x\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNarratorOnATerminal(t *testing.T) {
	for columns, widest := range map[int]int{0: 79, 40: 39, 80: 79, 200: 199} { // 0: the terminal does not tell
		narrates(t, columns%80 == 0, columns, widest)
	}
}

// narrates tries a terminal of so many columns.
func narrates(t *testing.T, color bool, columns, widest int) {
	t.Helper()
	out := &watched{saw: make(chan struct{}), want: "step 1"}
	n := NewNarrator(out, Style{Live: true, Color: color, Columns: func() int { return columns }})
	n.Show(Progress{Head: "step 1 " + strings.Repeat("x", 200)})
	<-out.saw
	n.Say("first line")
	n.Show(Counted("step 2", 2, 2))
	n.Close()
	text := out.String()
	if strings.Contains(text, "\x1b") != color {
		t.Errorf("color %v: %q", color, text)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(text, "")
	lines := strings.Split(plain, "\n")
	// What a terminal shows is what stands after the last carriage return.
	shown := lines[0][strings.LastIndex(lines[0], "\r")+1:]
	if strings.TrimSpace(shown) != "first line" {
		t.Errorf("the first line shows %q", shown)
	}
	for part := range strings.SplitSeq(plain, "\r") {
		if w := len([]rune(strings.TrimSuffix(part, "\n"))); w > widest {
			t.Errorf("a progress line of %d columns would wrap in %d", w, columns)
		}
	}
	last := lines[len(lines)-1]
	if last[strings.LastIndex(last, "\r")+1:] != "" {
		t.Errorf("the progress line is left behind: %q", last)
	}
}

// TestNarratorLevels: quiet tells warnings, errors and what to do, verbose also the details; a
// step has a line where no progress line stands for it.
func TestNarratorLevels(t *testing.T) {
	for _, c := range []struct {
		style Style
		want  string
	}{
		{Style{Level: Quiet}, "tuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
		{Style{}, "tuner: it begins\nstep 1\ntuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
		{Style{Level: Verbose}, "tuner: it begins\nmore\nstep 1\ntuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
		{Style{Live: true}, "tuner: it begins\ntuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
		{Style{Live: true, Level: Verbose}, "tuner: it begins\nmore\nstep 1\ntuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
		{Style{Live: true, Level: Quiet}, "tuner: warning: w\ntuner: error: e\ntuner: hint: h\n"},
	} {
		var out bytes.Buffer
		n := NewNarrator(&out, c.style)
		n.Say("tuner: it begins")
		n.Detail("more")
		n.Step("step 1", true)
		if c.style.Level == Quiet {
			n.Show(Counted("step 1", 1, 2))
		}
		n.Say("tuner: warning: w")
		n.Say("tuner: error: e")
		n.Say("tuner: hint: h")
		n.Close()
		if out.String() != c.want {
			t.Errorf("%+v: %q, want %q", c.style, out.String(), c.want)
		}
	}
}

// watched is a buffer that tells when it holds a text.
type watched struct {
	bytes.Buffer
	saw  chan struct{}
	want string
}

func (w *watched) Write(p []byte) (int, error) {
	if !strings.Contains(w.String(), w.want) && strings.Contains(w.String()+string(p), w.want) {
		defer close(w.saw)
	}
	return w.Buffer.Write(p)
}

// A terminal that was stopped must not stop the loop.
func TestNarratorStoppedTerminal(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	n := NewNarrator(g, Style{Live: true})
	for range 1000 {
		n.Say("line")
		n.Show(Counted("progress", 1, 2))
	}
	close(g.open)
	n.Close()
	if !strings.Contains(g.String(), "dropped here, ") {
		t.Error("nothing says that lines were dropped")
	}
}

func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	n := NewNarrator(&out, Style{})
	log := slog.New(logHandler{say: n.Say, level: slog.LevelInfo})
	log.Debug("not shown")
	log.Info("plain")
	log.With("device", "doser").WithGroup("link").Warn("connection lost", "error", errors.New("read: EOF"), "tries", 3)
	log.Error("gone", slog.Group("at", "topic", "a/b"), "empty", "")
	n.Close()
	want := "tuner: plain\n" +
		"tuner: warning: connection lost: device=doser link.error=\"read: EOF\" link.tries=3\n" +
		"tuner: error: gone: at.topic=a/b empty=\"\"\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestForeignTextStaysOnItsLine: what an instrument says neither moves the cursor nor
// begins a line that looks like tuner's own.
func TestForeignTextStaysOnItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"µ ok":                           "µ ok",
		"a\ntuner: all is safe":          "a; tuner: all is safe",
		"\x1b[2J\x1b[1;1Hsafe\r\u009b0m": `\x1b[2J\x1b[1;1Hsafe\r\u009b0m`,
		"tab\there":                      `tab\there`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
