package gpcore

import (
	"math"

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
	tmp         []float64
	moments     []float64 // d x 24
}

// radialOf is the evaluator of a family on d embedded coordinates and the
// constant by which coordinates over lengthscales are multiplied.
func radialOf(k *stationary, b *builder) (*radial, float64) {
	d := len(k.lengthscale)
	r := &radial{family: k.family, offset: b.leaf(d), d: d, variance: k.variance, shape: k.shape, tmp: b.scratch(), moments: make([]float64, d*lanes)}
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

func (r *radial) prior([]float64) float64 { return r.variance }

func (r *radial) panel(p *panel) {
	r.pairs(p, p.out)
	r.job.Weights, r.job.Sum = p.weights, p.sum
	r.fill(r, &r.job)
}

// pairs sets up r.job without weights.
func (r *radial) pairs(p *panel, out []float64) {
	r.job = vec.Pairs{
		Rows: p.rows[r.offset*p.rowCap:], Lanes: p.lane[r.offset*lanes:],
		N: p.n, D: r.d, Variance: r.variance, Out: out,
	}
}

// gradient: with S = w o f'(q), the derivative by coordinate i of lane j is
// 2 sum over k of S_kj (lane_ij - row_ki).
func (r *radial) gradient(p *panel, w, g []float64) {
	r.pairs(p, r.tmp)
	r.slope(r, &r.job)
	s := r.tmp[:p.n*lanes]
	vec.Multiply(s, w)
	clear(r.moments)
	vec.Moments(r.moments, s, &r.job)
	vec.Axpy(g[r.offset*lanes:(r.offset+r.d)*lanes], 2*r.slopeFactor, r.moments)
}

// exponentialSlope fills exp(-u)/u, u = sqrt(q), and zero at the kink.
func (r *radial) exponentialSlope(p *vec.Pairs) {
	vec.Distances(p)
	for i, v := range p.Out[:p.N*lanes] {
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
	for i, q := range p.Out[:p.N*lanes] {
		p.Out[i] = v * vec.Exp(exponent*math.Log1p(q))
	}
	p.Variance = v
	if p.Weights != nil {
		vec.Combine(p.Sum, p.Weights[:p.N], p.Out)
	}
}

// scaled is a radial whose embedding is coordinates times factors (ARD).
type scaled struct {
	*radial
	scale []float64
}

func (k *stationary) compile(b *builder) evaluator {
	r, c := radialOf(k, b)
	s := &scaled{r, make([]float64, r.d)}
	for i, l := range k.lengthscale {
		s.scale[i] = c / l
	}
	return s
}

func (s *scaled) embed(dst, x []float64) {
	for i, c := range s.scale {
		dst[s.offset+i] = x[i] * c
	}
}

func (s *scaled) pull(dst, g, _ []float64) {
	for i, c := range s.scale {
		for j, v := range g[(s.offset+i)*lanes : (s.offset+i+1)*lanes] {
			dst[i*lanes+j] += float64(c * v)
		}
	}
}
