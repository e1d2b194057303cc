package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestStuckActuatorTrips: a setpoint that the readback does not show is sent again
// three times; then the run trips, and says that safe is not confirmed either.
func TestStuckActuatorTrips(t *testing.T) {
	tr := newTrial(t)
	tr.rig.drift = 0.5 // never within tolerance
	tr.policy.proposals = proposeAll(1, 2, 3, 4, 5)
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "tripped: readback of a") {
		t.Fatalf("error %v", err)
	}
	if res.Reason != "safety" || len(tr.policy.seen) != 0 || tr.outcomes[0].Valid {
		t.Errorf("result %+v, learnt %+v, outcomes %+v", res, tr.policy.seen, tr.outcomes)
	}
	same := 0
	for _, c := range tr.rig.calls("write") {
		if c.values["a"] == 1 {
			same++
		}
	}
	// The destination, three repeats, and the safe value, which is the same here.
	if same < 4 {
		t.Errorf("written %d times", same)
	}
}

func TestDropoutsAreNoData(t *testing.T) {
	tr := newTrial(t)
	n := 0
	tr.rig.meter = func(at map[string]float64) float64 {
		switch n++; n % 3 {
		case 1:
			return math.NaN() // no light
		case 2:
			return 5e6 // outside the sensor's range
		}
		return 10 * at["a"]
	}
	tr.policy.proposals = proposeAll(3)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if o := tr.policy.seen[0]; !o.Valid || math.Abs(o.Mean-30) > 0.2 || o.Shots != 3 {
		t.Errorf("observation %+v", o)
	}
}

func TestSilenceIsAFailedStepWithItsReason(t *testing.T) {
	tr := newTrial(t)
	tr.rig.meter = func(map[string]float64) float64 { return math.NaN() }
	tr.policy.proposals = proposeAll(3, 3, 3, 3)
	_, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrInstrument) || !strings.Contains(err.Error(), "sensor meter has never given a value inside [-1000, 1000] W") {
		t.Errorf("error %v", err)
	}
	if tr.policy.seen[0].Valid {
		t.Error("a step without data counts as valid")
	}
	if got := tr.rig.knobs["a"].target; got != 1 {
		t.Errorf("on_fault is safe (1 V), left at %v V", got)
	}
}

func TestBrokenDeviceIsRevivedAndMadeSafe(t *testing.T) {
	for name, broken := range map[string]error{
		"protocol": fmt.Errorf("%w: not a number", drivers.ErrProtocol),
		"ended":    fmt.Errorf("%w: %w: not a number of its children is left", drivers.ErrUnavailable, drivers.ErrClosed),
	} {
		t.Run(name, func(t *testing.T) { brokenDeviceIsRevived(t, broken) })
	}
}

func brokenDeviceIsRevived(t *testing.T, broken error) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 4, 5)
	tr.rig.fault = func(op string) error {
		if op == "read" && len(tr.policy.seen) == 1 {
			return broken
		}
		return nil
	}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrInstrument) || errors.Is(err, ErrUnsafe) || !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if tr.rig.opens != 2 || tr.rig.halts != 1 || tr.rig.knobs["a"].target != 1 {
		t.Errorf("opens %d, halts %d, target %v; want reopened, halted and at 1 V", tr.rig.opens, tr.rig.halts, tr.rig.knobs["a"].target)
	}
	if res.Reason != "fault" || res.Rest[0].Err != nil {
		t.Errorf("result %+v", res)
	}
	if n := len(tr.outcomes); n != 2 || tr.outcomes[1].Valid || !strings.Contains(tr.outcomes[1].Problem, "not a number") {
		t.Errorf("the step in flight is recorded as %+v", tr.outcomes)
	}
}

func TestDeadDeviceIsSaidNotToBeSafe(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 4, 5)
	tr.rig.reopenFails = true
	tr.rig.fault = func(op string) error {
		if op == "read" && len(tr.policy.seen) == 1 {
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrUnsafe) || !errors.Is(err, ErrInstrument) {
		t.Fatalf("error %v", err)
	}
	if res.Rest[0].Err == nil {
		t.Errorf("report %+v", res.Rest)
	}
}

