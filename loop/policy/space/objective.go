package space

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
)

// Subtrahend is a function that is taken off an objective. Both functions must be safe
// for concurrent use.
type Subtrahend struct {
	Value func(x []float64) float64
	// slope adds factor times the gradient to grad; nil for a wall, which is no part of
	// the gradients.
	Slope func(grad, x []float64, factor float64)
}

// lessened is an objective minus a function.
type lessened struct {
	search.Objective
	less Subtrahend
}

// Values implements [search.Objective].
func (p *lessened) Values(dst, x []float64) {
	p.Objective.Values(dst, x)
	p.subtract(dst, nil, x)
}

// subtract takes the function off values and, where grad is not nil, off gradients.
func (p *lessened) subtract(dst, grad, x []float64) {
	size := p.Dim()
	for j := range dst {
		at := x[j*size : (j+1)*size]
		dst[j] -= p.less.Value(at)
		if grad != nil && p.less.Slope != nil {
			p.less.Slope(grad[j*size:(j+1)*size], at, -1)
		}
	}
}

// Fork implements [search.Objective].
func (p *lessened) Fork() search.Objective { return Less(p.Objective.Fork(), p.less) }

// Prepare implements [search.Preparer].
func (p *lessened) Prepare() {
	if q, ok := p.Objective.(search.Preparer); ok {
		q.Prepare()
	}
}

// Scales implements [search.Scaled].
func (p *lessened) Scales(dst []float64) bool {
	s, ok := p.Objective.(search.Scaled)
	return ok && s.Scales(dst)
}

// lessenedSlope is a lessened objective with gradients.
type lessenedSlope struct {
	lessened
	d search.Differentiable
}

// lessenedSurrogate is a lessened objective with a surrogate. The same is taken off both,
// so an upper bound stays one.
type lessenedSurrogate struct {
	lessened
	s search.Surrogated
}

// Less subtracts a function. What the objective can, the result can as well.
func Less(o search.Objective, f Subtrahend) search.Objective {
	p := lessened{o, f}
	switch o := o.(type) {
	case search.Surrogated:
		return &lessenedSurrogate{p, o}
	case search.Differentiable:
		return &lessenedSlope{p, o}
	}
	return &p
}

// WithPenalty builds a wall of a penalty, which must be safe for concurrent use.
func WithPenalty(o search.Objective, penalty func(x []float64) float64) search.Objective {
	return Less(o, Subtrahend{Value: penalty})
}

// Gradients implements [search.Differentiable].
func (p *lessenedSlope) Gradients(dst, grad, x []float64) {
	p.d.Gradients(dst, grad, x)
	p.subtract(dst, grad, x)
}

// Gradients implements [search.Differentiable].
func (p *lessenedSurrogate) Gradients(dst, grad, x []float64) {
	p.s.Gradients(dst, grad, x)
	p.subtract(dst, grad, x)
}

// Surrogate implements [search.Surrogated].
func (p *lessenedSurrogate) Surrogate() search.SurrogateKind { return p.s.Surrogate() }

// SurrogateValues implements [search.Surrogated].
func (p *lessenedSurrogate) SurrogateValues(dst, x []float64) {
	p.s.SurrogateValues(dst, x)
	p.subtract(dst, nil, x)
}

// SurrogateGradients implements [search.Surrogated].
func (p *lessenedSurrogate) SurrogateGradients(dst, grad, x []float64) {
	p.s.SurrogateGradients(dst, grad, x)
	p.subtract(dst, grad, x)
}

// Expectation evaluates E[terms] at settings x.
func Expectation(terms []expectations.Term, in expectations.Inputs, x []float64) ([]float64, error) {
	e, err := expectations.New(terms, in)
	if err != nil {
		return nil, err
	}
	e.Prepare()
	out := make([]float64, len(x)/e.Dim())
	e.Values(out, x)
	return out, nil
}
