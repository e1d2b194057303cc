package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

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

// fold adds or multiplies a value of each part.
func (k *compound) fold(value func(Kernel) float64) float64 {
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
	return k.fold(func(p Kernel) float64 { return p.Cov(x, y) })
}

func (k *compound) Variance(x []float64) float64 {
	return k.fold(func(p Kernel) float64 { return p.Variance(x) })
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

// others is the factor of part i in the derivative: the product of the other
// parts, or one.
func (k *compound) others(i int, x, y []float64) float64 {
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
		f := k.others(i, x, y)
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
		f := k.others(i, x, y)
		for j := range n {
			dst[j] *= f
		}
		dst = dst[n:]
	}
}

// folded evaluates a compound: the panels of its parts, added or multiplied.
type folded struct {
	product bool
	parts   []evaluator
	values  [][]float64 // panels of the parts
	params  []int       // where the hyperparameters of each part start, and the end
	weight  []float64
	job     panel
}

func (k *compound) compile(b *builder) evaluator {
	e := &folded{product: k.product, weight: b.scratch(), params: []int{0}}
	for _, p := range k.parts {
		e.params = append(e.params, e.params[len(e.params)-1]+p.NumParams())
		e.parts = append(e.parts, b.child(p))
		e.values = append(e.values, b.scratch())
	}
	return e
}

func (e *folded) embed(dst, x []float64) {
	for _, p := range e.parts {
		p.embed(dst, x)
	}
}

func (e *folded) prior(x []float64) float64 {
	v := e.parts[0].prior(x)
	for _, p := range e.parts[1:] {
		if e.product {
			v *= p.prior(x)
		} else {
			v += p.prior(x)
		}
	}
	return v
}

// fill evaluates the parts.
func (e *folded) fill(p *panel) {
	for i, part := range e.parts {
		e.job = *p
		e.job.weights, e.job.out = nil, e.values[i]
		part.panel(&e.job)
	}
}

func (e *folded) panel(p *panel) {
	e.fill(p)
	n := p.n * vec.Lanes
	copy(p.out[:n], e.values[0])
	for _, v := range e.values[1:] {
		if e.product {
			vec.Multiply(p.out[:n], v)
		} else {
			for i, t := range v[:n] {
				p.out[i] += t
			}
		}
	}
	p.combine()
}

// outer calls f for each part with what w is for it: in a product, w times the
// values of the other parts.
func (e *folded) outer(p *panel, w []float64, f func(i int, part evaluator, w []float64)) {
	if !e.product {
		for i, part := range e.parts {
			f(i, part, w)
		}
		return
	}
	e.fill(p)
	n := p.n * vec.Lanes
	for i, part := range e.parts {
		copy(e.weight[:n], w)
		for j, v := range e.values {
			if j != i {
				vec.Multiply(e.weight[:n], v)
			}
		}
		f(i, part, e.weight)
	}
}

func (e *folded) gradient(p *panel, w, g []float64) {
	e.outer(p, w, func(_ int, part evaluator, w []float64) { part.gradient(p, w, g) })
}

func (e *folded) rowGradient(p *panel, w, g []float64) {
	e.outer(p, w, func(_ int, part evaluator, w []float64) { part.rowGradient(p, w, g) })
}

func (e *folded) hyper(p *panel, w, g []float64) {
	e.outer(p, w, func(i int, part evaluator, w []float64) {
		part.hyper(p, w, g[e.params[i]:e.params[i+1]])
	})
}

func (e *folded) pull(dst, g, lane []float64) {
	for _, p := range e.parts {
		p.pull(dst, g, lane)
	}
}
