package space

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
)

// Subtrahend is a function that is taken off an objective. Both functions must be safe
// for concurrent use.
type Subtrahend struct {
	Value func(x []float64) float64
	// slope adds factor times the gradient to grad; nil for a penalty, which is no part of
	// the gradients.
	Slope func(grad, x []float64, factor float64)
}

// difference is an objective minus a function.
type difference struct {
	search.Objective
	subtrahend Subtrahend
}

// Values implements [search.Objective].
func (p *difference) Values(dst, x []float64) {
	p.Objective.Values(dst, x)
	p.subtract(dst, nil, x)
}

// subtract takes the function off values and, where grad is not nil, off gradients.
func (p *difference) subtract(dst, grad, x []float64) {
	size := p.Dim()
	for j := range dst {
		at := x[j*size : (j+1)*size]
		dst[j] -= p.subtrahend.Value(at)
		if grad != nil && p.subtrahend.Slope != nil {
			p.subtrahend.Slope(grad[j*size:(j+1)*size], at, -1)
		}
	}
}

// Fork implements [search.Objective].
func (p *difference) Fork() search.Objective { return Subtract(p.Objective.Fork(), p.subtrahend) }

// Prepare implements [search.Preparer].
func (p *difference) Prepare() {
	if q, ok := p.Objective.(search.Preparer); ok {
		q.Prepare()
	}
}

// Scales implements [search.Scaled].
func (p *difference) Scales(dst []float64) bool {
	s, ok := p.Objective.(search.Scaled)
	return ok && s.Scales(dst)
}

// differenceGradient is an objective less a function, with gradients.
type differenceGradient struct {
	difference
	d search.Differentiable
}

// differenceSurrogate is an objective less a function, with a surrogate. The same is taken off both,
// so an upper bound stays one.
type differenceSurrogate struct {
	difference
	s search.Surrogated
}

// Subtract subtracts a function. What the objective can, the result can as well.
func Subtract(o search.Objective, f Subtrahend) search.Objective {
	p := difference{o, f}
	switch o := o.(type) {
	case search.Surrogated:
		return &differenceSurrogate{p, o}
	case search.Differentiable:
		return &differenceGradient{p, o}
	}
	return &p
}

// WithPenalty subtracts a penalty, which must be safe for concurrent use.
func WithPenalty(o search.Objective, penalty func(x []float64) float64) search.Objective {
	return Subtract(o, Subtrahend{Value: penalty})
}

// Gradients implements [search.Differentiable].
func (p *differenceGradient) Gradients(dst, grad, x []float64) {
	p.d.Gradients(dst, grad, x)
	p.subtract(dst, grad, x)
}

// Gradients implements [search.Differentiable].
func (p *differenceSurrogate) Gradients(dst, grad, x []float64) {
	p.s.Gradients(dst, grad, x)
	p.subtract(dst, grad, x)
}

// Surrogate implements [search.Surrogated].
func (p *differenceSurrogate) Surrogate() search.SurrogateKind { return p.s.Surrogate() }

// SurrogateValues implements [search.Surrogated].
func (p *differenceSurrogate) SurrogateValues(dst, x []float64) {
	p.s.SurrogateValues(dst, x)
	p.subtract(dst, nil, x)
}

// SurrogateGradients implements [search.Surrogated].
func (p *differenceSurrogate) SurrogateGradients(dst, grad, x []float64) {
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
