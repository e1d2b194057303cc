package policy

import "github.com/labtuner/tuner/gpcore"

// penalised is an objective minus a penalty, which is no part of the gradients: it is
// a wall, not a slope.
type penalised struct {
	gpcore.Objective
	penalty func(x []float64) float64
}

// Values implements [gpcore.Objective].
func (p *penalised) Values(dst, x []float64) {
	p.Objective.Values(dst, x)
	p.subtract(dst, x)
}

func (p *penalised) subtract(dst, x []float64) {
	size := p.Dim()
	for j := range dst {
		dst[j] -= p.penalty(x[j*size : (j+1)*size])
	}
}

// Fork implements [gpcore.Objective].
func (p *penalised) Fork() gpcore.Objective { return withPenalty(p.Objective.Fork(), p.penalty) }

// Prepare implements [gpcore.Preparer].
func (p *penalised) Prepare() {
	if q, ok := p.Objective.(gpcore.Preparer); ok {
		q.Prepare()
	}
}

// Scales implements [gpcore.Scaled].
func (p *penalised) Scales(dst []float64) bool {
	s, ok := p.Objective.(gpcore.Scaled)
	return ok && s.Scales(dst)
}

// penalisedSlope is a penalised objective with gradients.
type penalisedSlope struct {
	penalised
	d gpcore.Differentiable
}

// penalisedSurrogate is a penalised objective with a surrogate. A penalty is never
// negative, so an upper bound stays one.
type penalisedSurrogate struct {
	penalised
	s gpcore.Surrogated
}

// withPenalty subtracts a penalty, which must be safe for concurrent use. What the
// objective can, the result can as well.
func withPenalty(o gpcore.Objective, penalty func(x []float64) float64) gpcore.Objective {
	p := penalised{o, penalty}
	switch o := o.(type) {
	case gpcore.Surrogated:
		return &penalisedSurrogate{p, o}
	case gpcore.Differentiable:
		return &penalisedSlope{p, o}
	}
	return &p
}

// Gradients implements [gpcore.Differentiable].
func (p *penalisedSlope) Gradients(dst, grad, x []float64) {
	p.d.Gradients(dst, grad, x)
	p.subtract(dst, x)
}

// Gradients implements [gpcore.Differentiable].
func (p *penalisedSurrogate) Gradients(dst, grad, x []float64) {
	p.s.Gradients(dst, grad, x)
	p.subtract(dst, x)
}

// Surrogate implements [gpcore.Surrogated].
func (p *penalisedSurrogate) Surrogate() gpcore.SurrogateKind { return p.s.Surrogate() }

// SurrogateValues implements [gpcore.Surrogated].
func (p *penalisedSurrogate) SurrogateValues(dst, x []float64) {
	p.s.SurrogateValues(dst, x)
	p.subtract(dst, x)
}

// SurrogateGradients implements [gpcore.Surrogated].
func (p *penalisedSurrogate) SurrogateGradients(dst, grad, x []float64) {
	p.s.SurrogateGradients(dst, grad, x)
	p.subtract(dst, x)
}
