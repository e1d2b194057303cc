package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// TestManyVariables: a whole run of n actuators, in which the last one does not follow in the
// third step: it alone is named, in the journal and in the control state, every actuator is at its
// safe value, and every verdict of the safety layer derives again from the record.
func TestManyVariables(t *testing.T) {
	for _, n := range []int{1, 32, 33, 64, 65, safety.MaxVariables} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			tr, path, last := manyTrial(t, n)
			_, err := Run(context.Background(), tr.opt, tr.deps)
			if !errors.Is(err, ErrSafety) || len(tr.policy.seen) != 2 {
				t.Fatalf("%d steps, error %v", len(tr.policy.seen), err)
			}
			if !tr.said("tripped: readback of "+last+" ") || tr.said("readback of v0 ") != (n == 1) {
				t.Errorf("events %+v", tr.events)
			}
			for name, k := range tr.rig.knobs {
				if k.target != 1 {
					t.Errorf("%s was sent to %v in a trip", name, k.target)
				}
			}
			if s := tr.deps.Control.State(); len(s.Latched) != 1 || s.Latched[0].Of != last {
				t.Errorf("latched %+v", s.Latched)
			}
			if err := tr.deps.Journal.Close(); err != nil {
				t.Fatal(err)
			}
			if done := verdictsOf(t, path, 0); done.First != nil || done.Ticks == 0 {
				t.Errorf("verdicts: %+v, %+v", done, done.First)
			}
		})
	}
}

// manyTrial is a run of n actuators, and the name of the last, which sticks in the third step.
func manyTrial(t *testing.T, n int) (tr *trial, path, last string) {
	t.Helper()
	tr = newTrial(t)
	names := make([]string, n)
	tr.opt.Variables, tr.opt.ControlSets[0].Variables = nil, nil
	for i := range n {
		names[i] = fmt.Sprintf("v%d", i)
		v := variable(names[i])
		v.OnFault, v.Shutdown = plan.RestSafe, plan.RestSafe
		tr.opt.Variables = append(tr.opt.Variables, v)
		tr.opt.ControlSets[0].Variables = append(tr.opt.ControlSets[0].Variables, i)
	}
	last = names[n-1]
	tr.rig = newRig(tr.clock, names...)
	tr.rig.meter = func(at map[string]float64) float64 { return at[last] }
	tr.deps.Devices = []Device{{Name: "rig", Device: tr.rig}}
	for step := range 5 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(2 + step)
		}
		tr.policy.proposals = append(tr.policy.proposals, policy.Proposal{Step: step + 1, X: x, Work: 1})
	}
	tr.deps.BeginStep = func(step int) {
		if step == 3 {
			k := tr.rig.knobs[last]
			k.position, k.stuck = tr.rig.position(k), true
		}
	}
	var err error
	if tr.deps.Control, err = controlstate.Open(filepath.Join(t.TempDir(), "many.control"), disk.Holder{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.deps.Control.Close() })
	tr.deps.Journal, path = book(t, &tr.opt)
	return tr, path, last
}
