package expectations

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/search"
)

// Surrogate is the upper bound by Jensen's inequality where it exists,
//
//	U(c) = sum over terms of Mean*E[mu] + SD*sqrt(E[sigma^2])  >=  a(c),
//
// with E[sigma^2] = k(x,x) - c^T (K^-1 o E[s s^T]) c for k = k_c k_s, c and s the
// covariances' factors of the controlled and the random coordinates: O(n^2) a point
// instead of O(n^2) a node. It needs squared exponentials, SD >= 0 and no Of. The
// expectation is over the same nodes as that of sigma, so the bound holds for what the
// objective computes, up to rounding. Otherwise a coarser rule is the approximation.
func (e *Expected) Surrogate() search.SurrogateKind {
	switch {
	case len(e.nodes.Weight) == 1:
		return search.NoSurrogate
	case e.boundable():
		return search.UpperBound
	case len(e.coarse.Weight) < len(e.nodes.Weight):
		return search.Approximation
	}
	return search.NoSurrogate
}

// SurrogateValues sets dst[j] to the surrogate at row j of x, as Values.
func (e *Expected) SurrogateValues(dst, x []float64) { e.SurrogateGradients(dst, nil, x) }

// SurrogateGradients is SurrogateValues with gradients, as Gradients.
func (e *Expected) SurrogateGradients(dst, grad, x []float64) {
	if !e.boundable() {
		e.evaluate(&e.coarse, dst, grad, x)
		return
	}
	dc := e.Dim()
	if len(x) != len(dst)*dc || (grad != nil && len(grad) != len(x)) {
		panic("gpcore: an expectation needs Dim coordinates for each value and gradient")
	}
	clear(dst)
	clear(grad)
	e.s.fit()
	for i := range e.terms {
		t, f := &e.terms[i], e.separables[i]
		for base := 0; base < len(dst); {
			m := min(vec.Lanes, len(dst)-base)
			if grad != nil && m < model.BatchMin {
				e.singleBound(f, t, base, dst, grad, x)
				base++
				continue
			}
			b := e.factors(f, x[base*dc:], m)
			e.addMeans(f, b, t.Mean, base, m, dst, grad)
			e.addBound(f, t.SD, base, m, dst, grad)
			base += m
		}
	}
}

// addBound adds a*sqrt(E[sigma^2]) at the points whose factors are in the panel b:
// with Q the lower triangle, q = c^T Q c and its gradient (Q + Q^T) c.
func (e *Expected) addBound(f *separable, a float64, base, m int, dst, grad []float64) {
	s, n, ld := e.s, f.n, f.boundLd
	for r := 0; r < n; r += vec.Rows {
		vec.Tile(s.v[r*vec.Lanes:], f.bound[r*ld:], ld, s.b, r+vec.Rows)
	}
	if grad != nil {
		for r := 0; r < n; r += vec.Rows {
			vec.TileT(s.u[r*vec.Lanes:], f.bound[r*ld+r:], ld, s.b[r*vec.Lanes:], vec.Up8(n)-r)
		}
		vec.Axpy(s.u[:n*vec.Lanes], 1, s.v)
		vec.Multiply(s.u[:n*vec.Lanes], s.b)
	}
	vec.Multiply(s.v[:n*vec.Lanes], s.b)
	vec.Combine(s.sum[:], s.ones[:n], s.v)
	for l := range m {
		s.variance[l] = deviation(f.variance-s.sum[l], f.variance)
		dst[base+l] += a * s.variance[l]
	}
	if grad == nil {
		return
	}
	s.job = vec.Pairs{Rows: f.rows, Lanes: s.lane, N: n, D: f.dc}
	moments := s.moments[:f.dc*vec.Lanes]
	clear(moments)
	vec.Moments(moments, s.u, &s.job)
	for k, c := range f.scale {
		for l := range m {
			// d sqrt(v - q) = -dq/(2 sd), dq = -2 ln2 * scale * moment.
			grad[(base+l)*f.dc+k] += a * math.Ln2 * c * moments[k*vec.Lanes+l] / s.variance[l]
		}
	}
}

// singleBound adds one point with its gradient, by products of Q with one vector.
func (e *Expected) singleBound(f *separable, t *Term, at int, dst, grad, x []float64) {
	s, n, ld, dc := e.s, f.n, f.boundLd, f.dc
	c, v, u := s.b[:vec.Up8(n)], s.v[:vec.Up8(n)], s.u[:vec.Up8(n)]
	row, g := x[at*dc:(at+1)*dc], grad[at*dc:(at+1)*dc]
	z := s.lane[:dc]
	for k := range z {
		z[k] = row[k] * f.scale[k]
	}
	for b := 0; b < n; b += vec.Lanes {
		s.job = vec.Pairs{
			Rows: z, Lanes: f.blocks[b*dc : (b+vec.Lanes)*dc], N: 1, D: dc, Variance: 1,
			Out: s.b[b : b+vec.Lanes],
		}
		vec.Gaussian(&s.job)
	}
	clear(s.b[n:vec.Up24(n)])
	clear(u)
	for r := 0; r < n; r += vec.Rows {
		vec.Dots8(v[r:r+8], f.bound[r*ld:], ld, c[:r+8])
		vec.Axpys8(u[:r+8], f.bound[r*ld:], ld, c[r:r+8])
	}
	sd := deviation(f.variance-vec.Dot(c[:n], v), f.variance)
	dst[at] += t.SD * sd
	vec.Axpy(u[:n], 1, v)
	vec.Multiply(u[:n], c)
	sum := vec.Dot(u[:n], s.ones)
	for k, scale := range f.scale {
		moment := z[k]*sum - vec.Dot(u[:n], f.columns[k*n:(k+1)*n])
		g[k] += t.SD * math.Ln2 * scale * moment / sd
	}
	mean := vec.Dot(c[:n], f.mean)
	dst[at] += t.Mean * mean
	for k, scale := range f.scale {
		g[k] -= t.Mean * 2 * math.Ln2 * scale * (z[k]*mean - vec.Dot(c[:n], f.meanRows[k*n:(k+1)*n]))
	}
}
