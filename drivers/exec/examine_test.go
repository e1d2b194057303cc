package exec

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// examined runs an examination and gives the names of its checks by verdict.
func examined(t *testing.T, o Options) (map[Verdict][]string, bool) {
	t.Helper()
	by := map[Verdict][]string{}
	env := drivers.Env{Clock: wall{}, Log: slog.New(slog.DiscardHandler)}
	ok, err := Examine(context.Background(), o, env, true, func(c Check) {
		by[c.Verdict] = append(by[c.Verdict], c.Name)
		t.Logf("%s %s: %s (%s)", c.Verdict, c.Name, c.Detail, c.Hint)
	})
	if err != nil {
		t.Fatal(err)
	}
	return by, ok
}

func TestExamineGoodChild(t *testing.T) {
	by, ok := examined(t, options("good"))
	if !ok || len(by[Failed]) > 0 || len(by[Warning]) > 0 {
		t.Errorf("failed %q, warnings %q", by[Failed], by[Warning])
	}
	for _, name := range []string{"hello", "unknown operation", "read temp", "safe again", "power after safe", "write fan", "release power",
		"end of input", "line of more than 64 KiB", "line that is no JSON", "end of input inside a line", "signal TERM"} {
		if !slices.Contains(by[Passed], name) {
			t.Errorf("%q was not checked", name)
		}
	}
}

// TestExamineFindsFaults: each fault fails the check that is there for it.
func TestExamineFindsFaults(t *testing.T) {
	t.Parallel()
	for behaviour, c := range map[string]struct {
		verdict Verdict
		check   string
	}{
		"hello: text":   {Failed, "hello"},
		"mute":          {Failed, "hello"},
		"dies at start": {Failed, "hello"},
		"accepts all":   {Failed, "hello"}, // the unknown operation belongs to opening
		"NaN":           {Failed, "read power"},
		"hangs":         {Failed, "read power"},
		"refuses":       {Failed, "safe"},
		"anything":      {Failed, "read of an unknown channel"},
		"read-only":     {Failed, "write to a channel that is only read"},
		"never safe":    {Warning, "power after safe"},
		"nothing new":   {Warning, "read temp"},
		"deaf to EOF":   {Failed, "end of input"},
		"deaf to lines": {Failed, "line that is no JSON"},
		"mortal":        {Warning, "signal TERM"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			o := options(behaviour)
			switch o.ExitTimeout = never; behaviour { // the wait for what it never does
			case "mute":
				o.StartTimeout = never
			case "hangs": // not at once: its hello needs an answer
				o.ReplyTimeout = 5 * time.Second
			case "deaf to lines":
				o.ReplyTimeout = time.Second
			}
			by, ok := examined(t, o)
			if !slices.Contains(by[c.verdict], c.check) {
				t.Errorf("%s %q is missing", c.verdict, c.check)
			}
			if ok == (len(by[Failed]) > 0) {
				t.Errorf("conforms: %v, with failures %q", ok, by[Failed])
			}
		})
	}
}

// TestExamineLatency: answers that come close to the timeout are warned of. How long
// they take is the machine's affair, so the timeout that they are held against is chosen.
func TestExamineLatency(t *testing.T) {
	for timeout, want := range map[time.Duration]Verdict{time.Nanosecond: Warning, time.Hour: Passed} {
		var got []Check
		x := &examiner{ctx: t.Context(), options: options("good"), env: drivers.Env{Clock: wall{}, Log: slog.New(slog.DiscardHandler)},
			report: func(c Check) { got = append(got, c) }}
		d, _, err := x.begin()
		if err != nil {
			t.Fatal(err)
		}
		x.options.ReplyTimeout = timeout
		if !x.latency(d, []string{"temp"}) || len(got) != 1 || got[0].Verdict != want || got[0].Name != "read all at once" {
			t.Errorf("with a timeout of %v: %+v, want %s", timeout, got, want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestExamineRefusesOptions(t *testing.T) {
	o := Default()
	ok, err := Examine(context.Background(), o, drivers.Env{Clock: wall{}}, false, func(Check) { t.Error("something was checked") })
	if ok || err == nil || !strings.Contains(err.Error(), "command is empty") {
		t.Errorf("%v, %v", ok, err)
	}
}
