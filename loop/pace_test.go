package loop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// fast is a rig that takes its time for an answer, and may say how old its value is.
type fast struct {
	*rig
	takes time.Duration
	age   func() time.Duration
	fails func() bool
}

func (f *fast) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	time.Sleep(f.takes)
	r, err := f.rig.Read(ctx, channels)
	if f.age != nil {
		r.At = r.At.Add(-f.age())
	}
	if f.fails != nil && f.fails() {
		return drivers.Reading{}, fmt.Errorf("%w: %w: no frame yet", drivers.ErrRefused, drivers.ErrNoValue)
	}
	return r, err
}

// shotsTook runs one step, and gives its shots and the time from the first to the last.
func shotsTook(t *testing.T, mode plan.Mode, prepare func(*trial, *fast)) (shots int, took time.Duration) {
	t.Helper()
	tr, _, err := live(t, mode, func(tr *trial) {
		tr.policy.proposals = proposeAll(4)
		tr.opt.Objective.Shots = 10
		dev := &fast{rig: tr.rig, takes: 200 * time.Microsecond}
		prepare(tr, dev)
		tr.deps.Devices[0].Device = dev
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(tr.outcomes), spanOf(t, tr.deps.Journal.Path(), tr.opt.Objective.Shots)
}

// spanOf is the time from the first to the last shot of step 1.
func spanOf(t *testing.T, path string, want int) time.Duration {
	t.Helper()
	shots := shotsOf(t, path, 1)
	if len(shots) != want {
		t.Fatalf("%d shots, want %d", len(shots), want)
	}
	return shots[len(shots)-1].At.Mono - shots[0].At.Mono
}

// TestShotsAreNotPacedByTicks: an instrument that answers in 0.2 ms gives ten shots in about 2 ms,
// unless a rule counts readings, or the file says otherwise. The clock is the bubble's: exact.
func TestShotsAreNotPacedByTicks(t *testing.T) {
	const answer, tick = 200 * time.Microsecond, 100 * time.Millisecond
	for name, c := range map[string]struct {
		prepare func(*trial, *fast)
		want    time.Duration // for the nine shots after the first
	}{
		"as it answers":      {func(*trial, *fast) {}, 9 * answer},
		"said":               {func(tr *trial, _ *fast) { tr.opt.Objective.Every = time.Millisecond }, 9 * time.Millisecond},
		"less than it takes": {func(tr *trial, _ *fast) { tr.opt.Objective.Every = time.Microsecond }, 9 * answer},
		"more than a tick":   {func(tr *trial, _ *fast) { tr.opt.Objective.Every = 130 * time.Millisecond }, 9 * 130 * time.Millisecond},
		"rate":               {func(tr *trial, _ *fast) { tr.opt.Sensors[1].Limits.Rate = 1e9 }, 9 * tick},
		"stuck":              {func(tr *trial, _ *fast) { tr.opt.Sensors[0].Limits.Stuck = 1000 }, 9 * tick},
		// The same frame is no second shot, and its device is asked again at the next tick.
		"old frames": {func(tr *trial, f *fast) {
			f.age = func() time.Duration { return time.Duration(f.rig.clock.Now().Add(tick/2).UnixNano()) % tick }
		}, 9 * tick},
		"no frame yet": {func(_ *trial, f *fast) {
			last := time.Time{}
			f.fails = func() bool {
				now := f.rig.clock.Now()
				early := now.Sub(last) < tick/2
				if !early {
					last = now
				}
				return early
			}
		}, 9 * tick},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps, took := shotsTook(t, plan.Live, c.prepare)
				if steps != 1 || took < c.want-answer || took > c.want+answer {
					t.Errorf("%d steps; ten shots took %v, want %v", steps, took, c.want)
				}
			})
		})
	}
}

// TestShotsOfASimulation: a simulation is asked at ticks, or as often as the file says.
func TestShotsOfASimulation(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{0: 900 * time.Millisecond, 200 * time.Microsecond: 1800 * time.Microsecond, 250 * time.Millisecond: 2250 * time.Millisecond} {
		tr := newTrial(t)
		tr.policy.proposals = proposeAll(4)
		tr.opt.Objective.Shots, tr.opt.Objective.Every = 10, every
		if _, err := tr.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		if took := spanOf(t, tr.deps.Journal.Path(), 10); took != want {
			t.Errorf("every %v: ten shots took %v, want %v", every, took, want)
		}
		if asked := len(tr.rig.calls("measure")); asked != 10 {
			t.Errorf("every %v: asked %d times for ten shots", every, asked)
		}
	}
}

// TestSameShotsAreTold: replicates of one measurement are told of, once.
func TestSameShotsAreTold(t *testing.T) {
	for noisy, want := range map[bool]int{false: 1, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			tr, _, err := live(t, plan.Live, func(tr *trial) {
				tr.policy.proposals = proposeAll(4, 5, 6)
				tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
				n := 0.0
				tr.rig.meter = func(map[string]float64) float64 {
					if noisy {
						n++
					}
					return 7 + n
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Count(tr.texts(), "3 shots within 0s are the same to the bit"); said != want {
				t.Errorf("noisy %v: told %d times:\n%s", noisy, said, tr.texts())
			}
		})
	}
}
