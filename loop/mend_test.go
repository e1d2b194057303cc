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
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/scripts/testsize"
)

// patientTrial is a trial that waits outages out.
func patientTrial(t *testing.T, values ...float64) *trial {
	tr := newTrial(t)
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
	tr.policy.proposals = proposeAll(values...)
	tr.rig.reopen = func() error { return nil }
	return tr
}

// told counts the events that contain words.
func (tr *trial) told(words string) (n int) {
	for _, e := range tr.events {
		if strings.Contains(e.Message, words) {
			n++
		}
	}
	return n
}

// wantAllValid wants one valid observation for each setting.
func (tr *trial) wantAllValid(t *testing.T, settings ...float64) {
	t.Helper()
	if len(tr.policy.seen) != len(settings) {
		t.Fatalf("%d observations, want %d", len(tr.policy.seen), len(settings))
	}
	for i, o := range tr.policy.seen {
		if !o.Valid || math.Abs(o.X[0]-settings[i]) > 1e-9 || o.Shots != 3 || math.Abs(o.Mean-10*settings[i]) > 1e-6 {
			t.Errorf("observation %d: %+v, want the meter at %v", i, o, settings[i])
		}
	}
}

// wantNoJump wants every setpoint within slew of the one before, or of where the knob
// stood when it was read: at may say so for a write that follows an outage.
func (tr *trial) wantNoJump(t *testing.T, afterOutage func(time.Duration) (float64, bool)) {
	t.Helper()
	last := 0.0
	for _, c := range tr.rig.calls("write") {
		if at, is := afterOutage(c.at); is {
			last, afterOutage = at, func(time.Duration) (float64, bool) { return 0, false }
		}
		if x := c.values["a"]; math.Abs(x-last) > 0.2+1e-9 { // 2 V/s in a tick of 0.1 s
			t.Errorf("at %v from %v to %v in a tick", c.at, last, x)
		}
		last = c.values["a"]
	}
}

func never(time.Duration) (float64, bool) { return 0, false }

// TestGarbledAnswerIsMended: each kind of answer after which a device must be opened
// again, once, in the middle of each phase of a step: nothing is held, nothing is
// lost.
func TestGarbledAnswerIsMended(t *testing.T) {
	for name, broken := range map[string]error{
		"not a number": fmt.Errorf("%w: NaN", drivers.ErrProtocol),
		"late":         fmt.Errorf("%w: no answer in time", drivers.ErrProtocol),
		"ended":        fmt.Errorf("%w: %w: exit status 3", drivers.ErrUnavailable, drivers.ErrClosed),
	} {
		for _, at := range []int{5, 12, 33, 40, 47, 60} { // reads, through moving and measuring
			t.Run(fmt.Sprintf("%s at read %d", name, at), func(t *testing.T) {
				tr := patientTrial(t, 3, 6, 9)
				reads := 0
				tr.rig.fault = func(op string) error {
					if op == "read" {
						if reads++; reads == at {
							return broken
						}
					}
					return nil
				}
				if _, err := tr.run(t, context.Background()); err != nil {
					t.Fatal(err)
				}
				tr.wantAllValid(t, 3, 6, 9)
				tr.wantNoJump(t, never)
				if tr.rig.opens != 2 || tr.rig.halts != 0 || tr.said("held") || tr.told("answers again") != 1 {
					t.Errorf("opens %d, halts %d, events %+v", tr.rig.opens, tr.rig.halts, tr.events)
				}
			})
		}
	}
}

// TestDeviceThatKeepsFailingHoldsAndComesBack: a device that cannot be opened again
// for 20 minutes, and comes back switched off and on: the run is held, falls back,
// and goes on by itself from where the actuator stands then.
func TestDeviceThatKeepsFailingHoldsAndComesBack(t *testing.T) {
	tr := patientTrial(t, 3, 6, 9)
	var broke time.Time
	const outage = 20 * time.Minute
	tr.rig.fault = func(string) error {
		if len(tr.policy.seen) == 1 && broke.IsZero() && tr.rig.knobs["a"].target > 4 {
			broke = tr.clock.Now()
			return fmt.Errorf("%w: no answer in time", drivers.ErrProtocol)
		}
		return nil
	}
	tr.rig.reopen = func() error {
		if tr.clock.Now().Sub(broke) < outage {
			return fmt.Errorf("%w: does not start", drivers.ErrUnavailable)
		}
		tr.rig.knobs["a"].target = 0.5 // it was off
		return nil
	}
	res, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tr.policy.seen); n != 2 || !tr.policy.seen[1].Valid || tr.policy.seen[1].X[0] != 9 || res.Steps != 3 {
		t.Errorf("%d observations, %d steps; the step in the outage is given up and teaches nothing: %+v", n, res.Steps, tr.policy.seen)
	}
	for _, words := range []string{"is held, and tries again", "held: instrument of rig", "the run waits", "answers again after 20m", "the outage is over"} {
		if tr.told(words) == 0 {
			t.Errorf("nobody said %q: %+v", words, tr.events)
		}
	}
	// Ever more seldom: 0.1, 0.2, ... 6.4 s, then every 10 s.
	if n := tr.rig.opens; n > 3+7+int(outage/(10*time.Second)) || n < 100 {
		t.Errorf("opened %d times in %v", n, outage)
	}
	if over := res.Elapsed - outage; over > time.Minute {
		t.Errorf("the run took %v longer than the outage", over)
	}
	tr.wantNoJump(t, func(at time.Duration) (float64, bool) { return 0.5, at > broke.Sub(rigStart)+outage })
}

