package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// at puts the rig's knob somewhere, as a hand does.
func (r *rig) at(x float64) {
	k := r.knobs["a"]
	k.position, k.target, k.since = x, x, r.clock.Now()
}

// largestStep is the longest way between two setpoints after the first one of a time.
func (tr *trial) largestStep(since time.Duration) (first, largest float64) {
	first = math.NaN()
	last := math.NaN()
	for _, c := range tr.rig.calls("write") {
		x, set := c.values["a"]
		if c.at < since || !set {
			continue
		}
		if math.IsNaN(first) {
			first = x
		}
		if d := math.Abs(x - last); d > largest {
			largest = d
		}
		last = x
	}
	return first, largest
}

// TestStartOutsideTheHardLimits: an actuator that stands outside could only be taken over by
// a jump: the run does not start, nothing is written. Where boot = "safe" asks for it, the
// nearest limit is the first setpoint, that is told, and the rest of the way keeps to slew.
func TestStartOutsideTheHardLimits(t *testing.T) {
	for _, c := range []struct {
		at      float64
		boot    plan.RestState
		refused bool
	}{{13, plan.RestHold, true}, {-1.5, plan.RestHold, true}, {11.005, plan.RestHold, false}, {11, plan.RestHold, false}, {13, plan.RestSafe, false}, {-7, plan.RestSafe, false}} {
		tr := newTrial(t)
		tr.rig.at(c.at)
		tr.opt.Variables[0].Boot = c.boot
		tr.policy.proposals = proposeAll(3)
		_, err := tr.run(t, context.Background())
		if c.refused {
			words := fmt.Sprintf("refused to start, nothing was driven: override of a (tuner did not send it there; it stands at %g V, outside its hard limits -1 to 11 V: the first setpoint would be %g V at once",
				c.at, min(max(c.at, -1), 11))
			if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), words) || len(tr.rig.calls("write")) > 0 {
				t.Errorf("at %g: %v, %d writes; want %q", c.at, err, len(tr.rig.calls("write")), words)
			}
			continue
		}
		if err != nil {
			t.Errorf("at %g, boot %s: %v", c.at, c.boot, err)
		}
		first, largest := tr.largestStep(0)
		if nearest := min(max(c.at, -1), 11); math.Abs(first-nearest) > 0.2+1e-9 || largest > 0.2+1e-9 {
			t.Errorf("at %g: first %v, then by up to %v; want the nearest limit and 0.2 V a tick", c.at, first, largest)
		}
		if outside := c.at > 11.01 || c.at < -1.01; outside != tr.said("outside its hard limits") {
			t.Errorf("at %g: told %+v", c.at, tr.events)
		}
	}
}

// TestBootWithoutAReading: a readback that is NaN, impossible or never comes ends the start,
// with words that say which, and nothing is written.
func TestBootWithoutAReading(t *testing.T) {
	for _, c := range []struct {
		drift float64
		mute  bool
		want  string
	}{
		{math.NaN(), false, `variable "a" gave no reading within 10s: it reads NaN, which is no number; nothing was driven`},
		{math.Inf(1), false, "it reads +Inf, which is no number"},
		{500, false, `it reads 500 V, and its device can only have -2.2 to 12.2 V; nothing was driven`},
		{0, true, `variable "a" gave no reading within 10s; nothing was driven`},
	} {
		tr := newTrial(t)
		tr.rig.accepts = [2]float64{-1, 11}
		tr.rig.drift = c.drift
		if c.mute {
			tr.rig.fault = func(op string) error { return fmt.Errorf("%w: no answer", drivers.ErrUnavailable) }
		}
		tr.policy.proposals = proposeAll(3)
		_, err := tr.run(t, context.Background())
		if !errors.Is(err, ErrInstrument) || !strings.Contains(err.Error(), c.want) || len(tr.rig.calls("write")) > 0 {
			t.Errorf("%v, %d writes; want %q", err, len(tr.rig.calls("write")), c.want)
		}
	}
}

// handTrial is a run of one long step at 3 V, which a person can command.
func handTrial(t *testing.T) *trial {
	tr := newTrial(t)
	tr.deps.Panel = control.NewPanel("test")
	tr.deps.Panel.MakeReachable()
	tr.policy.proposals = proposeAll(3, 4)
	tr.opt.Objective.Shots = 300 // half a minute at one setting
	tr.opt.Safety.HoldMax = 10 * time.Minute
	return tr
}

// since is the time of the trial.
func (tr *trial) since() time.Duration { return tr.clock.Now().Sub(rigStart) }

