package plan

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// Concluded is a step that has ended, as the loop has it or as the journal kept it.
type Concluded struct {
	// Set is the control set that was played, -1 in shadow mode.
	Set       int
	Requested []float64
	Outcome   journal.Outcome
	// PerShot says that each shot is a separate observation, because a variable
	// was random.
	PerShot bool
	Shots   []journal.Shot
}

// Observations is a step as the model sees it: one observation, or one per shot
// where a variable was random.
func (o *Options) Observations(c Concluded) []policy.Observation {
	whole := policy.Observation{Step: c.Outcome.Step, ControlSet: c.Set, X: c.Outcome.X, Requested: c.Requested,
		Mean: o.Sense(c.Outcome.Mean), Variance: c.Outcome.Variance, Shots: c.Outcome.Shots, Cost: c.Outcome.Cost,
		SetCost: o.setCost(c), Valid: c.Outcome.Valid, Constrained: o.Constrained(c.Shots)}
	if !c.Outcome.Valid {
		return o.failed(whole)
	}
	if !c.PerShot {
		return []policy.Observation{whole}
	}
	out := make([]policy.Observation, len(c.Shots))
	for i, p := range c.Shots {
		out[i] = policy.Observation{Step: c.Outcome.Step, ControlSet: c.Set, X: p.X, Mean: o.Sense(p.Objective),
			Variance: math.NaN(), Shots: 1, SetCost: math.NaN(), Valid: true, Constrained: o.Constrained(c.Shots[i : i+1])}
	}
	out[0].Cost, out[0].SetCost = whole.Cost, whole.SetCost
	return out
}

// failed is a step without data as the model sees it. Where the setting was not read, the
// requested one replaces it; a step of which neither is known teaches nothing.
func (o *Options) failed(whole policy.Observation) []policy.Observation {
	whole.X = slices.Clone(whole.X)
	for i := range whole.X {
		if !finite(whole.X[i]) {
			whole.X[i] = whole.Requested[i]
		}
		if !finite(whole.X[i]) {
			return nil
		}
	}
	return []policy.Observation{whole}
}

// Sense turns the objective so that it is maximised, and back.
func (o *Options) Sense(y float64) float64 {
	if o.Objective.Minimize {
		return -y
	}
	return y
}

// Constrained gives, for each constraint, the mean of its sensor over the shots that
// have it, NaN where none has; nil where there is no constraint. The same numbers come out of a
// journal, bit for bit.
func (o *Options) Constrained(shots []journal.Shot) []float64 {
	if len(o.Constraints) == 0 {
		return nil
	}
	out := make([]float64, len(o.Constraints))
	for i, c := range o.Constraints {
		sum, n := 0.0, 0
		for k := range shots {
			if v := shots[k].Sensors[c.Sensor]; !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		out[i] = sum / float64(n) // 0/0: no data
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// InUsersSense turns the sign back where the user minimises; a lower bound of what is maximised is then an upper bound
// of what is minimised: still the pessimistic one.
func (o *Options) InUsersSense(r policy.Recommendation) policy.Recommendation {
	if o.Objective.Minimize {
		for _, e := range []*policy.Estimate{&r.Estimate, &r.Start} {
			e.Mean, e.LowerBound = -e.Mean, -e.LowerBound
		}
	}
	return r
}
