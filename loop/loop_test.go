package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestStepLearnsWhatWasAchieved: a knob that is slow and a readback that is
// offset; the model must get the readback, and shots only from after the
// settling.
func TestStepLearnsWhatWasAchieved(t *testing.T) {
	tr := newTrial(t)
	tr.rig.speed, tr.rig.drift = 1, 0.005
	tr.opt.Variables[0].Timeout = 5 * time.Second
	tr.policy.proposals = proposeAll(4, 6)
	res, err := tr.run(t, context.Background())
	if err != nil || res.Reason != "cost" || res.Steps != 2 {
		t.Fatalf("result %+v, error %v", res, err)
	}
	for i, want := range []float64{4, 6} {
		o := tr.policy.seen[i]
		// The knob creeps the last tick's 0.01 V at most when tolerance is met; the
		// readback is 5 mV too high.
		if math.Abs(o.X[0]-want-0.005) > 0.011 || o.Shots != 3 || !o.Valid {
			t.Errorf("observation %d: %+v", i, o)
		}
		if math.Abs(o.Mean-10*(o.X[0]-0.005)) > 0.11 {
			t.Errorf("mean %v does not belong to x %v", o.Mean, o.X)
		}
	}
	// 4 V at 1 V/s is slower than the slew of 2 V/s: arrival at 4 s, settled 0.3 s
	// later; no measurement before.
	writes, measures := tr.rig.calls("write"), tr.rig.calls("measure")
	if first := measures[0].at; first < 4*time.Second+300*time.Millisecond {
		t.Errorf("measured at %v, before arrival and settling", first)
	}
	for i := 1; i < len(writes); i++ {
		dv := math.Abs(writes[i].values["a"] - writes[i-1].values["a"])
		dt := (writes[i].at - writes[i-1].at).Seconds()
		if dv > 2*dt+1e-9 {
			t.Errorf("setpoint moved %v V in %v s", dv, dt)
		}
	}
}

func TestClampIsSeenByTheModel(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(50, math.NaN())
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if x := tr.policy.seen[0].X[0]; x != 11 {
		t.Errorf("x = %v, want the hard bound 11", x)
	}
	if x := tr.policy.seen[1].X[0]; x != 11 {
		t.Errorf("x = %v, want the last setpoint kept for a proposal of NaN", x)
	}
	for _, c := range tr.rig.calls("write") {
		if v := c.values["a"]; math.IsNaN(v) || v > 11 || v < -1 {
			t.Errorf("wrote %v", v)
		}
	}
}

func TestBudgetIsSpentExactly(t *testing.T) {
	// 0.1 and 0.2 are not exact in binary: 0.1*3 + 0.2*1 = 0.5 must still fit 0.5.
	tr := newTrial(t)
	tr.opt.Variables = []plan.Variable{variable("a")}
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 0.1}, {Variables: []int{0}, Cost: 0.2}}
	tr.opt.Stop = plan.Stop{Cost: 0.5}
	tr.opt.Cost = plan.Cost{PerMove: []float64{0}}
	tr.policy.proposals = proposeAll(1, 1, 1, 1, 1)
	tr.policy.proposals[3].ControlSet = 1
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 4 || res.Spent != 0.5 || res.Reason != "cost" {
		t.Errorf("steps %d, spent %v, reason %q, error %v; want 4 steps for 0.5", res.Steps, res.Spent, res.Reason, err)
	}
	if fmt.Sprint(res.PlaysBySet) != "[3 1]" {
		t.Errorf("plays %v", res.PlaysBySet)
	}
}

func TestCostCountsShotsAndWay(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Cost = plan.Cost{PerStep: 0.5, PerShot: 2, PerMove: []float64{0.25}}
	tr.policy.proposals = proposeAll(4, 2)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	// Set 1 + step 0.5 + 3 shots at 2, and 4 V then 2 V at 0.25.
	for i, want := range []float64{8.5, 8} {
		if got := tr.outcomes[i].Cost; got != want {
			t.Errorf("step %d costs %v, want %v", i+1, got, want)
		}
	}
}

