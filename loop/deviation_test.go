package loop

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// TestDeviationsAreToldInNumbers: a sensor that holds a run up is reported with what was
// expected, what it gives, the limit and the unit.
func TestDeviationsAreToldInNumbers(t *testing.T) {
	wobble := func(x float64) func(time.Duration) float64 {
		return func(since time.Duration) float64 {
			if since > 5*time.Second {
				return 300
			}
			return x + 0.001*float64(since.Milliseconds())
		}
	}
	for _, c := range []struct {
		name  string
		set   func(*trial)
		aux   func(time.Duration) float64
		words string
	}{
		{"range", func(*trial) {}, wobble(5000), "held: range of aux (it must be within 0 to 1000 K, and it read 500"},
		{"spike", func(tr *trial) { tr.opt.Sensors[1].Limits.Rate = 10 }, func(since time.Duration) float64 {
			if s := since.Seconds(); s < 0.55 || s > 5 {
				return 300
			}
			return 400
		}, "held: spike of aux (it may change by 10 K per s, and it read 400 K, after 300 K)"},
		{"disagree", func(tr *trial) {
			tr.opt.Sensors[0].Limits = safety.SensorLimits{With: 1, Tolerance: 350, AgreeTime: time.Second}
		}, wobble(900), " K: they may differ by 350 W, and differ by 8"},
		{"stuck", func(tr *trial) {
			tr.opt.Sensors[1].Limits.Stuck = 5
			tr.rig.aux = func() float64 { // never twice the same, but for a while
				if s := tr.since().Seconds(); s < 1 || s > 6 {
					return 300 + math.Sin(s)
				}
				return 311
			}
		}, nil, "held: stuck of aux (it must change when an actuator moves, and has read 311 K 5 times)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := guardedTrial(t, c.aux)
			c.set(tr)
			if _, err := tr.run(t, context.Background()); err != nil {
				t.Fatal(err)
			}
			if !tr.said(c.words) {
				t.Errorf("told %+v, want %q", tr.events, c.words)
			}
		})
	}
}

// TestResponseIsToldInNumbers: what should have moved, how far, and how far it did.
func TestResponseIsToldInNumbers(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(1, 9)
	tr.opt.Safety.Responses = []safety.ResponseLimits{{Variable: 0, Sensor: 1, Change: 2, Moves: 5, Within: 3 * time.Second}}
	tr.rig.aux = func() float64 { return 301 }
	_, err := tr.run(t, context.Background())
	if err == nil || !tr.said("tripped: response of a (after a change of 2 V aux must move by 5 K within 3s, and went from 301 K to 301 K)") {
		t.Errorf("error %v, told %+v", err, tr.events)
	}
	tr = newTrial(t)
	tr.policy.proposals = proposeAll(9, 9, 9)
	limits := &tr.opt.Variables[0].Limits
	limits.Above, limits.AboveTime = 8, time.Second
	_, err = tr.run(t, context.Background())
	if math.IsNaN(limits.Above) || err == nil || !tr.said("fallen back: exposure of a (it may be above 8 V for 1s, and reads 9 V)") {
		t.Errorf("error %v, told %+v", err, tr.events)
	}
}

// TestAnswersAreTold: an instrument that answers a question with words is quoted where its
// silence is told.
func TestAnswersAreTold(t *testing.T) {
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since < 5*time.Second {
			return math.NaN()
		}
		return 300
	})
	tr.rig.words = `it answers "BUSY"`
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if !tr.said(`held: sensor aux has given nothing for longer than its max_age: it answers "BUSY"`) {
		t.Errorf("told %+v", tr.events)
	}
}

// TestInterlocksOfOneSensor: of two interlocks on one sensor the one that is open is told,
// with its own limits.
func TestInterlocksOfOneSensor(t *testing.T) {
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since > time.Second {
			return 303
		}
		return 300
	})
	tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}, {Sensor: 1, Low: 0, High: 302}}
	if _, err := tr.run(t, context.Background()); !errors.Is(err, ErrSafety) {
		t.Fatal(err)
	}
	if !tr.said("(it must be within 0 to 302 K, and reads 303 K)") {
		t.Errorf("told %+v", tr.events)
	}
}

// TestWhatARestartReadsIsNeverLost: events that a replay or a resumed run goes by are no
// mere lines of the story, which may be lost while a disk fails.
func TestWhatARestartReadsIsNeverLost(t *testing.T) {
	for _, kind := range []string{journal.EventStart, journal.EventAbandoned, journal.EventWaited, journal.EventShutdown} {
		if !needed(kind) {
			t.Errorf("an event of kind %q may be lost, and a restart reads it", kind)
		}
	}
	if needed(journal.EventSafety) {
		t.Error("a line of the story is never lost")
	}
}
