package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// slowHalt is a device whose halt takes its time, and on which every write is looked at.
type slowHalt struct {
	*gatedRig
	takes time.Duration
}

func (s *slowHalt) Halt(ctx context.Context) error {
	time.Sleep(s.takes)
	return s.rig.Halt(ctx)
}

// stalled is a run whose loop stands still once, in the middle of the tick of its nth
// setpoint, 0.2 V further each. It gives what was written after that.
func stalled(t *testing.T, nth int64, stall, halt time.Duration) (after []drivers.Setpoints, err error) {
	t.Helper()
	var writes atomic.Int64
	var since atomic.Bool
	_, _, err = live(t, plan.Live, func(tr *trial) {
		dev := &slowHalt{gatedRig: &gatedRig{rig: tr.rig}, takes: halt}
		tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
		tr.policy.proposals = proposeAll(8)
		tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = time.Minute, time.Minute
		tr.opt.Variables[0].Timeout = time.Minute
		tr.deps.Failpoint = func(name string) {
			if name == "before-write" {
				writes.Add(1)
			}
		}
		tr.deps.Watch.Progress = func(control.Progress) {
			if writes.Load() < nth || since.Load() {
				return
			}
			time.Sleep(stall)
			since.Store(true)
		}
		dev.write = func(_ context.Context, s drivers.Setpoints) error {
			if since.Load() {
				after = append(after, s)
			}
			return nil
		}
	})
	return after, err
}

// wantOnlySafe wants a trip by the watchdog's rule, and nothing but safe values.
func wantOnlySafe(t *testing.T, after []drivers.Setpoints, err error) {
	t.Helper()
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "watchdog") {
		t.Errorf("error %v, want a trip by the watchdog", err)
	}
	if len(after) == 0 {
		t.Error("no safe value was written")
	}
	for i, s := range after {
		if !s.Safe || s.Values["a"] != 1 {
			t.Errorf("write %d after the stall is %+v, want only the safe 1 V", i, s)
		}
	}
}

// TestHaltIsTakenInFirst: the watchdog has halted the device while the loop stood, and word of
// it comes late. The loop trips in its next tick: its own setpoint does not undo the halt.
func TestHaltIsTakenInFirst(t *testing.T) {
	for _, nth := range []int64{5, 9} { // at the safe 1 V, which is written again after the halt, and beyond
		for _, halt := range []time.Duration{0, 10 * time.Millisecond, 4 * time.Second} {
			t.Run(fmt.Sprintf("setpoint %d, halt of %v", nth, halt), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					after, err := stalled(t, nth, 3*time.Second, halt)
					wantOnlySafe(t, after, err)
				})
			})
		}
	}
}

// TestLoopBackBeforeTheWatchdog: the loop stood for too long and goes on before the watchdog,
// which looks from time to time, has seen it. It trips all the same.
func TestLoopBackBeforeTheWatchdog(t *testing.T) {
	for ms := 2010; ms <= 2450; ms += 110 {
		synctest.Test(t, func(t *testing.T) {
			after, err := stalled(t, 9, time.Duration(ms)*time.Millisecond, 0)
			wantOnlySafe(t, after, err)
		})
	}
}

// TestSetpointLeavesWithinItsLease: a setpoint waits for its device behind a reading, for
// longer than its lease. It does not leave; the next tick's does. Each says until when it may.
func TestSetpointLeavesWithinItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 1500 * time.Millisecond
		reads, writes := 0, 0
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			dev := &gatedRig{rig: tr.rig}
			tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
			tr.policy.proposals = proposeAll(4)
			tr.opt.Variables[0].Limits.Lease = lease
			tr.opt.Variables[0].MaxAge, tr.opt.Sensors[1].MaxAge = time.Minute, time.Minute
			dev.read = func(context.Context) error {
				if reads++; reads == 10 {
					time.Sleep(4 * time.Second)
				}
				return nil
			}
			dev.write = func(_ context.Context, s drivers.Setpoints) error {
				writes++
				now := time.Now()
				if !s.Safe && (s.SendBy.IsZero() || s.SendBy.Sub(now) > lease || s.Late(now) != nil) {
					t.Errorf("%v V left %v after it might, lease %v", s.Values["a"], now.Sub(s.SendBy), lease)
				}
				return nil
			}
		})
		if err != nil || writes == 0 || tr.rig.knobs["a"].target != 4 {
			t.Errorf("error %v, %d writes, left at %v V", err, writes, tr.rig.knobs["a"].target)
		}
	})
}