func TestRandomVariableMakesEachShotAnObservation(t *testing.T) {
	tr := newTrial(t)
	tr.rig = newRig(tr.clock, "a", "b")
	tr.deps.Devices = []Device{{Name: "rig", Device: tr.rig}}
	draws := 0
	tr.rig.knobs["b"].natural = func() float64 { draws++; return 5 + float64(draws%7)/10 }
	tr.rig.meter = func(at map[string]float64) float64 { return at["b"] }
	b := variable("b")
	b.OnRelease = plan.Release
	tr.opt.Variables = append(tr.opt.Variables, b)
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 5}}
	tr.policy.proposals = []policy.Proposal{{X: []float64{3, math.NaN()}}, {X: []float64{3, 7}, ControlSet: 1}}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := tr.policy.seen
	if len(seen) != 4 {
		t.Fatalf("%d observations, want 3 of one shot each and 1 of three", len(seen))
	}
	cost := 0.0
	for i, o := range seen[:3] {
		cost += o.Cost
		if o.Shots != 1 || !math.IsNaN(o.Variance) {
			t.Errorf("observation %d: %+v", i, o)
		}
		// The rig's meter shows what "b" was when it was asked; the same answer holds
		// both only if x belongs to that very shot: draws differ by 0.1.
		if math.Abs(o.X[1]-o.Mean) > 0.21 {
			t.Errorf("shot %d: b = %v measured with %v", i, o.X[1], o.Mean)
		}
	}
	if cost != 1 {
		t.Errorf("the step's cost of 1 was booked as %v", cost)
	}
	if o := seen[3]; o.Shots != 3 || o.X[1] != 7 {
		t.Errorf("controlled step: %+v", o)
	}
	if releases := tr.rig.calls("write")[0].release; len(releases) != 1 || releases[0] != "b" {
		t.Errorf("released %v first", releases)
	}
}

func TestMinimiseTurnsTheSign(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Objective.Minimize = true
	tr.policy.proposals = proposeAll(2)
	tr.policy.found = policy.Recommendation{X: []float64{2}, Estimate: policy.Estimate{Mean: -20, LowerBound: -21}}
	res, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.policy.seen[0].Mean; got != -20 {
		t.Errorf("the policy saw %v, want -20", got)
	}
	if tr.outcomes[0].Mean != 20 || res.Found.Mean != 20 || res.Found.LowerBound != 21 {
		t.Errorf("user sees %v, found %+v", tr.outcomes[0].Mean, res.Found)
	}
}

func TestNormalEndGoesToTheRecommendedSetting(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(2, 8)
	tr.policy.found = policy.Recommendation{X: []float64{5}}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := tr.rig.knobs["a"].target; got != 5 {
		t.Errorf("left at %v V, want the recommended 5 V", got)
	}
}

func TestInterruptBringsActuatorsToTheirShutdownState(t *testing.T) {
	for _, c := range []struct {
		state    plan.RestState
		target   float64
		released bool
	}{{plan.RestHold, 6, false}, {plan.RestSafe, 1, false}, {plan.RestOff, 6, true}} {
		t.Run(string(c.state), func(t *testing.T) {
			tr := newTrial(t)
			tr.opt.Variables[0].Shutdown = c.state
			ctx, cancel := context.WithCancel(context.Background())
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				if len(tr.policy.seen) == 1 {
					cancel()
				}
				return policy.Proposal{X: []float64{6}}, nil
			}
			res, err := tr.run(t, ctx)
			if !errors.Is(err, context.Canceled) || res.Reason != "interrupted" {
				t.Fatalf("reason %q, error %v", res.Reason, err)
			}
			k := tr.rig.knobs["a"]
			if k.target != c.target || k.released != c.released {
				t.Errorf("left at %v, released %v", k.target, k.released)
			}
			if len(res.Rest) != 1 || res.Rest[0].State != c.state || res.Rest[0].Err != nil {
				t.Errorf("report %+v", res.Rest)
			}
			if !tr.rig.closed {
				t.Error("device not closed")
			}
		})
	}
}

