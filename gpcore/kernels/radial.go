package kernels

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// radial evaluates variance*f(q), q the squared distance of embedded points.
type radial struct {
	family    family
	offset, d int
	variance  float64
	shape     float64 // exponent of the rational quadratic
	fill      func(*radial, *vec.Pairs)
	// The derivative of f by q is slopeFactor times what slope fills.
	slope       func(*radial, *vec.Pairs)
	slopeFactor float64
	job         vec.Pairs
	scratch     *panels.Scratch
	moments     []float64 // d x 24
}

// newRadial is the evaluator of a family on d embedded coordinates and the
// constant by which coordinates over lengthscales are multiplied.
func newRadial(k *stationary, b *panels.Builder) (*radial, float64) {
	d := len(k.lengthscale)
	r := &radial{family: k.family, offset: b.Leaf(d), d: d, variance: k.variance, shape: k.shape, scratch: b.Scratch(), moments: make([]float64, d*vec.Lanes)}
	switch k.family {
	case gaussian:
		r.fill = func(_ *radial, p *vec.Pairs) { vec.Gaussian(p) }
		r.slope, r.slopeFactor = r.fill, -math.Ln2
		return r, vec.GaussianScale
	case matern52:
		r.fill = func(_ *radial, p *vec.Pairs) { vec.Matern52(p) }
		r.slope, r.slopeFactor = func(_ *radial, p *vec.Pairs) { vec.Matern32(p) }, -1.0/6
		return r, vec.Matern52Scale
	case matern32:
		r.fill = func(_ *radial, p *vec.Pairs) { vec.Matern32(p) }
		r.slope, r.slopeFactor = func(_ *radial, p *vec.Pairs) { vec.Exponential(p) }, -0.5
		return r, vec.Matern32Scale
	case exponential:
		r.fill = func(_ *radial, p *vec.Pairs) { vec.Exponential(p) }
		r.slope, r.slopeFactor = (*radial).exponentialSlope, -0.5
		return r, vec.ExponentialScale
	case rationalQuadratic:
		r.fill = func(r *radial, p *vec.Pairs) { r.power(p, -r.shape) }
		r.slope, r.slopeFactor = func(r *radial, p *vec.Pairs) { r.power(p, -r.shape-1) }, -k.shape
		return r, 1 / math.Sqrt(2*k.shape)
	}
	panic("gpcore: unknown kernel family")
}

func (r *radial) Prior([]float64) float64 { return r.variance }
func (r *radial) Stationary() bool        { return true }

func (r *radial) Fill(p *panels.Panel) {
	r.pairs(p, p.Out)
	r.job.Weights, r.job.Sum = p.Weights, p.Sum
	r.fill(r, &r.job)
}

// pairs sets up r.job without weights.
func (r *radial) pairs(p *panels.Panel, out []float64) {
	r.job = vec.Pairs{
		Rows: p.Leaf(r.offset, r.d), Lanes: p.Lane[r.offset*vec.Lanes:],
		N: p.N, D: r.d, Variance: r.variance, Out: out,
	}
}

// slopes fills and returns S = w o f'(q)/slopeFactor.
func (r *radial) slopes(p *panels.Panel, w []float64) []float64 {
	s := r.scratch.Rows(p.N)
	r.pairs(p, s)
	r.slope(r, &r.job)
	vec.Multiply(s, w)
	return s
}

// LaneGradient: the derivative by coordinate i of lane j is
// 2 sum over k of S_kj (lane_ij - row_ki).
func (r *radial) LaneGradient(p *panels.Panel, w, g []float64) {
	s := r.slopes(p, w)
	clear(r.moments)
	vec.Moments(r.moments, s, &r.job)
	vec.Axpy(g[r.offset*vec.Lanes:(r.offset+r.d)*vec.Lanes], 2*r.slopeFactor, r.moments)
}

