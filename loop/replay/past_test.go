package replay

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/plan"
)

// begun is a session of a test's run: what it had waited before its first step, and the
// monotonic clock at its steps' decisions and outcomes.
type begun struct {
	waited time.Duration
	steps  [][2]time.Duration
	// last is an event at its end.
	last journal.Event
}

// recall writes the sessions and reads what they leave behind.
func recall(t *testing.T, sessions ...begun) Past {
	t.Helper()
	path, n := filepath.Join(t.TempDir(), "run.db"), 0
	j, err := journal.Create(path, journaltest.DemoRun(), journal.Options{})
	for i, s := range sessions {
		if i > 0 {
			j, err = journal.Open(path, journal.Options{})
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		do(err)
		if s.waited > 0 {
			do(j.Log(journal.Event{Level: "info", Kind: journal.EventWaited, Facts: journal.Facts{Waited: s.waited}}))
		}
		for _, at := range s.steps {
			n++
			do(j.Decide(journaltest.DemoDecision(n, journal.Stamp{Mono: at[0]})))
			do(j.Conclude(journaltest.DemoOutcome(n, journal.Stamp{Mono: at[1]})))
		}
		if s.last.Kind != "" {
			s.last.Level, s.last.Step = "info", n
			do(j.Log(s.last))
		}
		do(j.Close())
	}
	r := journaltest.MustRead(t, path)
	past, err := Recall(&plan.Options{Variables: make([]plan.Variable, 2)}, r)
	if err != nil {
		t.Fatal(err)
	}
	return past
}

// TestElapsedIsWhatTheSessionsRan: from session to session, whatever their clocks say, without
// what was waited before a first step. A session that ended in its wait counts nothing.
func TestElapsedIsWhatTheSessionsRan(t *testing.T) {
	const s = time.Second
	first := begun{steps: [][2]time.Duration{{s, 4 * s}, {5 * s, 10 * s}}}
	waiting := begun{waited: 60 * s, steps: [][2]time.Duration{{61 * s, 70 * s}}}
	for name, c := range map[string]struct {
		sessions []begun
		want     time.Duration
	}{
		"one":                    {[]begun{first}, 10 * s},
		"the clock begins anew":  {[]begun{first, first}, 20 * s},
		"a wait":                 {[]begun{waiting}, 10 * s},
		"a wait in the second":   {[]begun{first, waiting}, 20 * s},
		"a wait without a step":  {[]begun{first, {waited: 60 * s}, first}, 20 * s},
		"waits in both, a third": {[]begun{waiting, waiting, first}, 30 * s},
	} {
		if past := recall(t, c.sessions...); past.Elapsed != c.want {
			t.Errorf("%s: %v, want %v", name, past.Elapsed, c.want)
		}
	}
}

// TestLeftUntilAtRest: a run has been left until it is on record that every actuator is at rest;
// that an earlier setpoint may still arrive says the contrary.
func TestLeftUntilAtRest(t *testing.T) {
	step := [][2]time.Duration{{1, 2}}
	rest := journal.Event{Kind: journal.EventShutdown, Facts: journal.Facts{AtRest: true}, Message: "actuators are at rest"}
	untouched := journal.Event{Kind: journal.EventShutdown, Facts: journal.Facts{AtRest: true}, Message: "nothing was written to the actuators"}
	straggler := journal.Event{Kind: journal.EventShutdown, Message: `device "x": an earlier setpoint may still arrive`}
	for name, c := range map[string]struct {
		sessions []begun
		left     bool
	}{
		"killed":               {[]begun{{steps: step}}, true},
		"at rest":              {[]begun{{steps: step, last: rest}}, false},
		"nothing was written":  {[]begun{{steps: step, last: untouched}}, false},
		"killed after a rest":  {[]begun{{steps: step, last: rest}, {steps: step}}, true},
		"killed on the way":    {[]begun{{steps: step, last: straggler}}, true},
		"at rest in the third": {[]begun{{steps: step}, {steps: step}, {last: rest}}, false},
	} {
		if past := recall(t, c.sessions...); past.Left != c.left {
			t.Errorf("%s: left %v", name, past.Left)
		}
	}
}

// TestBrokenTriesAreMadeAgainOnce: a person's step in the middle of which the process ended does not
// count, once; a second one does, and one that may have given a dose.
func TestBrokenTriesAreMadeAgainOnce(t *testing.T) {
	o := &plan.Options{Variables: []plan.Variable{{Name: "feed", Dose: true, Actuated: true}}}
	why := func(command int64) string {
		text, err := journal.Person{Command: command}.Text()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	p := Past{Asked: []Asked{{Command: 1}, {Command: 2}}}
	for _, c := range []struct {
		command     int64
		given       float64
		broken      bool
		made, made2 int
	}{{1, 0, true, 0, 0}, {1, 0, false, 1, 0}, {1, 0, true, 2, 0}, {2, 0.5, true, 2, 1}, {2, 0, true, 2, 1}, {2, 0, true, 2, 2}, {3, 0, false, 2, 2}} {
		p.countAsked(o, &journal.Decision{Applied: []float64{c.given}, Why: why(c.command)}, c.broken)
		if p.Asked[0].Made != c.made || p.Asked[1].Made != c.made2 {
			t.Errorf("after %+v: %+v", c, p.Asked)
		}
	}
	p.countAsked(o, &journal.Decision{Why: `{"mean":1}`}, false)
	if p.Asked[0].Made != 2 {
		t.Error("a policy's step counts as a person's")
	}
}
