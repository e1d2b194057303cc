package loop

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/plan"

	"github.com/labtuner/tuner/loop/control"
)

// TestStalledLoopWritesNothingOld: the loop's goroutine stands still between a decision
// and its write; what was decided then does not leave afterwards.
func TestStalledLoopWritesNothingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = 1500 * time.Millisecond // below the watchdog's patience
		n, late := 0, time.Duration(0)
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(8)
			tr.deps.Failpoint = func(name string) {
				if name != "before-write" {
					return
				}
				if n++; n == 5 {
					time.Sleep(stall)
					late = time.Since(rigStart)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if late == 0 {
			t.Fatal("the loop was never stalled")
		}
		for _, c := range tr.rig.calls("write") {
			if c.at > late-stall && c.at <= late {
				t.Errorf("%v V left at %v, after a stall of %v", c.values["a"], c.at, stall)
			}
		}
		if got := tr.rig.knobs["a"].target; got != 8 {
			t.Errorf("left at %v V, want 8 V: the way goes on after the stall", got)
		}
	})
}

// TestStopRevokesWhatWaits: a setpoint waits behind a slow reading when a person stops
// the run; it does not leave after that.
func TestStopRevokesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := time.Duration(0)
		n := 0
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(8)
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = 10*time.Second, 10*time.Second
			tr.opt.Variables[0].Timeout = 30 * time.Second
			tr.deps.Panel = control.NewPanel("x")
			tr.rig.fault = func(op string) error {
				if op == "read" {
					time.Sleep(time.Second)
				}
				return nil
			}
			tr.deps.Failpoint = func(name string) {
				if name != "before-write" {
					return
				}
				if n++; n == 3 {
					go tr.deps.Panel.Do(context.Background(), control.Request{Command: control.CommandStop, Transport: "cli"})
					time.Sleep(time.Millisecond)
					stopped = time.Since(rigStart)
				}
			}
		})
		if !errors.Is(err, ErrSafety) || stopped == 0 {
			t.Fatalf("error %v, stopped at %v", err, stopped)
		}
		for _, c := range tr.rig.calls("write") {
			if c.at > stopped && c.values["a"] != 1 {
				t.Errorf("%v V left at %v, the stop came at %v", c.values["a"], c.at, stopped)
			}
		}
		if got := tr.rig.knobs["a"].target; got != 1 {
			t.Errorf("left at %v V, want the safe 1 V", got)
		}
	})
}
