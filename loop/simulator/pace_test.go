package simulator

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// pace is how fast a world goes, and everything that is counted in its ticks.
type pace struct {
	tick      time.Duration
	period    time.Duration // of the instrument's readings
	ttl       time.Duration // of a setpoint
	confirm   time.Duration
	keepAlive time.Duration
	lease     time.Duration
	slew      float64 // of the knobs, in V/s
	waits     bool    // outages are waited out
	// budget is the pump's, nil where there is none.
	budget *safety.DoseLimits
}

// newPace draws what the seed leaves open: whether setpoints have a lease, and whether
// outages are waited out or end the process.
func newPace(tick time.Duration, rng *rand.Rand) *pace {
	p := &pace{tick: tick, ttl: 2 * tick, confirm: tick/2 + 29*time.Microsecond, keepAlive: max(12*tick, time.Second)}
	// Not a divisor of the tick: what the instrument does and what the tuner does fall
	// on instants of their own.
	p.period = tick*83/100 + 7919*time.Nanosecond
	p.slew = 2 / tick.Seconds()
	if rng.IntN(2) == 0 {
		p.lease = 6 * tick
	}
	p.waits = rng.IntN(4) > 0
	return p
}

// The loop's own constants, which do not grow with the tick.
const (
	durableWait = 200 * time.Millisecond
	policyWait  = 10 * time.Second
)

// options is what the loop is told.
func (p *pace) options() plan.Options {
	t := p.tick
	o := plan.Options{Mode: plan.Live, Tick: t, Deadline: t, FailureLimit: 10,
		Objective: plan.Objective{Name: "energy", Unit: "mJ", Sensor: 0, Uses: []int{0}, Shots: 2, Statistic: "mean", Timeout: 20 * t},
		Sensors: []plan.Sensor{
			{Name: "energy", Unit: "mJ", Channel: plan.Channel{Name: "energy"}, Low: 0, High: 20, MaxAge: 4 * t},
			{Name: "door", Unit: "1", Channel: plan.Channel{Name: "door"}, Low: 0, High: 1, MaxAge: 4 * t},
			{Name: "coolant", Unit: "degC", Channel: plan.Channel{Name: "coolant"}, Low: 0, High: 40, MaxAge: 4 * t},
		},
		ControlSets: []plan.ControlSet{{Variables: []int{0, 1}, Cost: 1}},
		Cost:        plan.Cost{PerMove: make([]float64, len(knobs))},
		Safety: plan.Safety{Limits: safety.Limits{HoldMax: 30 * t, Comms: 12 * t,
			Interlocks: []safety.Condition{{Sensor: 1, Low: 0.5, High: 1}}}},
		Outages: plan.Outages{Wait: p.waits, Retries: 5, Window: 10 * t},
	}
	for _, n := range knobs {
		o.Variables = append(o.Variables, plan.Variable{Name: n, Unit: "V", Channel: plan.Channel{Name: n}, Actuated: true,
			Low: rangeLow, High: rangeHigh, Start: math.NaN(), Tolerance: tolerance, Timeout: 6 * t, MaxAge: 4 * t, Settle: t,
			OnRelease: plan.Hold, Boot: plan.RestHold, OnFault: plan.RestSafe, Shutdown: plan.RestSafe,
			Limits: safety.VariableLimits{Low: hardLow, High: hardHigh, SlewUp: p.slew, SlewDown: p.slew, Safe: safeValue, Lease: p.lease}})
	}
	if p.budget != nil {
		p.addDoses(&o)
	}
	return o
}

// spec is the world's policy.
func (w *world) spec() policy.Spec {
	s := spec(w.kind, w.seed)
	if w.pace.budget != nil {
		addFeed(&s)
	}
	return s
}

// spec is a policy of the kind: a small one, since a world has many decisions.
func spec(kind string, seed uint64) policy.Spec {
	s := policy.Spec{Kind: kind, Seed: seed, Design: "sobol", InitialSteps: 6, Confidence: "constant", Beta: 2, WorkUnits: 8,
		ControlSets: []policy.ControlSet{{Controlled: []bool{true, true}, Cost: 1}},
		Model:       policy.Model{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{0.3, 0.3}, Outputscale: 4, NoiseSD: 0.3, Mean: 3, Capacity: 24}}
	for _, n := range knobs {
		s.Variables = append(s.Variables, policy.Variable{Name: n, Low: rangeLow, High: rangeHigh, Start: safeValue})
	}
	return s
}
