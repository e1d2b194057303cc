package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestSafeValueThatTheDeviceRefuses: a safe value outside of what the device says it
// accepts would be refused at the moment of the trip; the run does not begin.
func TestSafeValueThatTheDeviceRefuses(t *testing.T) {
	for _, c := range []struct {
		safe    float64
		refused bool
	}{{-1.5, true}, {-1.001, true}, {-1, false}, {9, false}, {9.001, true}} {
		tr := newTrial(t)
		tr.rig.accepts = [2]float64{-1, 9}
		v := &tr.opt.Variables[0]
		v.Low, v.High, v.Limits.Low, v.Limits.High, v.Limits.Safe = 0, 8, -2, 11, c.safe
		tr.policy.proposals = proposeAll(3)
		_, err := tr.run(t, context.Background())
		if !c.refused {
			if err != nil {
				t.Errorf("safe value %g inside [-1, 9]: %v", c.safe, err)
			}
			continue
		}
		if !errors.Is(err, ErrInstrument) || !strings.Contains(err.Error(), "safe value") || !strings.Contains(err.Error(), "[-1, 9]") {
			t.Errorf("safe value %g outside [-1, 9]: %v", c.safe, err)
		}
		if n := len(tr.rig.calls("write")); n > 0 {
			t.Errorf("safe value %g: written %d times", c.safe, n)
		}
	}
}

// TestBootValueThatIsNotDelivered: a variable that the first step does not control is to stand at its
// safe value from the start. Its device refuses that: nothing is measured as if it stood there.
func TestBootValueThatIsNotDelivered(t *testing.T) {
	tr := newTrial(t)
	other := newRig(tr.clock, "b")
	tr.deps.Devices = append(tr.deps.Devices, Device{Name: "other", Device: other})
	b := variable("b")
	b.Channel.Device, b.Tolerance, b.Boot, b.Limits.Safe = 1, 0, plan.RestSafe, 4
	tr.opt.Variables = append(tr.opt.Variables, b)
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 5}}
	tr.policy.proposals = []policy.Proposal{{X: []float64{3, math.NaN()}}, {X: []float64{3, math.NaN()}}}
	refused := false
	other.fault = func(op string) error {
		if op == "write" && !refused {
			refused = true
			return fmt.Errorf("%w: the door is open", drivers.ErrRefused)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if first := tr.outcomes[0]; first.Valid || !strings.Contains(first.Problem, "b: ") || !strings.Contains(first.Problem, "the door is open") {
		t.Errorf("the first step: %+v", first)
	}
	if second := tr.outcomes[1]; !second.Valid || second.X[1] != 4 {
		t.Errorf("the second step: %+v", second)
	}
}
