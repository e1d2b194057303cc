package loop

import (
	"context"
	"errors"
	"strings"
	"testing"
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
