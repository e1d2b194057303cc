package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestStalledLoopWritesNothingOld: the loop's goroutine stands still between a decision
// and its write; what was decided then does not leave afterwards. Readings stay fresh long
// enough that nothing but the age of the decision keeps it back.
func TestStalledLoopWritesNothingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = 1500 * time.Millisecond // below the watchdog's patience
		n, late := 0, time.Duration(0)
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(8)
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = 10*time.Second, 10*time.Second
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
		before, after := math.NaN(), []call{}
		for _, c := range tr.rig.calls("write") {
			if c.at < late {
				before = c.values["a"]
			} else {
				after = append(after, c)
			}
		}
		// What was decided before the stall is one tick further up the ramp; what is decided
		// after it is two, as far as slew lets a long tick count.
		old := before + tr.opt.Variables[0].Limits.SlewUp*tr.opt.Tick.Seconds()
		for _, c := range after {
			if math.Abs(c.values["a"]-old) < 1e-9 { // the ramp's sums round
				t.Errorf("%v V left %v after a stall of %v; it was decided before", c.values["a"], c.at-late, stall)
			}
		}
		if len(after) == 0 || math.IsNaN(before) || tr.rig.knobs["a"].target != 8 {
			t.Errorf("%d writes after %v V, left at %v V, want 8 V: the way goes on after the stall", len(after), before, tr.rig.knobs["a"].target)
		}
	})
}

// TestWatchdogRevokesWhatWaits: a setpoint waits behind a slow reading when the loop stands
// still; the watchdog halts the device behind them, and the setpoint does not leave first.
func TestWatchdogRevokesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = 20 * time.Second
		n, stalled, waits := 0, time.Duration(0), false
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(8)
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = 30*time.Second, 30*time.Second
			tr.opt.Variables[0].Timeout = time.Minute
			tr.rig.fault = func(op string) error {
				if op == "read" {
					time.Sleep(5 * time.Second) // longer than the watchdog's patience
				}
				return nil
			}
			tr.deps.Failpoint = func(name string) {
				if name == "before-write" {
					n++
				}
			}
			// When the tick of the third setpoint tells its progress, that setpoint waits in
			// the worker of the device, behind a reading.
			tr.deps.Watch.Progress = func(control.Progress) {
				if n < 3 || waits {
					return
				}
				waits, stalled = true, time.Since(rigStart)
				time.Sleep(stall)
			}
		})
		if !waits || !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "watchdog") {
			t.Fatalf("stalled: %v, error %v", waits, err)
		}
		halts := tr.rig.calls("halt")
		if len(halts) == 0 || halts[0].at >= stalled+stall {
			t.Fatalf("the watchdog did not halt while the loop stood: %+v", halts)
		}
		for _, c := range tr.rig.calls("write") {
			if c.at > stalled && c.at < stalled+stall {
				t.Errorf("%v V left %v into the stall; the watchdog halted the device after %v", c.values["a"], c.at-stalled, halts[0].at-stalled)
			}
		}
		if got := tr.rig.knobs["a"].target; got != 1 {
			t.Errorf("left at %v V, want the safe 1 V", got)
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

// TestHoldRevokesWhatItsDeviceHas: the device has been handed a setpoint and waits for its
// line when a person pauses the run; the setpoint does not leave after that, nor is it what
// the lease has written again.
func TestHoldRevokesWhatItsDeviceHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := &gatedRig{}
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = 10*time.Second, 10*time.Second
			tr.opt.Variables[0].Timeout, tr.opt.Variables[0].Limits.Lease = 30*time.Second, time.Second
			tr.policy.propose = func(context.Context) (policy.Proposal, error) { return policy.Proposal{X: []float64{8}}, nil }
			dev.rig = tr.rig
			tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
		})
		type kept struct {
			stood float64
			late  error
		}
		var n atomic.Int64
		var third atomic.Pointer[kept]
		dev.write = func(_ context.Context, s drivers.Setpoints) error {
			if n.Add(1) != 3 {
				return nil
			}
			stood := tr.rig.aim("a")
			if r := ask(tr.deps.Panel, control.CommandPause); !r.OK {
				t.Errorf("pause: %+v", r)
			}
			time.Sleep(tr.opt.Tick) // for its line
			late := s.Late(time.Now())
			third.Store(&kept{stood, late})
			if late != nil {
				return fmt.Errorf("%w: %w", drivers.ErrNotSent, late)
			}
			return nil
		}
		end := tr.begin(t)
		time.Sleep(5 * time.Second)
		got := third.Load()
		if got == nil || !errors.Is(got.late, drivers.ErrLate) {
			t.Fatalf("a setpoint of before the pause leaves after it: %+v", got)
		}
		if at := tr.rig.aim("a"); n.Load() < 5 || at != got.stood {
			t.Errorf("%d writes, held at %v V, it stood at %v V", n.Load(), at, got.stood)
		}
		ask(tr.deps.Panel, control.CommandResume)
		time.Sleep(10 * time.Second)
		if at := tr.rig.aim("a"); at != 8 {
			t.Errorf("at %v V after the pause, want 8 V", at)
		}
		ask(tr.deps.Panel, control.CommandStop)
		if _, err := end(); !errors.Is(err, ErrSafety) {
			t.Error(err)
		}
	})
}
