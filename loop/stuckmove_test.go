package loop

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// slowDeaf takes a tick and a half for a write, acknowledges it, and does not move its
// second knob.
type slowDeaf struct{ *rig }

func (d *slowDeaf) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	time.Sleep(150 * time.Millisecond)
	s.Values = maps.Clone(s.Values)
	delete(s.Values, "b")
	return d.rig.Write(ctx, s)
}

// TestStuckKnobTripsWhileAnotherIsWritten: an actuator that does not follow is sent its
// setpoint again three times and trips. The writes for it take their time, and the knob
// beside it, which is in place, must not count as not written meanwhile: each step would
// end before the third attempt, for ever.
func TestStuckKnobTripsWhileAnotherIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := liveTrial(t, func(tr *trial) {
			tr.rig = newRig(worker.RealClock{}, "a", "b")
			tr.rig.meter = func(at map[string]float64) float64 { return at["a"] }
			b := variable("b")
			tr.opt.Variables = append(tr.opt.Variables, b)
			for i := range tr.opt.Variables {
				v := &tr.opt.Variables[i]
				v.Timeout = time.Second
				v.Limits.SlewUp, v.Limits.SlewDown = 1000, 1000
			}
			tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0, 1}}}
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				n := float64(len(tr.policy.seen) % 5)
				return policy.Proposal{X: []float64{2 + n, 3 + n}}, nil
			}
			tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: &slowDeaf{tr.rig}}}, Panel: control.NewPanel("s-1")}
		})
		tr.opt.Stop = plan.Stop{Time: time.Minute}
		_, err := Run(t.Context(), tr.opt, tr.deps)
		if !errors.Is(err, ErrSafety) {
			t.Errorf("ended with %v, want a trip of the knob that does not follow", err)
		}
	})
}
