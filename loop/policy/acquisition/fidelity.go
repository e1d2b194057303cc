package acquisition

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// MultiFidelity is multi-fidelity max-value entropy search (Takeno et al., ICML 2020): what
// a reading tells about the maximum at the target fidelity, over the cost of the step. Some
// variables are fidelities (Spec.Fidelity: an integration time, say), with values at which
// the maximum f* is sought; with x' the setting x where these have their target values,
//
//	a_i(c) = E_R[ mean over f* of I(f*; y(x)) ],   x = (c, R),
//
// where I is truncation.information for f(x') <= f*, read through y(x): gamma = (f* - mu(x'))/
// s(x') and rho the posterior correlation of f(x') and y(x) (their eq. 8, for one reading at
// a time and fidelities that are a continuum). f* are ten sampled maxima over the settings
// at the target. R is by the coarse rule of the expectations.
//
// Where Spec names no fidelity, they are the control sets and the costs of settings
// themselves: a reading is one of the objective at x, and this is MaxValueEntropy.
type MultiFidelity struct{}

func (MultiFidelity) Options(d *Decision) ([]Option, error) {
	if d.Goal.fidelity == nil {
		return MaxValueEntropy{}.Options(d)
	}
	out := d.options()
	for i, v := range d.Views {
		maxima, err := d.Maxima(v, MaximaSamples, d.Substream(num.ForSample, i))
		if err != nil {
			return nil, err
		}
		var parts []fidelityPart
		for _, group := range d.byComponent(maxima) {
			p, err := newFidelityPart(group, len(maxima))
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
		}
		for _, set := range d.Sets {
			o, err := d.fidelityInformation(parts, set)
			if err != nil {
				return nil, err
			}
			out = append(out, Option{Set: set, View: v, Objective: o, Unit: Dimensionless, logFloor: minInformation})
		}
	}
	return out, nil
}

// Goal is where the maximum is sought that information is about: over every variable's
// whole range, or over the settings at the target fidelity.
type Goal struct {
	Domain *space.Domain
	Inputs expectations.Inputs
	// fidelity has the target value of each coordinate of the process, in its unit
	// coordinates; NaN for those that are no fidelity, nil where none is.
	fidelity []float64
}

// NewGoal is the goal of a decision before a step: d is the domain of the variables that
// are no fidelities, fidelity the target value of all, in their unit coordinates and as in
// goal. Under drift the time is one of them: what is sought is the maximum at the step.
func NewGoal(d *space.Domain, random *space.RandomVariables, m *model.Rules, fidelity []float64, step int) Goal {
	if fidelity == nil {
		return Goal{Domain: d, Inputs: random.Inputs(d, step)}
	}
	g := Goal{Domain: d, Inputs: expectations.Inputs{Controlled: d.Coords}}
	g.fidelity = m.Point(fidelity, step)
	for _, v := range g.fidelity {
		if !math.IsNaN(v) {
			g.Inputs.Random = append(g.Inputs.Random, quadrature.PointMass(v))
		}
	}
	return g
}

// fidelityPart is a component with the maxima that were drawn from it.
type fidelityPart struct {
	model.Component
	inverse *mat.SymDense // of the covariance of the observations
	maxima  []float64     // of the standardised objective
	weight  float64       // of each maximum
}

func newFidelityPart(group []Optimum, all int) (fidelityPart, error) {
	p := fidelityPart{Component: group[0].Component, weight: 1 / float64(all)}
	for _, m := range group {
		p.maxima = append(p.maxima, m.Value)
	}
	g, k := p.GP, p.GP.Kernel()
	n := g.Len()
	if n == 0 {
		return p, nil
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			a.SetSym(i, j, k.Cov(g.X(i), g.X(j)))
		}
		a.SetSym(i, i, k.Variance(g.X(i))+g.NoiseVariance(i))
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return p, fmt.Errorf("covariance of %d observations is not positive definite", n)
	}
	p.inverse = mat.NewSymDense(n, nil)
	return p, c.InverseTo(p.inverse)
}

