package kernels

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// linear is sum over i of variance_i x_i y_i.
type linear struct{ variance []float64 }

// Linear is the sum over i of variances[i]*x_i*y_i: a plane through the origin
// whose slopes have these prior variances (in units of y^2/x_i^2). Add a
// [Constant] for an offset. Rasmussen & Williams (2006), section 4.2.2.
func Linear(variances []float64) Kernel {
	if len(variances) == 0 {
		panic("gpcore: a kernel needs at least one coordinate")
	}
	for _, v := range variances {
		mustBePositive(v)
	}
	return &linear{append([]float64(nil), variances...)}
}

func (k *linear) Dim() int                     { return len(k.variance) }
func (k *linear) Variance(x []float64) float64 { return k.Cov(x, x) }
func (k *linear) NumParams() int               { return len(k.variance) }

func (k *linear) Params(dst []float64) []float64 {
	for _, v := range k.variance {
		dst = append(dst, math.Log(v))
	}
	return dst
}

func (k *linear) Kinds(dst []ParamKind) []ParamKind {
	for range k.variance {
		dst = append(dst, OutputVariance)
	}
	return dst
}

func (k *linear) WithParams(logs []float64) Kernel {
	mustCount(logs, len(k.variance))
	v := make([]float64, len(logs))
	for i, l := range logs {
		v[i] = vec.Exp(l)
	}
	return Linear(v)
}

func (k *linear) Cov(x, y []float64) float64 {
	s := 0.0
	for i, v := range k.variance {
		s += float64(v * x[i] * y[i])
	}
	return s
}

func (k *linear) Gradient(dst, _, y []float64) {
	for i, v := range k.variance {
		dst[i] = v * y[i]
	}
}

func (k *linear) ParamGradient(dst, x, y []float64) {
	for i, v := range k.variance {
		dst[i] = v * x[i] * y[i]
	}
}

// linearEvaluator evaluates a linear kernel as the inner product of scaled coordinates.
type linearEvaluator struct {
	offset int
	scale  []float64
	job    vec.Pairs
}

func (k *linear) Compile(b *panels.Builder) panels.Evaluator {
	e := &linearEvaluator{offset: b.Leaf(len(k.variance)), scale: make([]float64, len(k.variance))}
	for i, v := range k.variance {
		e.scale[i] = math.Sqrt(v)
	}
	return e
}

func (e *linearEvaluator) Embed(dst, x []float64) {
	for i, c := range e.scale {
		dst[e.offset+i] = c * x[i]
	}
}

func (e *linearEvaluator) Prior(x []float64) float64 {
	x = x[e.offset : e.offset+len(e.scale)]
	return vec.Dot(x, x)
}

func (e *linearEvaluator) Stationary() bool { return false }

func (e *linearEvaluator) Fill(p *panels.Panel) {
	e.job = vec.Pairs{
		Rows: p.Leaf(e.offset, len(e.scale)), Lanes: p.Lane[e.offset*vec.Lanes:], N: p.N, D: len(e.scale),
		Variance: 1, Out: p.Out, Weights: p.Weights, Sum: p.Sum,
	}
	vec.Inner(&e.job)
}

func (e *linearEvaluator) LaneGradient(p *panels.Panel, w, g []float64) {
	d := len(e.scale)
	rows := p.Leaf(e.offset, d)
	for i := range d {
		gi := g[(e.offset+i)*vec.Lanes : (e.offset+i+1)*vec.Lanes]
		for k := range p.N {
			vec.Axpy(gi, rows[k*d+i], w[k*vec.Lanes:])
		}
	}
}

func (e *linearEvaluator) RowGradient(p *panels.Panel, w, g []float64) {
	for b := range len(w) / vec.Lanes {
		lane, weights := p.Block(b, w)
		for i := range e.scale {
			g[e.offset+i] += vec.Dot(weights, lane[(e.offset+i)*vec.Lanes:])
		}
	}
}

func (e *linearEvaluator) HyperGradient(p *panels.Panel, w, g []float64) {
	d := len(e.scale)
	rows := p.Leaf(e.offset, d)
	for i := range d {
		lane := p.Lane[(e.offset+i)*vec.Lanes : (e.offset+i+1)*vec.Lanes]
		for k := range p.N {
			g[i] += float64(rows[k*d+i] * vec.Dot(lane, w[k*vec.Lanes:]))
		}
	}
}

func (e *linearEvaluator) Pullback(dst, g, _ []float64) {
	for i, c := range e.scale {
		vec.Axpy(dst[i*vec.Lanes:(i+1)*vec.Lanes], c, g[(e.offset+i)*vec.Lanes:])
	}
}

// constant is the same covariance for every pair.
type constant struct {
	variance float64
	d        int
}

// Constant is the covariance variance between any two points of d coordinates: an
// unknown offset of the whole function with this prior variance.
func Constant(variance float64, d int) Kernel {
	mustBePositive(variance)
	if d <= 0 {
		panic("gpcore: a kernel needs at least one coordinate")
	}
	return &constant{variance, d}
}

func (k *constant) Dim() int                                     { return k.d }
func (k *constant) Cov(_, _ []float64) float64                   { return k.variance }
func (k *constant) Variance([]float64) float64                   { return k.variance }
func (k *constant) NumParams() int                               { return 1 }
func (k *constant) Params(dst []float64) []float64               { return append(dst, math.Log(k.variance)) }
func (k *constant) Kinds(dst []ParamKind) []ParamKind            { return append(dst, OutputVariance) }
func (k *constant) Gradient(dst, _, _ []float64)                 { clear(dst[:k.d]) }
func (k *constant) ParamGradient(dst, _, _ []float64)            { dst[0] = k.variance }
func (k *constant) Compile(*panels.Builder) panels.Evaluator     { return k }
func (k *constant) Prior([]float64) float64                      { return k.variance }
func (k *constant) Stationary() bool                             { return true }
func (k *constant) Embed(_, _ []float64)                         {}
func (k *constant) LaneGradient(_ *panels.Panel, _, _ []float64) {}
func (k *constant) RowGradient(_ *panels.Panel, _, _ []float64)  {}
func (k *constant) Pullback(_, _, _ []float64)                   {}

func (k *constant) WithParams(logs []float64) Kernel {
	mustCount(logs, 1)
	return Constant(vec.Exp(logs[0]), k.d)
}

func (k *constant) HyperGradient(p *panels.Panel, w, g []float64) {
	for _, v := range w[:p.N*vec.Lanes] {
		g[0] += float64(k.variance * v)
	}
}

func (k *constant) Fill(p *panels.Panel) {
	for i := range p.Out[:p.N*vec.Lanes] {
		p.Out[i] = k.variance
	}
	p.Combine()
}