// RowGradient: the other way round. Lanes add up over the blocks, and with each other at the end.
func (r *radial) RowGradient(p *panels.Panel, w, g []float64) {
	s := r.scratch.Rows(1)
	r.pairs(p, s)
	clear(r.moments)
	for b := range len(w) / vec.Lanes {
		lane, weights := p.Block(b, w)
		r.job.Lanes = lane[r.offset*vec.Lanes:]
		r.slope(r, &r.job)
		vec.Multiply(s, weights)
		vec.Moments(r.moments, s, &r.job)
	}
	for i := range r.d {
		sum := 0.0
		for _, v := range r.moments[i*vec.Lanes : (i+1)*vec.Lanes] {
			sum += v
		}
		g[r.offset+i] -= float64(2 * r.slopeFactor * sum)
	}
}

// exponentialSlope fills exp(-u)/u, u = sqrt(q), and zero at the kink.
func (r *radial) exponentialSlope(p *vec.Pairs) {
	vec.Distances(p)
	for i, v := range p.Out[:p.N*vec.Lanes] {
		if v == 0 {
			continue
		}
		u := math.Sqrt(v / p.Variance)
		p.Out[i] = p.Variance * vec.Exp(-u) / u
	}
}

// power fills (1+q)^exponent.
func (r *radial) power(p *vec.Pairs, exponent float64) {
	v := p.Variance
	p.Variance = 1
	vec.Distances(p)
	for i, q := range p.Out[:p.N*vec.Lanes] {
		p.Out[i] = v * vec.Exp(exponent*math.Log1p(q))
	}
	p.Variance = v
	if p.Weights != nil {
		vec.Combine(p.Sum, p.Weights[:p.N], p.Out)
	}
}

// scaledEvaluator is a radial whose embedding is coordinates times factors (ARD).
type scaledEvaluator struct {
	*radial
	scale []float64
}

func (k *stationary) Compile(b *panels.Builder) panels.Evaluator {
	r, c := newRadial(k, b)
	s := &scaledEvaluator{r, make([]float64, r.d)}
	for i, l := range k.lengthscale {
		s.scale[i] = c / l
	}
	return s
}

func (s *scaledEvaluator) Embed(dst, x []float64) {
	for i, c := range s.scale {
		dst[s.offset+i] = x[i] * c
	}
}

// HyperGradient: variance, lengthscales and, for the rational quadratic, the shape. As q
// is a sum of (x_i/l_i)^2, the derivative by log l_i is -2 q_i f'(q).
func (s *scaledEvaluator) HyperGradient(p *panels.Panel, w, g []float64) {
	r := s.radial
	d := r.d
	values := r.scratch.Rows(p.N)
	r.pairs(p, values)
	r.fill(r, &r.job)
	g[0] += vec.Dot(values, w)
	if r.family == rationalQuadratic {
		g[1+d] += r.hyperShape(p, w)
	}
	slopes, rows := r.slopes(p, w), p.Leaf(r.offset, d)
	for i := range d {
		lane := p.Lane[(r.offset+i)*vec.Lanes : (r.offset+i+1)*vec.Lanes]
		sum := 0.0
		for k := range p.N {
			x := rows[k*d+i]
			for j, v := range slopes[k*vec.Lanes : (k+1)*vec.Lanes] {
				t := lane[j] - x
				sum += float64(v * float64(t*t))
			}
		}
		g[1+i] -= float64(2 * r.slopeFactor * sum)
	}
}

// hyperShape is the derivative by log a of (1+q)^(-a) with q proportional to 1/a.
func (r *radial) hyperShape(p *panels.Panel, w []float64) float64 {
	values := r.scratch.Rows(p.N)
	r.pairs(p, values)
	v, a, sum := r.variance, r.shape, 0.0
	r.job.Variance = 1
	vec.Distances(&r.job)
	for i, q := range values {
		l := math.Log1p(q)
		sum += float64(w[i] * vec.Exp(-a*l) * (q/(1+q) - l))
	}
	return v * a * sum
}

func (s *scaledEvaluator) Pullback(dst, g, _ []float64) {
	for i, c := range s.scale {
		for j, v := range g[(s.offset+i)*vec.Lanes : (s.offset+i+1)*vec.Lanes] {
			dst[i*vec.Lanes+j] += float64(c * v)
		}
	}
}