// fidelityInformation makes the objective of one control set.
func (d *Decision) fidelityInformation(parts []fidelityPart, set int) (search.Objective, error) {
	in := d.inputs(set)
	shape, err := d.Criterion.Cache.Shape(parts[0].GP, in)
	if err != nil {
		return nil, err
	}
	_, coarse := shape.Rules()
	o := &FidelityInformation{parts: parts, shape: shape, controlled: in.Controlled, Nodes: coarse, target: d.Goal.fidelity, noise: d.ShotVariance()}
	for i := range parts[0].GP.Dim() {
		if num.Position(in.Controlled, i) < 0 {
			o.Random = append(o.Random, i)
		}
	}
	o.newScratch()
	return o, nil
}

// FidelityInformation is the information of readings at settings of one control set. Cost
// of a point: O(n^2) a node and component.
type FidelityInformation struct {
	parts              []fidelityPart
	shape              *expectations.Expected // knows the lengthscales
	controlled, Random []int
	Nodes              quadrature.Nodes
	target             []float64
	noise              float64

	readers           []*gpcore.Reader
	x, at, here, w    []float64
	mean, variance    [1]float64
	meanAt, varianceT [1]float64
}

func (o *FidelityInformation) newScratch() {
	o.readers = nil
	for _, p := range o.parts {
		o.readers = append(o.readers, p.GP.Reader())
	}
	o.x, o.at = make([]float64, len(o.target)), make([]float64, len(o.target))
}

// Dim implements [search.Objective].
func (o *FidelityInformation) Dim() int { return len(o.controlled) }

// Fork implements [search.Objective].
func (o *FidelityInformation) Fork() search.Objective {
	f := *o
	f.here, f.w = nil, nil
	f.newScratch()
	return &f
}

// Scales implements [search.Scaled].
func (o *FidelityInformation) Scales(dst []float64) bool { return o.shape.Scales(dst) }

// Values implements [search.Objective].
func (o *FidelityInformation) Values(dst, x []float64) {
	size := o.Dim()
	for j := range dst {
		dst[j] = 0
		for i, c := range o.controlled {
			o.x[c] = x[j*size+i]
		}
		for q, w := range o.Nodes.Weight {
			for i, c := range o.Random {
				o.x[c] = o.Nodes.X[q*len(o.Random)+i]
			}
			dst[j] += w * o.atPoint()
		}
	}
}

// atPoint is the information of a reading at o.x.
func (o *FidelityInformation) atPoint() float64 {
	for i, v := range o.target {
		if o.at[i] = o.x[i]; !math.IsNaN(v) {
			o.at[i] = v
		}
	}
	sum := 0.0
	for k := range o.parts {
		p := &o.parts[k]
		o.readers[k].Predict(o.mean[:], o.variance[:], o.x)
		o.readers[k].Predict(o.meanAt[:], o.varianceT[:], o.at)
		covariance := p.Scale * p.Scale * o.covariance(p)
		mu := p.Mean + p.Scale*(o.meanAt[0]+p.OffsetAt(o.at))
		sd := p.Scale * math.Sqrt(max(o.varianceT[0], 1e-12*p.GP.Kernel().Variance(o.at)))
		root := math.Sqrt(p.Scale*p.Scale*o.variance[0] + o.noise)
		rho := min(math.Abs(covariance)/(sd*root), 1) // y and -y are equally informative
		for _, top := range p.maxima {
			value, _, _ := truncation{(top - mu) / sd, rho, math.Sqrt(1 - rho*rho)}.information()
			sum += p.weight * value
		}
	}
	return sum
}

// covariance is the posterior covariance of a part's process at o.x and o.at.
func (o *FidelityInformation) covariance(p *fidelityPart) float64 {
	g, k := p.GP, p.GP.Kernel()
	n := g.Len()
	out := k.Cov(o.x, o.at)
	if n == 0 {
		return out
	}
	o.here, o.w = num.Resized(o.here, n), num.Resized(o.w, n)
	for i := range n {
		o.here[i] = k.Cov(o.x, g.X(i))
	}
	product := mat.NewVecDense(n, o.w)
	product.MulVec(p.inverse, mat.NewVecDense(n, o.here))
	for i, v := range o.w {
		out -= v * k.Cov(o.at, g.X(i))
	}
	return out
}
