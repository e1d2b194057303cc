package loop

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// jumpy is the machine's clock with a wall that is set to something else meanwhile,
// as NTP or a person does: the monotonic reading goes on.
type jumpy struct{ by *atomic.Int64 }

func (c jumpy) Now() time.Time { return shiftWall(time.Now(), time.Duration(c.by.Load())) }

// shiftWall moves the wall reading of a time and leaves the monotonic one. There is no
// other way to make such a time than by its layout: 33 bits of seconds above 30 bits
// of nanoseconds, beside a word of monotonic time.
func shiftWall(t time.Time, by time.Duration) time.Time {
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] = uint64(int64(words[0]) + int64(by/time.Second)<<30)
	return t
}

const year = 365 * 24 * time.Hour

// TestWallClockJumpsChangeNothing: a run in real time, in which the wall clock is set a
// year ahead, then two years back: each is told, and nothing is held, stale, late or
// otherwise measured.
func TestWallClockJumpsChangeNothing(t *testing.T) {
	if moved := shiftWall(time.Now(), year); time.Until(moved).Abs() > time.Minute || time.Until(moved.Round(0)) < year-time.Minute {
		t.Fatalf("the layout of a time is another: %v", moved)
	}
	var by atomic.Int64
	jumps := []time.Duration{year, -year}
	tr, res, err := live(t, plan.Live, func(tr *trial) {
		clock := jumpy{&by}
		tr.rig = newRig(clock, "a")
		tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
		tr.deps.Clock, tr.deps.Devices = clock, []Device{{Name: "rig", Device: tr.rig}}
		tr.opt.Tick, tr.opt.Outages = 5*time.Millisecond, plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
		v := &tr.opt.Variables[0]
		v.Settle, v.Limits.SlewUp, v.Limits.SlewDown = 10*time.Millisecond, 1000, 1000
		for i := range tr.opt.Sensors { // the machine may be busy with other tests
			tr.opt.Sensors[i].MaxAge = time.Minute
		}
		v.MaxAge, v.Timeout, tr.opt.Objective.Timeout = time.Minute, time.Minute, time.Minute
		tr.opt.Stop = plan.Stop{Time: 10 * time.Minute}
		tr.policy.proposals = proposeAll(4, 6, 8, 2, 7, 3)
		tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
		tr.deps.Watch.Step = func(_ journal.Decision, o journal.Outcome) {
			if o.Step%2 == 0 && len(jumps) > 0 {
				by.Store(int64(jumps[0]))
				jumps = jumps[1:]
			}
		}
	})
	if err != nil || res.Steps != 6 || res.Elapsed > 9*time.Minute {
		t.Fatalf("result %+v, error %v", res, err)
	}
	tr.wantAllValid(t, 4, 6, 8, 2, 7, 3)
	if tr.told("the wall clock has jumped by") != 2 || tr.said("held") {
		t.Errorf("events %+v", tr.events)
	}
}

// TestWallClockJumpsBetweenSessions: a machine that comes back from a power cut a year
// early or late goes on as if it had not.
func TestWallClockJumpsBetweenSessions(t *testing.T) {
	want := ""
	for _, by := range []time.Duration{0, year, -year} {
		path, o := crash(t, "decision-durable", 6)
		o.Stop = plan.Stop{Steps: 12}
		_, res := resumeAt(t, path, o, oneKnobSpec(), rigStart.Add(by), 0)
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(res.Steps, res.Spent, res.Elapsed, res.Found)
		for s, err := range r.Steps() {
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprint(" ", s.Decision.Requested, s.Outcome.Mean, s.Decision.At.Mono)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("by %v:\n%s\nwant\n%s", by, got, want)
		}
	}
}

// TestBlockedDeviceHolds: a call that does not come back for 20 minutes blocks nothing
// else. The run is held, falls back, and goes on when the call has ended.
func TestBlockedDeviceHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticks, blocked := 0, false
		tr, res, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(4, 6, 8)
			tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
			tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
			tr.deps.Watch.Progress = func(control.Progress) { ticks++ }
			tr.rig.fault = func(op string) error {
				if len(tr.policy.seen) == 1 && !blocked && op == "read" {
					blocked = true
					time.Sleep(20 * time.Minute)
				}
				return nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int(res.Elapsed / tr.opt.Tick); res.Elapsed < 20*time.Minute || ticks < want-5 {
			t.Errorf("%d ticks in %v", ticks, res.Elapsed)
		}
		if !tr.said("held: ") || !tr.said("fallen back") || !tr.said("the outage is over") || !tr.policy.seen[len(tr.policy.seen)-1].Valid {
			t.Errorf("events %+v", tr.events)
		}
	})
}