func TestNothingIsDrivenBeforeItHasBeenRead(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3)
	tr.rig.fault = func(op string) error {
		if op == "read" {
			return fmt.Errorf("%w: silent", drivers.ErrUnavailable)
		}
		return nil
	}
	_, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrInstrument) || !strings.Contains(err.Error(), `variable "a" gave no reading within 10s; nothing was driven`) {
		t.Errorf("error %v", err)
	}
	if n := len(tr.rig.calls("write")) + tr.rig.halts; n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestTransientWriteErrorsAreTriedAgain(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3)
	failures := 0
	tr.rig.fault = func(op string) error {
		if op == "write" && failures < 5 {
			failures++
			return fmt.Errorf("%w: busy", drivers.ErrUnavailable)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if o := tr.policy.seen[0]; !o.Valid || o.X[0] != 3 {
		t.Errorf("observation %+v", o)
	}
	// After the outage the way starts again where the knob stands: no jump.
	last := 0.0
	for _, c := range tr.rig.calls("write") {
		if c.values["a"]-last > 0.2+1e-9 {
			t.Errorf("setpoint jumped from %v to %v", last, c.values["a"])
		}
		last = c.values["a"]
	}
}

func TestRefusedSetpointFailsTheStepOnly(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 4)
	refused := false
	tr.rig.fault = func(op string) error {
		if op == "write" && !refused {
			refused = true
			return fmt.Errorf("%w: interlock of the device", drivers.ErrRefused)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if tr.policy.seen[0].Valid || !tr.policy.seen[1].Valid {
		t.Errorf("observations %+v", tr.policy.seen)
	}
	if !strings.Contains(tr.outcomes[0].Problem, "interlock of the device") {
		t.Errorf("problem %q", tr.outcomes[0].Problem)
	}
}

func TestPanickingPolicyIsIsolated(t *testing.T) {
	tr := newTrial(t)
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) < 1 {
			return policy.Proposal{X: []float64{3}}, nil
		}
		panic("index out of range")
	}
	_, err := tr.run(t, context.Background())
	if err == nil || !strings.Contains(err.Error(), "the policy panicked: index out of range") {
		t.Errorf("error %v", err)
	}
	if tr.rig.knobs["a"].target != 1 {
		t.Error("actuator not brought to its fault state")
	}
}

func TestFailedStepsAreTold(t *testing.T) {
	tr := newTrial(t)
	tr.opt.FailureLimit = 0
	tr.rig.meter = func(map[string]float64) float64 { return math.NaN() }
	tr.policy.proposals = proposeAll(3, 3)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range tr.events {
		if e.Kind == "step" && strings.Contains(e.Message, "step 1 has no valid data: no data") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %+v", told, tr.events)
	}
}

// TestSlowWriteDoesNotBecomeAJump: while a write is under way the way does not
// run ahead of it.
func TestSlowWriteDoesNotBecomeAJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(9)
			slow := true
			tr.rig.fault = func(op string) error {
				if op == "write" && slow {
					slow = false
					time.Sleep(3 * time.Second)
				}
				return nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for _, c := range tr.rig.calls("write") {
			// 2 V/s over at most two ticks of 0.1 s.
			if step := c.values["a"] - last; step > 0.4+1e-9 {
				t.Errorf("setpoint jumped from %v to %v V", last, c.values["a"])
			}
			last = c.values["a"]
		}
		if last != 9 {
			t.Errorf("last setpoint %v V, want 9", last)
		}
	})
}

