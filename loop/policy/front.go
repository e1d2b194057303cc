package policy

import (
	"errors"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Weigher is a policy whose model says how steady settings are, so that they can be weighed by
// another risk than the run's. Weighing changes no decision: the sequence of proposals is the
// same with and without it.
type Weigher interface {
	// RecommendAt is Recommend with risk, alpha of f - alpha*variance, in place of Spec.Risk.
	RecommendAt(risk float64) (Recommendation, error)
	// Tradeoffs lists the settings that Recommend chooses among, each once.
	Tradeoffs() ([]Tradeoff, error)
}

// ErrNoNoise: the record says nothing of how the noise depends on the setting.
var ErrNoNoise = errors.New("how the noise depends on the setting is not known: that takes two steps or more with several shots each (or a noise_sd in [policy])")

// Tradeoff is how high and how steady one setting is, by the model.
type Tradeoff struct {
	Recommendation
	// ShotSD is the standard deviation of one shot, what random variables add counted in, ShotLow
	// and ShotHigh its bounds Spec.Beta standard deviations of the model away.
	ShotSD, ShotLow, ShotHigh float64
}

// ForRisk is the specification of a policy that learns how steady settings are from the same
// record, for RecommendAt and Tradeoffs: s itself where it weighs risk, else the nearest that does.
func ForRisk(s Spec) Spec {
	kind, _ := KindOf(s.Kind)
	if len(s.ControlSets) > 0 {
		kind.applyTo(&s)
	}
	if kind.Risk && s.Risk > 0 {
		return s
	}
	s.Model.Transform = ""  // a variance of the objective itself is weighed
	s.Risk = max(s.Risk, 1) // what is learnt does not depend on how much
	if kind.Risk {
		return s
	}
	s.Kind = kindRAHBO
	if s.NoiseVariance != nil {
		s.Kind = "rahbo-known-variance"
	}
	// How decisions were made is of no concern: what is recommended does not depend on it.
	s.Acquisition, s.Confidence, s.ConfidenceSetting, s.Schedule, s.PerCost, s.Rho, s.Fidelity = "", confidence.Constant, "", "", false, 0, nil
	return s
}

// RecommendAt implements [Weigher].
func (e *engine) RecommendAt(alpha float64) (Recommendation, error) {
	e.memory.begin()
	if alpha > 0 {
		if err := knowsNoise(e); err != nil {
			return Recommendation{}, err
		}
	}
	defer func(before float64) { e.criterion.Risk = before }(e.criterion.Risk)
	e.criterion.Risk = alpha
	return recommend(e)
}

// knowsNoise refuses where a risk would count nothing.
func knowsNoise(e *engine) error {
	if len(e.model.Data.Rows) == 0 {
		return ErrNoData
	}
	if err := e.refresh(); err != nil {
		return err
	}
	if e.model.Known == nil && (e.model.Noise == nil || e.model.NoiseIsPriorMedian()) {
		return ErrNoNoise
	}
	return nil
}

// Tradeoffs implements [Weigher].
func (e *engine) Tradeoffs() (all []Tradeoff, err error) {
	e.memory.begin()
	if err := knowsNoise(e); err != nil {
		return nil, err
	}
	defer func(before float64) { e.criterion.Risk = before }(e.criterion.Risk)
	e.criterion.Risk = 1 // so that what random variables add counts
	settings, feasible, err := recommendable(e)
	if err != nil {
		return nil, err
	}
	for set, x := range settings {
		some, err := tradeoffs(e, e.domains[set], distinct(x, e.domains[set].Size()))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for i := range all {
		all[i].Feasible = feasible
	}
	return all, nil
}

// tradeoffs looks at settings x of a domain.
func tradeoffs(e *engine, d *space.Domain, x []float64) ([]Tradeoff, error) {
	if len(x) == 0 {
		return nil, nil
	}
	estimates, err := e.estimates(d, x)
	if err != nil {
		return nil, err
	}
	h, beta, inflation := e.model.Active, e.spec.Beta, e.criterion.Random.Inflation()
	low, err := e.criterion.Summarise(e.present(d), risk.Ends{Noise: beta, Spread: beta}, x)
	if err != nil {
		return nil, err
	}
	high, err := e.criterion.Summarise(e.present(d), risk.Ends{Noise: -beta, Spread: -beta}, x)
	if err != nil {
		return nil, err
	}
	left, out := leftBy(e, d), make([]Tradeoff, len(estimates))
	for k := range out {
		estimates[k].LowerBound = math.NaN() // of no one risk
		r := Recommendation{ControlSet: d.Set, X: e.memory.leaving(d, x[k*d.Size():(k+1)*d.Size()]), Left: left, Estimate: estimates[k]}
		out[k] = Tradeoff{Recommendation: r, ShotSD: estimates[k].NoiseSD,
			ShotLow: h.Scale * math.Sqrt(low[k].ShotBound(inflation)), ShotHigh: h.Scale * math.Sqrt(high[k].ShotBound(inflation))}
	}
	return out, nil
}

// distinct leaves out rows of so many values that were there before.
func distinct(x []float64, size int) (out []float64) {
	seen := map[string]bool{}
	for i := 0; i+size <= len(x); i += size {
		row := x[i : i+size]
		if key := fmt.Sprint(row); !seen[key] { // the shortest text that gives the same number
			seen[key] = true
			out = append(out, row...)
		}
	}
	return out
}