// TestNothingLeavesBetweenHaltAndTrip: the watchdog judges just before the loop shows its
// sign, so that only its mark tells. What the loop hands over then does not leave; it takes the
// mark in once, holds it against the run, and knows nothing of where its actuators are.
func TestNothingLeavesBetweenHaltAndTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(plan.Live)
		r := newRig(worker.RealClock{}, "a")
		j, _ := book(t, &o)
		l, err := newLoop(o, Deps{Policy: &script{}, Journal: j, Devices: []Device{{Name: "rig", Device: r}}})
		if err != nil {
			t.Fatal(err)
		}
		l.instrument.Open(t.Context())
		defer l.pool.Close(closeTimeout)
		l.instrument.HaltAll(time.Second)
		apply(l, 8)
		synctest.Wait()
		if got := r.calls("write"); len(got) > 0 || r.halts != 1 {
			t.Errorf("%d halts, and %v was written after that", r.halts, got)
		}
		l.ownStall(l.now())
		lost := func() bool {
			var in safety.Inputs
			l.instrument.Inputs(&in, l.present(), l.guard.Time)
			return in.Variable[0].Lost
		}
		if !l.guard.Faulted(safety.RuleWatchdog) || !lost() {
			t.Errorf("held against the run: %v, knob lost: %v", l.guard.Faulted(safety.RuleWatchdog), lost())
		}
		l.guard.Forgive(safety.RuleWatchdog)
		l.instrument.Rule(l.present(), &safety.Output{}, false)
		l.ownStall(l.now())
		if l.guard.Faulted(safety.RuleWatchdog) || lost() {
			t.Error("taken in twice")
		}
	})
}

// TestNothingLeavesAfterAStop: the whole process is stopped in the middle of a write of several
// messages. The device's goroutine is back first, before the watchdog has looked: nothing more
// leaves then, nor after the loop has taken the stall in.
func TestNothingLeavesAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(plan.Live)
		dev := &gatedRig{rig: newRig(worker.RealClock{}, "a")}
		j, _ := book(t, &o)
		l, err := newLoop(o, Deps{Policy: &script{}, Journal: j, Devices: []Device{{Name: "rig", Device: dev}}})
		if err != nil {
			t.Fatal(err)
		}
		var before, stopped, taken bool
		goOn, back := make(chan bool), make(chan bool)
		dev.write = func(_ context.Context, s drivers.Setpoints) error {
			before = s.Late(time.Now()) != nil
			<-goOn
			stopped = s.Late(time.Now()) != nil
			back <- true
			<-goOn
			taken = s.Late(time.Now()) != nil
			return nil
		}
		l.instrument.Open(t.Context())
		defer l.pool.Close(closeTimeout)
		l.guard.ShowSign(l.now(), true)
		apply(l, 8)
		synctest.Wait()
		time.Sleep(3 * time.Second) // no watchdog runs
		goOn <- true
		<-back
		l.ownStall(l.now())
		l.guard.ShowSign(l.now(), true)
		goOn <- true
		synctest.Wait()
		if before || !stopped || !taken {
			t.Errorf("revoked at first: %v; after the stop: %v; once the loop has taken it in: %v", before, stopped, taken)
		}
	})
}

// apply has a variable's setpoint written as the safety layer's word of now.
func apply(l *Loop, value float64) {
	out := safety.Output{}
	out.Write[0], out.Setpoint[0] = true, value
	l.instrument.Rule(l.present(), &out, false)
	l.instrument.Apply(l.present(), &out)
}
