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

// slope adds scale times the gradient of value to grad.
func (r *knownRisk) slope(grad, c []float64, scale float64) {
	addSlope(grad, c, func(x []float64) float64 { return scale * r.value(x) })
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

// Worth is a view of the mean-variance objective f - alpha rho^2 where rho is known: the objective's
// processes with another known mean, so that every function that takes what is compared for normal
// may have it. It is for settings of all variables: what random ones add is no expectation. Where
// rho is infinite the worth is so low that nothing goes there.
func (e *Criterion) Worth(v model.View) model.View {
	const lowest = -1e9 // in units of the standardised objective
	scale := e.Model.Active.Scale
	known, alpha := e.Model.Known, e.Risk/scale
	out := slices.Clone(v)
	for i := range out {
		c := v[i]
		at := func(x []float64) float64 { return max(-alpha*known.At(x), lowest) / c.Scale }
		out[i].Offset = func(grad, x []float64) float64 {
			value := at(x)
			if grad != nil {
				clear(grad)
			}
			if c.Offset != nil {
				value += c.Offset(grad, x)
			}
			if grad != nil {
				addSlope(grad[:len(known.Axes)], x, at)
			}
			return value
		}
	}
	return out
}

// addSlope adds the gradient of a user's function to grad, by central differences over 1e-5 of the
// range, one-sided at its ends: a search needs directions, not digits. Where it is infinite it is left alone.
func addSlope(grad, x []float64, of func(x []float64) float64) {
	const h = 1e-5
	at := slices.Clone(x)
	for j := range grad {
		low, high := max(x[j]-h, 0), min(x[j]+h, 1)
		at[j] = high
		up := of(at)
		at[j] = low
		if slope := (up - of(at)) / (high - low); num.Finite(slope) {
			grad[j] += slope
		}
		at[j] = x[j]
	}
}
