package loop

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
)

// spoilt is a rig whose measurements of some numbers, from 1, have no value.
type spoilt struct {
	*rig
	bad  []int
	seen int
}

func (s *spoilt) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	if slices.Contains(channels, "meter") {
		if s.seen++; slices.Contains(s.bad, s.seen) {
			return drivers.Reading{}, fmt.Errorf("%w: %w: the shutter stuck", drivers.ErrRefused, drivers.ErrNoValue)
		}
	}
	return s.rig.Read(ctx, channels)
}

// TestMeasurementWithoutValueEndsTheStep: where the instrument says so, the step does
// not wait for its timeout; the same setting may be tried again, and shots that were
// taken count.
func TestMeasurementWithoutValueEndsTheStep(t *testing.T) {
	tr := newTrial(t)
	dev := &spoilt{rig: tr.rig, bad: []int{1, 6}}
	tr.deps.Devices = []Device{{Name: "rig", Device: dev}}
	tr.opt.Objective.Timeout = time.Hour
	tr.policy.proposals = proposeAll(3, 3, 3)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(tr.outcomes) != 3 || tr.clock.Now().Sub(rigStart) > time.Minute {
		t.Fatalf("%d steps in %v", len(tr.outcomes), tr.clock.Now().Sub(rigStart))
	}
	for i, want := range []struct {
		valid bool
		shots int
	}{{false, 0}, {true, 3}, {true, 1}} {
		o := tr.outcomes[i]
		if o.Valid != want.valid || o.Shots != want.shots || !o.Valid && !strings.Contains(o.Problem, "the shutter stuck") {
			t.Errorf("step %d: %+v", i+1, o)
		}
	}
}

// shifted is a rig whose readings tell other times.
type shifted struct {
	*rig
	by time.Duration
}

func (s *shifted) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	r, err := s.rig.Read(ctx, channels)
	r.At = r.At.Add(s.by)
	return r, err
}

// TestNothingIsScoredBeforeItHasSettled: the readback is there at once, what it does to
// the meter 3 s later. Whatever is measured until then is poison; neither readings as of
// now nor those that tell of a second ago may let it in, and the journal and the model
// have the readback, not the request.
func TestNothingIsScoredBeforeItHasSettled(t *testing.T) {
	const poison, offset = -900.0, 0.005
	for _, ahead := range []time.Duration{0, -time.Second, time.Hour} {
		tr := newTrial(t)
		tr.rig.drift = offset
		tr.deps.Devices = append(tr.deps.Devices, Device{Name: "meter", Device: &shifted{tr.rig, ahead}})
		tr.opt.Sensors[0].Channel.Device = 1
		tr.opt.Variables[0].Settle, tr.opt.Variables[0].MaxAge = 3*time.Second, 2*time.Second
		for i := range tr.opt.Sensors {
			tr.opt.Sensors[i].MaxAge = 2 * time.Second
		}
		tr.policy.proposals = proposeAll(4, 6, 2)
		tr.rig.meter = func(at map[string]float64) float64 {
			if taken := tr.clock.Now().Add(min(ahead, 0)); taken.Before(tr.rig.knobs["a"].since.Add(3 * time.Second)) {
				return poison
			}
			return 10 * at["a"]
		}
		j, path := book(t, &tr.opt)
		tr.deps.Journal = j
		if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
			t.Fatalf("times %v ahead: %v", ahead, err)
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{4, 6, 2} {
			shots, err := r.Shots(i + 1)
			if err != nil || len(shots) != 3 {
				t.Fatalf("times %v ahead: step %d: %d shots, %v", ahead, i+1, len(shots), err)
			}
			for _, s := range shots {
				if s.Objective != 10*want || s.X[0] != want+offset {
					t.Errorf("times %v ahead: step %d: the journal has %v at %v", ahead, i+1, s.Objective, s.X)
				}
			}
			if o := tr.policy.seen[i]; math.Abs(o.X[0]-want-offset) > 1e-12 || math.Abs(o.Mean-10*want) > 1e-12 || o.Variance != 0 {
				t.Errorf("times %v ahead: the model has %+v", ahead, o)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHoldStopsTheClocksOfShots: a hold takes nothing of the time in which the next shot must come: what began
// before a hold that outlasts it has all of its shots after it, whether the instrument was settling or measured.
func TestHoldStopsTheClocksOfShots(t *testing.T) {
	const hold = 20 * time.Second
	for _, held := range []phase{settling, measuring} {
		tr := newTrial(t)
		tr.opt.Variables[0].Settle = 3 * time.Second
		tr.opt.Objective.Every, tr.opt.Objective.Timeout = 3*time.Second, 5*time.Second
		tr.policy.proposals = proposeAll(3, 6, 9)
		var silent time.Time // since the knob is at 6 V, or since the first shot there
		begin := func() {
			if silent.IsZero() {
				silent = tr.clock.Now()
			}
		}
		shots := 0
		tr.rig.meter = func(at map[string]float64) float64 {
			if at["a"] == 6 {
				if shots++; held == measuring {
					begin()
				}
			}
			return 10 * at["a"]
		}
		tr.rig.aux = func() float64 {
			if k := tr.rig.knobs["a"]; held == settling && tr.rig.position(k) == 6 {
				begin()
			}
			if !silent.IsZero() && tr.clock.Now().Sub(silent) < hold {
				return math.NaN()
			}
			return 300
		}
		before := 0 // shots of step 2 when the hold began
		tr.deps.Watch.Event = func(e journal.Event) {
			if tr.events = append(tr.events, e); strings.Contains(e.Message, "held: sensor aux") {
				before = shots
			}
		}
		if _, err := tr.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		if want := map[phase]int{settling: 0, measuring: 1}[held]; !tr.said("held: sensor aux") || !tr.said("the hold is over") || before != want {
			t.Errorf("held while %v: after %d shots, want %d; events %+v", held, before, want, tr.events)
		}
		tr.wantAllValid(t, 3, 6, 9)
	}
}
