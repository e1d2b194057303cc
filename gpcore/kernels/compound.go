package kernels

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// compound is a sum or a product of kernels on the same points.
type compound struct {
	parts   []Kernel
	product bool
}

// Sum is k_1(x,y) + ... + k_m(x,y): the function is a sum of independent ones.
// It panics unless there are parts, all of one dimension.
func Sum(parts ...Kernel) Kernel { return newCompound(parts, false) }

// Product is k_1(x,y) * ... * k_m(x,y). The output variances of the parts act
// only through their product, so give all but one of them a part without
// ([Drift]) or hold them in a fit by a tight prior. It panics as [Sum].
func Product(parts ...Kernel) Kernel { return newCompound(parts, true) }

func newCompound(parts []Kernel, product bool) Kernel {
	if len(parts) == 0 {
		panic("gpcore: a sum or product needs at least one kernel")
	}
	for _, k := range parts {
		if k.Dim() != parts[0].Dim() {
			panic("gpcore: the kernels of a sum or product must have one dimension")
		}
	}
	return &compound{append([]Kernel(nil), parts...), product}
}

func (k *compound) Dim() int { return k.parts[0].Dim() }

// reduce adds or multiplies a value of each part.
func (k *compound) reduce(value func(Kernel) float64) float64 {
	v := value(k.parts[0])
	for _, p := range k.parts[1:] {
		if k.product {
			v *= value(p)
		} else {
			v += value(p)
		}
	}
	return v
}

func (k *compound) Cov(x, y []float64) float64 {
	return k.reduce(func(p Kernel) float64 { return p.Cov(x, y) })
}

func (k *compound) Variance(x []float64) float64 {
	return k.reduce(func(p Kernel) float64 { return p.Variance(x) })
}

func (k *compound) NumParams() int {
	n := 0
	for _, p := range k.parts {
		n += p.NumParams()
	}
	return n
}

func (k *compound) Params(dst []float64) []float64 {
	for _, p := range k.parts {
		dst = p.Params(dst)
	}
	return dst
}

func (k *compound) Kinds(dst []ParamKind) []ParamKind {
	for _, p := range k.parts {
		dst = p.Kinds(dst)
	}
	return dst
}

func (k *compound) WithParams(logs []float64) Kernel {
	mustCount(logs, k.NumParams())
	parts := make([]Kernel, len(k.parts))
	for i, p := range k.parts {
		n := p.NumParams()
		parts[i], logs = p.WithParams(logs[:n]), logs[n:]
	}
	return &compound{parts, k.product}
}

// cofactor is the factor of part i in the derivative: the product of the other
// parts, or one.
func (k *compound) cofactor(i int, x, y []float64) float64 {
	v := 1.0
	if k.product {
		for j, p := range k.parts {
			if j != i {
				v *= p.Cov(x, y)
			}
		}
	}
	return v
}

func (k *compound) Gradient(dst, x, y []float64) {
	d := k.Dim()
	part := make([]float64, d)
	clear(dst[:d])
	for i, p := range k.parts {
		f := k.cofactor(i, x, y)
		p.Gradient(part, x, y)
		for j, v := range part {
			dst[j] += f * v
		}
	}
}

func (k *compound) ParamGradient(dst, x, y []float64) {
	for i, p := range k.parts {
		n := p.NumParams()
		p.ParamGradient(dst[:n], x, y)
		f := k.cofactor(i, x, y)
		for j := range n {
			dst[j] *= f
		}
		dst = dst[n:]
	}
}

// compoundEvaluator evaluates a compound: the panels of its parts, added or multiplied.
type compoundEvaluator struct {
	product bool
	parts   []panels.Evaluator
	scratch []*panels.Scratch // of the parts' panels
	values  [][]float64       // them, in the job under way
	params  []int             // where the hyperparameters of each part start, and the end
	weight  *panels.Scratch
	job     panels.Panel
	block   panels.Panel
}

func (k *compound) Compile(b *panels.Builder) panels.Evaluator {
	e := &compoundEvaluator{product: k.product, weight: b.Scratch(), params: []int{0}}
	for _, p := range k.parts {
		e.params = append(e.params, e.params[len(e.params)-1]+p.NumParams())
		e.parts = append(e.parts, b.Child(p))
		e.scratch, e.values = append(e.scratch, b.Scratch()), append(e.values, nil)
	}
	return e
}

func (e *compoundEvaluator) Embed(dst, x []float64) {
	for _, p := range e.parts {
		p.Embed(dst, x)
	}
}

func (e *compoundEvaluator) Prior(x []float64) float64 {
	v := e.parts[0].Prior(x)
	for _, p := range e.parts[1:] {
		if e.product {
			v *= p.Prior(x)
		} else {
			v += p.Prior(x)
		}
	}
	return v
}

func (e *compoundEvaluator) Stationary() bool {
	return !slices.ContainsFunc(e.parts, func(p panels.Evaluator) bool { return !p.Stationary() })
}

// fill evaluates the parts.
func (e *compoundEvaluator) fill(p *panels.Panel) {
	for i, part := range e.parts {
		e.job = *p
		e.values[i] = e.scratch[i].Rows(p.N)
		e.job.Weights, e.job.Out = nil, e.values[i]
		part.Fill(&e.job)
	}
}

func (e *compoundEvaluator) Fill(p *panels.Panel) {
	e.fill(p)
	n := p.N * vec.Lanes
	copy(p.Out[:n], e.values[0])
	for _, v := range e.values[1:] {
		if e.product {
			vec.Multiply(p.Out[:n], v)
		} else {
			for i, t := range v[:n] {
				p.Out[i] += t
			}
		}
	}
	p.Combine()
}

// eachPart calls f for each part with what w is for it: in a product, w times the
// values of the other parts.
func (e *compoundEvaluator) eachPart(p *panels.Panel, w []float64, f func(i int, part panels.Evaluator, w []float64)) {
	if !e.product {
		for i, part := range e.parts {
			f(i, part, w)
		}
		return
	}
	e.fill(p)
	weight := e.weight.Rows(p.N)
	for i, part := range e.parts {
		copy(weight, w)
		for j, v := range e.values {
			if j != i {
				vec.Multiply(weight, v)
			}
		}
		f(i, part, weight)
	}
}

func (e *compoundEvaluator) LaneGradient(p *panels.Panel, w, g []float64) {
	e.eachPart(p, w, func(_ int, part panels.Evaluator, w []float64) { part.LaneGradient(p, w, g) })
}

func (e *compoundEvaluator) RowGradient(p *panels.Panel, w, g []float64) {
	e.block = *p
	for b := range len(w) / vec.Lanes {
		var weights []float64
		e.block.Lane, weights = p.Block(b, w)
		e.eachPart(&e.block, weights, func(_ int, part panels.Evaluator, w []float64) { part.RowGradient(&e.block, w, g) })
	}
}

func (e *compoundEvaluator) HyperGradient(p *panels.Panel, w, g []float64) {
	e.eachPart(p, w, func(i int, part panels.Evaluator, w []float64) {
		part.HyperGradient(p, w, g[e.params[i]:e.params[i+1]])
	})
}

func (e *compoundEvaluator) Pullback(dst, g, lane []float64) {
	for _, p := range e.parts {
		p.Pullback(dst, g, lane)
	}
}
