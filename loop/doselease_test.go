package loop

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// bench is a rig and a pump behind one line.
type bench struct {
	*rig
	pump *pump
}

func (b *bench) Open(ctx context.Context) ([]drivers.Channel, error) {
	mine, err := b.rig.Open(ctx)
	if err != nil {
		return nil, err
	}
	its, err := b.pump.Open(ctx)
	return append(mine, its[0]), err
}

func (b *bench) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	time.Sleep(10 * time.Millisecond) // a device takes its time, and the tick is over by then
	if s.Dose != "" || slices.Contains(s.Release, "feed") {
		return b.pump.Write(ctx, s)
	}
	return b.rig.Write(ctx, s)
}

// TestDoseBesideALeaseOfThreeTicks: a setpoint that is refreshed in every tick leaves the
// device no tick of its own; a dose goes out between two of them, and both go on.
func TestDoseBesideALeaseOfThreeTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := liveTrial(t, func(tr *trial) {
			b := &bench{rig: tr.rig, pump: &pump{clock: worker.RealClock{}}}
			dose := doseOptions(plan.Live)
			dose.Variables[0].Channel = plan.Channel{Device: 0, Name: "feed"}
			tr.opt.Variables[0].Limits.Lease = 3 * tr.opt.Tick
			tr.opt.Variables = append(tr.opt.Variables, dose.Variables[0])
			tr.opt.ControlSets[0].Variables = []int{0, 1}
			tr.opt.Cost.PerMove = []float64{0, 0}
			tr.opt.Safety.Doses = dose.Safety.Doses
			tr.opt.Safety.Doses[0].Variable = 1
			tr.opt.Stop = plan.Stop{Steps: 5}
			tr.policy.propose = func(context.Context) (policy.Proposal, error) { return policy.Proposal{X: []float64{4, 2}}, nil }
			tr.deps.Devices, tr.deps.Run = []Device{{Name: "bench", Device: b}}, "run"
			var err error
			if tr.deps.Control, err = controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{}); err != nil {
				t.Fatal(err)
			}
		})
		defer tr.deps.Control.Close()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		res, err := Run(ctx, tr.opt, tr.deps)
		pump := tr.deps.Devices[0].Device.(*bench).pump
		if err != nil || res.Steps != 5 || !nearAll(pump.given, []float64{2, 2, 2, 2, 2}) {
			t.Fatalf("after %v: %d steps, given %v, error %v", time.Since(began), res.Steps, pump.given, err)
		}
		writes := tr.rig.calls("write")
		for i := range writes[1:] {
			if gap := writes[i+1].at - writes[i].at; gap > tr.opt.Variables[0].Limits.Lease {
				t.Errorf("%v between two writes, the lease is %v", gap, tr.opt.Variables[0].Limits.Lease)
			}
		}
	})
}
