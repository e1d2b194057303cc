package acquisition

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// InformationDirected is cost-aware information-directed sampling, CostIDS (Paria et
// al.). With beta = sqrt(beta_t) the confidence parameter, U the greatest optimistic
// bound and lambda the cost of a step,
//
//	U      = max over x of mu(x) + beta s(x)
//	R(x)   = (U - mu(x))^2 / s(x)^2                       information ratio
//	x_t    = argmin lambda(x) R(x)  subject to  R(x) <= rho R*,   R* = min over x of R(x)
//
// with mu and s the posterior mean and standard deviation (their sections 3 and 4; the
// 1/t^2 that their analysis adds to U is left out, as in their experiments). Since U is
// nowhere below the bound, U - mu >= beta s: so R >= beta_t everywhere, with equality
// where the bound is greatest, R* = beta_t needs no search of its own, and the constraint
// reads
//
//	mu(x) + sqrt(rho) beta s(x) >= U.
//
// It always holds where U was found, which is where the search for x_t begins. With rho
// 1, or where all steps cost the same, the step is GP-UCB's.
//
// Our choice, the paper has neither: with control sets mu and s are the expectations over
// the variables that are left random, U is the greatest over all of them; where priors are
// kept apart, over them as well. U goes over what the rest of the budget can pay. Without
// costs (Spec.PerCost unset) R is minimised.
type InformationDirected struct{ Rho float64 }