// TestMovedByHand: in RUN and in HOLD, inside and outside the hard limits, a hand at the knob
// is not fought. What is told says where the actuator was sent and where it stands; after the
// resume it goes on from there, from outside by way of the nearest limit.
func TestMovedByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		to     float64
		paused bool
		words  string
	}{
		{"run", 7, false, "held: override of a (moved from outside: it was sent to 3 V, and reads 7 V)"},
		{"run, outside", 13, false, "and reads 13 V; it stands at 13 V, outside its hard limits -1 to 11 V: the first setpoint would be 11 V at once"},
		{"hold", 7, true, ""},
		{"hold, outside", 13, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := handTrial(t)
			var moved, resumed time.Duration
			ask := 0
			tr.rig.aux = func() float64 {
				now := tr.since()
				switch {
				case c.paused && ask == 0 && now > 8*time.Second:
					ask++
					tr.order(control.CommandPause)
				case moved == 0 && now > 10*time.Second:
					moved = now
					tr.rig.at(c.to)
				case resumed == 0 && moved > 0 && now > moved+20*time.Second:
					resumed = now
					tr.order(control.CommandResume)
				}
				return 300
			}
			if _, err := tr.run(t, context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, w := range tr.rig.calls("write") {
				if w.at > moved && w.at < resumed {
					t.Errorf("at %v %v was written against the hand", w.at, w.values)
				}
			}
			if c.words != "" && !tr.said(c.words) {
				t.Errorf("told %+v, want %q", tr.events, c.words)
			}
			first, largest := tr.largestStep(resumed)
			if nearest := min(c.to, 11); math.Abs(first-nearest) > 0.2+1e-9 || largest > 0.2+1e-9 {
				t.Errorf("after the resume %v, then by up to %v; want from %v by 0.2 V a tick", first, largest, nearest)
			}
			if n := len(tr.policy.seen); n != 2 || !tr.policy.seen[n-1].Valid || math.Abs(tr.policy.seen[1].X[0]-4) > 0.01 {
				t.Errorf("learnt %+v", tr.policy.seen)
			}
		})
	}
}

// TestMovedByHandWhileFallen: what a hand does at an instrument that has fallen back counts
// when it is resumed.
func TestMovedByHandWhileFallen(t *testing.T) {
	tr := handTrial(t)
	tr.opt.Safety.HoldMax = 3 * time.Second
	var moved, resumed time.Duration
	tr.rig.aux = func() float64 {
		now := tr.since()
		switch {
		case now > 8*time.Second && now < 25*time.Second:
			return math.NaN() // silent: held, then fallen back
		case moved == 0 && now > 30*time.Second:
			moved = now
			tr.rig.at(7)
		case resumed == 0 && moved > 0 && now > moved+10*time.Second:
			resumed = now
			tr.order(control.CommandResume)
		}
		return 300
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if !tr.said("fallen back") {
		t.Fatalf("told %+v", tr.events)
	}
	first, largest := tr.largestStep(resumed)
	if math.Abs(first-7) > 0.2+1e-9 || largest > 0.2+1e-9 {
		t.Errorf("after the resume %v, then by up to %v; want from 7 by 0.2 V a tick", first, largest)
	}
}

// TestDeviceComesBackOutside: a device that was gone comes back with its actuator outside the
// hard limits: the run is held, says so, and writes nothing until a person resumes it.
func TestDeviceComesBackOutside(t *testing.T) {
	tr := handTrial(t)
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
	var broke, back, resumed time.Duration
	tr.rig.fault = func(string) error {
		if now := tr.since(); now > 10*time.Second && back == 0 {
			if broke == 0 {
				broke = now
			}
			return fmt.Errorf("%w: gone", drivers.ErrProtocol)
		}
		return nil
	}
	tr.rig.reopen = func() error {
		if tr.since() < broke+5*time.Second {
			return fmt.Errorf("%w: not yet", drivers.ErrUnavailable)
		}
		if back == 0 {
			back = tr.since()
			tr.rig.at(13)
		}
		return nil
	}
	tr.rig.aux = func() float64 {
		if now := tr.since(); back > 0 && resumed == 0 && now > back+20*time.Second {
			resumed = now
			tr.order(control.CommandResume)
		}
		return 300
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if !tr.said("variable a came back and stands at 13 V, outside its hard limits -1 to 11 V") {
		t.Errorf("told %+v", tr.events)
	}
	for _, w := range tr.rig.calls("write") {
		if w.at > back && w.at < resumed {
			t.Errorf("at %v, before the resume at %v: %v", w.at, resumed, w.values)
		}
	}
	if first, largest := tr.largestStep(resumed); math.Abs(first-11) > 0.2+1e-9 || largest > 0.2+1e-9 {
		t.Errorf("after the resume %v, then by up to %v; want the nearest limit and 0.2 V a tick", first, largest)
	}
}
