package loop

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
)

// TestSettlesAnewAfterMending: a child ends while the step settles or measures, its knob goes
// to its own safe state, and it is opened again. Until the knob has been driven back and the
// settle time has passed since, the meter shows something else: no such value counts.
func TestSettlesAnewAfterMending(t *testing.T) {
	for _, own := range []float64{0, 8.9} { // far away, and where one tick leads back
		for at := 30; at < 74; at += 2 { // reads: all phases of steps 2 and 3
			t.Run(fmt.Sprintf("own safe state %v V, read %d", own, at), func(t *testing.T) {
				tr := patientTrial(t, 3, 9, 9, 9, 9)
				tr.opt.Variables[0].Settle = 500 * time.Millisecond // longer than the ticks that a step takes anyway
				knob, moved := tr.rig.knobs["a"], rigStart
				tr.rig.reopen = func() error {
					knob.position, knob.target, knob.since = own, own, tr.clock.Now()
					moved = tr.clock.Now()
					return nil
				}
				reads := 0
				tr.rig.fault = func(op string) error {
					if op == "read" {
						if reads++; reads == at {
							return fmt.Errorf("%w: %w: killed", drivers.ErrUnavailable, drivers.ErrClosed)
						}
					}
					return nil
				}
				tr.rig.meter = func(at map[string]float64) float64 {
					if knob.since.After(moved) {
						moved = knob.since
					}
					if tr.clock.Now().Sub(moved) < tr.opt.Variables[0].Settle {
						return -50 // not settled
					}
					return 10 * at["a"]
				}
				if _, err := tr.run(t, context.Background()); err != nil {
					t.Fatal(err)
				}
				if tr.rig.opens != 2 {
					t.Fatalf("opened %d times", tr.rig.opens)
				}
				tr.wantAllValid(t, 3, 9, 9, 9, 9)
			})
		}
	}
}

// TestSettlesAnewAfterAHand: a hand moves the knob during a step that had nothing to move, and
// the run is resumed. Until the knob has been driven back and the settle time has passed since,
// the meter shows something else: no such value counts.
func TestSettlesAnewAfterAHand(t *testing.T) {
	tr := handTrial(t)
	tr.policy.proposals = proposeAll(3, 3, 3)
	tr.opt.Objective.Shots, tr.opt.Variables[0].Settle = 40, 2*time.Second
	knob := tr.rig.knobs["a"]
	var hand, resumed time.Duration
	moved := rigStart
	tr.rig.meter = func(at map[string]float64) float64 {
		if knob.since.After(moved) {
			moved = knob.since
		}
		if resumed > 0 && tr.clock.Now().Sub(moved) < tr.opt.Variables[0].Settle {
			return -900 // not settled
		}
		return 10 * at["a"]
	}
	tr.rig.aux = func() float64 {
		now := tr.since()
		switch {
		case hand == 0 && len(tr.policy.seen) == 1:
			hand = now
			tr.rig.at(3.3)
		case resumed == 0 && hand > 0 && now > hand+10*time.Second:
			resumed = now
			tr.order(control.CommandResume)
		}
		return 300
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if resumed == 0 || !tr.said("moved from outside") {
		t.Fatalf("moved at %v, resumed at %v; told %+v", hand, resumed, tr.events)
	}
	for _, o := range tr.policy.seen {
		if !o.Valid || o.Mean < 25 { // the shots before the hand was noticed are at up to 3.3 V
			t.Errorf("a shot before it had settled: %+v", o)
		}
	}
}

// TestSettlesAfterARefusal: a device refuses all of a step and takes the same setting in the
// next. That step moves what the one before could not, so it waits for the settle time though
// it wants nothing new: what the meter shows before does not count.
func TestSettlesAfterARefusal(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 5, 5)
	tr.opt.Variables[0].Settle = 500 * time.Millisecond
	knob, refused := tr.rig.knobs["a"], 0
	tr.rig.fault = func(op string) error {
		if op == "write" && len(tr.policy.seen) == 1 {
			refused++
			return fmt.Errorf("%w: the door is open", drivers.ErrRefused)
		}
		return nil
	}
	tr.rig.meter = func(at map[string]float64) float64 {
		if tr.clock.Now().Sub(knob.since) < tr.opt.Variables[0].Settle {
			return -50 // not settled
		}
		return 10 * at["a"]
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := tr.policy.seen
	if refused == 0 || len(seen) != 3 || seen[1].Valid {
		t.Fatalf("refused %d times; %+v", refused, seen)
	}
	if !seen[2].Valid || math.Abs(seen[2].Mean-50) > 1e-6 {
		t.Errorf("the step after the refusal: %+v", seen[2])
	}
}