// TestLinkThatMendsItself: a port or a broker that is gone for a while, in the middle of
// a move, and an instrument that comes back at another setting: no trip for a
// readback that nobody could see, no hold for a hand that there was not.
func TestLinkThatMendsItself(t *testing.T) {
	for _, outage := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 25 * time.Second, 20 * time.Minute}[:testsize.Of(3, 4)] {
		t.Run(outage.String(), func(t *testing.T) {
			tr := patientTrial(t, 3, 6, 9)
			var broke time.Time
			tr.rig.fault = func(string) error {
				if len(tr.policy.seen) == 1 && broke.IsZero() && tr.rig.knobs["a"].target > 4 {
					broke = tr.clock.Now()
				}
				switch {
				case broke.IsZero():
					return nil
				case tr.clock.Now().Sub(broke) < outage:
					return fmt.Errorf("%w: not connected", drivers.ErrUnavailable)
				case outage > time.Second && tr.rig.knobs["a"].released == false && tr.rig.knobs["a"].natural == nil:
					tr.rig.knobs["a"].natural = func() float64 { return 0 } // once
					tr.rig.knobs["a"].target = 1
				}
				return nil
			}
			res, err := tr.run(t, context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if tr.rig.opens != 1 || tr.said("tripped") || tr.said("override") {
				t.Errorf("opens %d, events %+v", tr.rig.opens, tr.events)
			}
			if outage < time.Minute {
				tr.wantAllValid(t, 3, 6, 9)
			} else if n := len(tr.policy.seen); n != 2 || !tr.policy.seen[1].Valid || res.Steps != 3 {
				t.Errorf("%d steps, learnt %+v", res.Steps, tr.policy.seen)
			}
			if outage > time.Second {
				tr.wantNoJump(t, func(at time.Duration) (float64, bool) { return 1, at > broke.Sub(rigStart)+outage })
			}
		})
	}
}

// TestAnotherInstrumentIsNotTakenBack: what answers after an outage must have the
// channels of the file.
func TestAnotherInstrumentIsNotTakenBack(t *testing.T) {
	tr := patientTrial(t, 3, 6)
	broken, tries := false, 0
	tr.rig.fault = func(string) error {
		if len(tr.policy.seen) == 1 && !broken {
			broken = true
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	a := tr.rig.knobs["a"]
	tr.rig.reopen = func() error {
		if tries++; tries < 3 {
			delete(tr.rig.knobs, "a")
		} else {
			tr.rig.knobs["a"] = a
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.wantAllValid(t, 3, 6)
	if tries != 3 || tr.told(`has no channel "a"`) != 1 {
		t.Errorf("%d tries, events %+v", tries, tr.events)
	}
}

// TestFailuresWithinTheBudgetAreNotHeld: three in half a minute are mended unseen, the
// fourth holds; the hold ends by itself.
func TestFailuresWithinTheBudgetAreNotHeld(t *testing.T) {
	for failures, wantHeld := range map[int]bool{3: false, 4: true} {
		tr := patientTrial(t, 3, 6, 9)
		reads, failed := 0, 0
		tr.rig.fault = func(op string) error {
			if op == "read" {
				if reads++; reads%10 == 0 && failed < failures {
					failed++
					return fmt.Errorf("%w: garbage", drivers.ErrProtocol)
				}
			}
			return nil
		}
		if _, err := tr.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		tr.wantAllValid(t, 3, 6, 9)
		if held := tr.said("held: instrument of rig"); held != wantHeld {
			t.Errorf("%d failures: held %v", failures, held)
		}
		if tr.rig.opens != 1+failures {
			t.Errorf("%d failures: opened %d times", failures, tr.rig.opens)
		}
	}
}

// TestOutageEndsARunThatDoesNotWait: as a simulation does, and a file that says so.
func TestOutageEndsARunThatDoesNotWait(t *testing.T) {
	tr := patientTrial(t, 3, 6)
	tr.opt.Outages.Wait = false
	tr.rig.fault = func(string) error {
		if len(tr.policy.seen) == 1 {
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); !errors.Is(err, ErrInstrument) {
		t.Errorf("error %v", err)
	}
}
