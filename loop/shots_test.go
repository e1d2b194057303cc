package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
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
	tr.deps.Devices = []Device{{"rig", dev}}
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