// A decision that the end of the caller's context cuts off is none: nothing is driven there, and no deadline is told to have cut it.
func TestInterruptedDecisionIsNone(t *testing.T) {
	tr := newTrial(t)
	ctx, cancel := context.WithCancel(context.Background())
	tr.policy.propose = func(ctx context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) == 0 {
			return policy.Proposal{X: []float64{6}}, nil
		}
		cancel()
		<-ctx.Done()
		return policy.Proposal{X: []float64{3}, Work: 2, Cut: true}, nil
	}
	res, err := tr.run(t, ctx)
	if !errors.Is(err, context.Canceled) || res.Reason != "interrupted" {
		t.Fatalf("reason %q, error %v", res.Reason, err)
	}
	if res.Steps != 1 {
		t.Errorf("%d steps", res.Steps)
	}
	for _, c := range tr.rig.calls("write") {
		if c.values["a"] == 3 {
			t.Errorf("written: %v", c.values)
		}
	}
	for _, e := range tr.events {
		if strings.Contains(e.Message, "deadline") {
			t.Errorf("told: %s", e.Message)
		}
	}
}

func TestDevicesAreComparedWithTheOptions(t *testing.T) {
	for want, change := range map[string]func(*plan.Options){
		`has no channel "volume"; it has a, aux, meter`:       func(o *plan.Options) { o.Sensors[0].Channel.Name = "volume" },
		`is in "V", the configuration says "mV"`:              func(o *plan.Options) { o.Variables[0].Unit = "mV" },
		`channel "aux" of device "rig" cannot be set`:         func(o *plan.Options) { o.Variables[0].Channel.Name, o.Variables[0].Unit = "aux", "K" },
		`options not usable: 0 shots`:                         func(o *plan.Options) { o.Objective.Shots = 0 },
		`statistic "mode" is not mean, median, trimmed or p0`: func(o *plan.Options) { o.Objective.Statistic = "mode" },
	} {
		tr := newTrial(t)
		change(&tr.opt)
		if _, err := tr.run(t, context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if len(tr.rig.calls("write")) > 0 {
			t.Errorf("%q: something was driven", want)
		}
	}
}

func TestSameScriptSameRun(t *testing.T) {
	run := func() string {
		tr := newTrial(t)
		tr.rig.speed = 1.3
		tr.policy.proposals = proposeAll(4, 6, 2)
		if _, err := tr.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(tr.outcomes, tr.rig.log)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

// lapsing is a rig that goes to its own safe state when it is closed.
type lapsing struct{ *rig }

func (lapsing) SafeOnClose() bool { return true }

// TestNothingIsSaidToBeHeldWhereTheDeviceLapses: no way to the recommended
// setting, and no claim that the actuator stays.
func TestNothingIsSaidToBeHeldWhereTheDeviceLapses(t *testing.T) {
	tr := newTrial(t)
	tr.deps.Devices = []Device{{Name: "rig", Device: lapsing{tr.rig}}}
	tr.policy.proposals = proposeAll(2)
	tr.policy.found = policy.Recommendation{X: []float64{5}}
	res, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.rig.knobs["a"].target; got != 2 || !res.Rest[0].ByDevice {
		t.Errorf("left at %v V, report %+v", got, res.Rest)
	}
}

// keeping is a rig that keeps what it is asked to keep, and else goes to its own safe state.
type keeping struct {
	*rig
	declares bool
	answer   error
	kept     []string
}

func (k *keeping) SafeOnClose() bool { return !k.declares }

func (k *keeping) Keep(_ context.Context, channels []string) error {
	k.kept = append(k.kept, channels...)
	return k.answer
}

// TestDeviceIsAskedToKeep: a device that would go safe when it is closed is asked once, at rest, to
// keep what is held; what it refuses is not said to be held.
func TestDeviceIsAskedToKeep(t *testing.T) {
	for _, c := range []struct {
		declares bool
		answer   error
		byDevice bool
		at       float64
	}{{true, nil, false, 5}, {true, drivers.ErrRefused, true, 5}, {false, drivers.ErrRefused, true, 2}} {
		tr := newTrial(t)
		k := &keeping{rig: tr.rig, declares: c.declares, answer: c.answer}
		tr.deps.Devices = []Device{{Name: "rig", Device: k}}
		tr.policy.proposals = proposeAll(2)
		tr.policy.found = policy.Recommendation{X: []float64{5}}
		res, err := tr.run(t, context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.rig.knobs["a"].target; got != c.at || res.Rest[0].ByDevice != c.byDevice || len(k.kept) != 1 || k.kept[0] != "a" {
			t.Errorf("%+v: left at %v V, report %+v, asked to keep %q", c, got, res.Rest, k.kept)
		}
	}
}

// TestFailedStepsAreTold: once for the same reason in a row.