func (a InformationDirected) Options(d *Decision) ([]Option, error) {
	peak, err := d.Peak()
	if err != nil {
		return nil, err
	}
	out := d.options()
	for _, v := range d.Views {
		below, err := d.Expectations(d.linear(v, 1, -1))
		if err != nil {
			return nil, err
		}
		spread, err := d.Expectations(d.linear(v, 0, -1)) // above zero, gpcore would prepare a bound in O(n^3)
		if err != nil {
			return nil, err
		}
		for i, set := range d.Sets {
			both, err := expectations.NewPair(below[i], spread[i])
			if err != nil {
				return nil, err
			}
			r := d.slabs().ratios.Take(d.memory())
			r.LowerBound, r.negativeSD, r.both, r.top, r.beta, r.rho = below[i], spread[i], both, peak.Value-v.Offset(), d.Beta, a.Rho
			o := Option{Set: set, View: v, Objective: r, Unit: Dimensionless, logFloor: MinRatio, edge: 1 / (a.Rho * d.Beta * d.Beta), forbidden: Forbidden, Steady: true}
			if set == peak.Set && sameView(v, peak.view) {
				o.Start = peak.X
				out = slices.Insert(out, 0, o) // a decision that is cut looks at the first
				continue
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// peak is where the optimistic bound is greatest among settings that can be paid.
type peak struct {
	Set   int
	view  model.View
	X     []float64
	Value float64 // of the standardised objective
}

func (d *Decision) Peak() (peak, error) {
	options, err := UpperBound{}.Options(d)
	if err != nil {
		return peak{}, err
	}
	found, err := d.Search(options, 0)
	if err != nil {
		return peak{}, err
	}
	top := peak{Value: math.Inf(-1)}
	for i, o := range options {
		if math.IsInf(found[i].Value, -1) { // a cut search did not come to it
			continue
		}
		x, err := d.Costs.NearestAffordable(d.Domains[o.Set], found[i].X)
		if err != nil {
			continue // nothing of this control set can be paid
		}
		if v := d.ValueAt(&o, found[i], x) + o.Offset; v > top.Value {
			top = peak{o.Set, o.View, append(d.memory().Floats(len(x))[:0], x...), v}
		}
	}
	if math.IsInf(top.Value, -1) {
		return peak{}, d.Costs.BudgetError()
	}
	return top, nil
}

// sameView reports whether two views are of the same processes.
func sameView(a, b model.View) bool {
	return slices.EqualFunc(a, b, func(x, y model.Component) bool { return x.GP == y.GP })
}

const (
	// MinRatio ends the logarithm of an inverse ratio.
	MinRatio = 1e-300
	// Forbidden takes an inverse ratio that breaks the constraint below all that keep it,
	// whatever they cost: costs differ by less than a factor of 1e100.
	Forbidden = 1e-100
	// ratioSlack is what the constraint forgives, in standard deviations of the objective
	// and as a fraction: the rounding of U.
	ratioSlack = 1e-9
)

// InformationRatio is 1/R(x) where the constraint holds and next to nothing elsewhere.
type InformationRatio struct {
	LowerBound, negativeSD *expectations.Expected // E[mu - s] and -E[s], without the views' prior means
	both                   expectations.Pair
	top, beta, rho         float64
	s, slope               []float64 // scratch
}

// parts are the inverse ratio, and its derivatives by E[mu] and E[s].
func (r *InformationRatio) parts(mu, s float64) (value, byMu, bySD float64) {
	gap := r.top - mu
	if least := r.beta * s; gap <= least { // the search for U stopped short of x
		gap = least
	}
	gap = max(gap, 1e-9)
	value = s * s / (gap * gap)
	byMu, bySD = 2*value/gap, 2*s/(gap*gap)
	if !r.satisfied(mu, s) {
		return Forbidden * value, Forbidden * byMu, Forbidden * bySD
	}
	return value, byMu, bySD
}

// satisfied is the constraint.
func (r *InformationRatio) satisfied(mu, s float64) bool {
	return r.top-mu <= math.Sqrt(r.rho)*r.beta*s*(1+ratioSlack)+ratioSlack
}

// Dim implements [search.Objective].
func (r *InformationRatio) Dim() int { return r.LowerBound.Dim() }

// Values implements [search.Objective].
func (r *InformationRatio) Values(dst, x []float64) { r.evaluate(dst, nil, x, r.both.Evaluate) }

// Fork implements [search.Objective].
func (r *InformationRatio) Fork() search.Objective {
	return &InformationRatio{LowerBound: r.LowerBound, negativeSD: r.negativeSD, both: r.both.Fork(), top: r.top, beta: r.beta, rho: r.rho}
}

// Follow implements [search.Follower].
func (r *InformationRatio) Follow(other search.Objective) bool {
	o, ok := other.(*InformationRatio)
	if !ok || !r.both.Follow(o.both) {
		return false
	}
	r.LowerBound, r.negativeSD, r.top, r.beta, r.rho = o.LowerBound, o.negativeSD, o.top, o.beta, o.rho
	return true
}

// Prepare implements [search.Preparer].
func (r *InformationRatio) Prepare() {
	r.LowerBound.Prepare()
	r.negativeSD.Prepare()
}

// Scales implements [search.Scaled].
func (r *InformationRatio) Scales(dst []float64) bool { return r.LowerBound.Scales(dst) }

// Cost implements [search.Costed]: both expectations are evaluated for the cost of one.
func (r *InformationRatio) Cost() search.Costs { return r.LowerBound.Cost() }

// Gradients implements [search.Differentiable].
func (r *InformationRatio) Gradients(dst, grad, x []float64) {
	r.evaluate(dst, grad, x, r.both.Evaluate)
}

// Surrogate implements [search.Surrogated]: fewer nodes.
func (r *InformationRatio) Surrogate() search.SurrogateKind { return r.LowerBound.Surrogate() }

// SurrogateValues implements [search.Surrogated].
func (r *InformationRatio) SurrogateValues(dst, x []float64) {
	r.evaluate(dst, nil, x, r.both.Surrogates)
}

// SurrogateGradients implements [search.Surrogated].
func (r *InformationRatio) SurrogateGradients(dst, grad, x []float64) {
	r.evaluate(dst, grad, x, r.both.Surrogates)
}

// evaluate makes the ratio, and its gradients where asked for, of both expectations.
func (r *InformationRatio) evaluate(dst, grad, x []float64, both func(below, spread expectations.Values, x []float64)) {
	r.s = num.Resized(r.s, len(dst))
	below, spread := expectations.Values{Value: dst, Grad: grad}, expectations.Values{Value: r.s}
	if grad != nil {
		r.slope = num.Resized(r.slope, len(grad))
		spread.Grad = r.slope
	}
	both(below, spread, x)
	for j, s := range r.s {
		value, byMu, bySD := r.parts(dst[j]-s, -s)
		if dst[j] = value; grad == nil {
			continue
		}
		for i := j * r.Dim(); i < (j+1)*r.Dim(); i++ {
			grad[i] = byMu*(grad[i]-r.slope[i]) - bySD*r.slope[i]
		}
	}
}
