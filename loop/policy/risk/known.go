package risk

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// knownRisk is the part of the mean-variance objective that is known: as a function of
// the controlled coordinates c of a domain
//
//	alpha E_R[ rho^2(c, R) ]
//
// in units of the standardised objective, R the variables that the domain leaves alone.
type knownRisk struct {
	noise  *model.NoiseFunction
	domain *space.Domain
	nodes  space.Nodes
	alpha  float64 // in 1/(the objective's unit), over the objective's scale
}

// expected is E_R[rho^2(c, R)] in squared units of the objective.
func (r *knownRisk) expected(c []float64) float64 {
	x := make([]float64, len(r.noise.Axes))
	for j, i := range r.domain.Coords {
		x[i] = c[j]
	}
	sum := 0.0
	for q := range r.nodes.Count() {
		for j, v := range r.nodes.At(q) {
			x[r.domain.Random[j]] = v
		}
		sum += r.nodes.Weight[q] * r.noise.At(x)
	}
	return sum
}

func (r *knownRisk) value(c []float64) float64 { return r.alpha * r.expected(c) }

// slope adds scale times the gradient of value to grad, by central differences over
// 1e-5 of the range (one-sided at its ends): the function is the user's, and the search
// needs directions, not digits. Where it is infinite the gradient is left alone.
func (r *knownRisk) slope(grad, c []float64, scale float64) {
	const h = 1e-5
	x := slices.Clone(c)
	for j := range c {
		low, high := max(c[j]-h, 0), min(c[j]+h, 1)
		x[j] = high
		up := r.value(x)
		x[j] = low
		if slope := (up - r.value(x)) / (high - low); num.Finite(slope) {
			grad[j] += scale * slope
		}
		x[j] = c[j]
	}
}

// knownRiskOf is the known risk of a domain; nil where there is none.
func (e *Criterion) knownRiskOf(d *space.Domain) *knownRisk {
	if e.Model.Known == nil || e.Alpha() == 0 {
		return nil
	}
	return &knownRisk{e.Model.Known, d, e.Random.Nodes(d.Random), e.Risk / e.Model.Active.Scale}
}

// SubtractKnownRisk subtracts a domain's known risk from an objective of the standardised
// unit. Where the noise is learnt or constant it changes nothing.
func (e *Criterion) SubtractKnownRisk(o search.Objective, d *space.Domain) search.Objective {
	r := e.knownRiskOf(d)
	if r == nil {
		return o
	}
	return space.Adjust(o, space.Subtrahend{Value: r.value, Slope: r.slope})
}
