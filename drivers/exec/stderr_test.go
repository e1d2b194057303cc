package exec

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func TestStderrLevels(t *testing.T) {
	said := &records{}
	log := slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	long := strings.Repeat("y", 5000)
	var w stderrTail
	w.relay(strings.NewReader("E! on fire\nW! warm\nI! fine\nD! detail\nplain\r\n\nE!no blank\n"+long+"\nlast\x1b[31m"), drivers.Env{Log: log, Clock: wall{}})
	want := []string{
		`level=ERROR msg="on fire" from=child`,
		`level=WARN msg=warm from=child`,
		`level=INFO msg=fine from=child`,
		`level=DEBUG msg=detail from=child`,
		`level=INFO msg=plain from=child`,
		`level=INFO msg="E!no blank" from=child`,
		fmt.Sprintf(`level=INFO msg=%s from=child cut=true`, long[:maxTail]),
		`level=INFO msg="last\x1b[31m" from=child`,
		``,
	}
	if got := said.String(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := w.last(); got != "last\x1b[31m" {
		t.Errorf("the last line is %q", got)
	}
}

// steps is a clock that goes on by a step at each look.
type steps struct {
	now  time.Time
	step time.Duration
}

func (s *steps) Now() time.Time {
	s.now = s.now.Add(s.step)
	return s.now
}

// TestFloodOnStderrIsCounted: 1000 lines in 20 s leave two windows' worth in the log
// and the number of the others, and the last line is known all the same.
func TestFloodOnStderrIsCounted(t *testing.T) {
	said := &records{}
	env := drivers.Env{Log: slog.New(slog.NewTextHandler(said, nil)), Clock: &steps{time.Unix(1e9, 0), 20 * time.Millisecond}}
	var flood strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&flood, "E! line %d\n", i)
	}
	var w stderrTail
	w.relay(strings.NewReader(flood.String()), env)
	got := said.String()
	// 500 looks make a window of 10 s: each lets through the first 200.
	if n := strings.Count(got, "from=child"); n != 2*maxLines {
		t.Errorf("%d lines in the log", n)
	}
	if strings.Count(got, "writes too much") != 2 || strings.Count(got, "dropped=300") != 2 {
		t.Errorf("what was dropped is not told:\n%s", got)
	}
	for _, line := range []string{`"line 0"`, `"line 199"`, `"line 500"`} {
		if !strings.Contains(got, line) {
			t.Errorf("%s is missing", line)
		}
	}
	if w.last() != "line 999" {
		t.Errorf("the last line is %q", w.last())
	}
}