// TestDeviceThatFailsAtTheEndIsRevivedToo: the caller interrupts, then the
// device breaks on the way to rest.
func TestDeviceThatFailsAtTheEndIsRevivedToo(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	ctx, cancel := context.WithCancel(context.Background())
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) == 1 {
			cancel()
		}
		return policy.Proposal{X: []float64{6}}, nil
	}
	tr.rig.fault = func(string) error {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	_, err := tr.run(t, ctx)
	if !errors.Is(err, ErrInstrument) || errors.Is(err, ErrUnsafe) {
		t.Errorf("error %v", err)
	}
	if tr.rig.opens != 2 || tr.rig.halts != 1 || tr.rig.knobs["a"].target != 1 {
		t.Errorf("opens %d, halts %d, left at %v V", tr.rig.opens, tr.rig.halts, tr.rig.knobs["a"].target)
	}
}

// TestHaltedDeviceIsTakenOverWhereItStands: one that was opened again and halted on the way to
// rest is at its own safe value. It is not driven back to where it was read last.
func TestHaltedDeviceIsTakenOverWhereItStands(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	ctx, cancel := context.WithCancel(context.Background())
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) == 1 {
			cancel()
		}
		return policy.Proposal{X: []float64{6}}, nil
	}
	tr.rig.fault = func(op string) error {
		if op == "write" && ctx.Err() != nil {
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	tr.rig.halting = func() {
		k := tr.rig.knobs["a"]
		k.position, k.target = 1, 1
	}
	if _, err := tr.run(t, ctx); !errors.Is(err, ErrInstrument) || errors.Is(err, ErrUnsafe) {
		t.Errorf("error %v", err)
	}
	halts := tr.rig.calls("halt")
	if len(halts) != 1 {
		t.Fatalf("%d halts", len(halts))
	}
	for _, c := range tr.rig.calls("write") {
		if c.at >= halts[0].at && c.values["a"] != 1 {
			t.Errorf("%v V is written %v after the halt has brought it to 1 V", c.values["a"], c.at-halts[0].at)
		}
	}
	if tr.rig.knobs["a"].target != 1 {
		t.Errorf("left at %v V", tr.rig.knobs["a"].target)
	}
}

// TestDeviceThatFailsTwiceAtTheEndIsRevivedTwice: it does not start again at once, and fails
// once more when it has.
func TestDeviceThatFailsTwiceAtTheEndIsRevivedTwice(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	ctx, cancel := context.WithCancel(context.Background())
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) == 1 {
			cancel()
		}
		return policy.Proposal{X: []float64{6}}, nil
	}
	tr.rig.reopen = func() error {
		if tr.rig.opens < 4 {
			return fmt.Errorf("%w: does not start yet", drivers.ErrUnavailable)
		}
		return nil
	}
	tr.rig.fault = func(op string) error {
		if op == "write" && ctx.Err() != nil && tr.rig.opens < 5 {
			return fmt.Errorf("%w: late", drivers.ErrProtocol)
		}
		return nil
	}
	res, err := tr.run(t, ctx)
	if !errors.Is(err, ErrInstrument) || errors.Is(err, ErrUnsafe) || res.Rest[0].Err != nil {
		t.Errorf("error %v, report %+v", err, res.Rest)
	}
	if tr.rig.opens != 5 || tr.rig.halts != 2 || tr.rig.knobs["a"].target != 1 {
		t.Errorf("opens %d, halts %d, left at %v V", tr.rig.opens, tr.rig.halts, tr.rig.knobs["a"].target)
	}
}

// TestRefusalOnTheWayToRestIsTriedAgain: a device that is busy for a moment.
func TestRefusalOnTheWayToRestIsTriedAgain(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	tr.policy.proposals = proposeAll(6)
	refusals := 0
	tr.rig.fault = func(op string) error {
		if op == "write" && len(tr.policy.seen) == 1 && refusals < 3 {
			refusals++
			return fmt.Errorf("%w: busy", drivers.ErrRefused)
		}
		return nil
	}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Rest[0].Err != nil || tr.rig.knobs["a"].target != 1 {
		t.Errorf("error %v, report %+v, left at %v V", err, res.Rest, tr.rig.knobs["a"].target)
	}
}
