package expectations

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// panelGradients adds m pairs of points and nodes, from pair base on, in one panel:
// V = W B, U = W^T V = K^-1 B, sigma^2 = k(x,x) - |V|^2 by columns.
func (e *Expected) panelGradients(i int, nodes *quadrature.Nodes, base, m int, dst, grad []float64) {
	s, r, q := e.s, e.s.readers[i], len(nodes.Weight)
	f := r.Model.Factor
	r.Sync()
	r.Load(s.full, m)
	r.Covariances()
	f.MulW(s.v, r.B, f.N)
	f.MulWT(s.u, s.v, f.N)
	vec.SumSquares(s.q[:], s.v, f.N)
	means := false
	clear(s.byMu[:])
	clear(s.byVar[:])
	for l := range m {
		s.mean[l], s.variance[l] = r.Sum[l], max(r.Prior[l]-s.q[l], 0)
		dst[(base+l)/q] += e.evaluateTerm(i, l, nodes.Weight[(base+l)%q])
		means = means || s.byMu[l] != 0
	}
	if e.separables[i].gaussian {
		e.gaussianSlopes(i, means, q, base, m, grad)
		return
	}
	e.genericSlopes(i, q, base, m, grad)
}

// gaussianSlopes adds the gradients of a squared exponential: the covariances are
// their own slopes, and only controlled coordinates are looked at.
func (e *Expected) gaussianSlopes(i int, means bool, q, base, m int, grad []float64) {
	s, r, f := e.s, e.s.readers[i], e.separables[i]
	for k, c := range e.in.Controlled {
		copy(s.lane[k*vec.Lanes:(k+1)*vec.Lanes], r.Lane[c*vec.Lanes:(c+1)*vec.Lanes])
	}
	vec.Multiply(s.u[:f.n*vec.Lanes], r.B)
	s.job = vec.Pairs{Rows: f.rows, Lanes: s.lane, N: f.n, D: f.dc}
	moments := s.moments[:f.dc*vec.Lanes]
	clear(moments)
	vec.Moments(moments, s.u, &s.job)
	for k, c := range f.scale {
		if means {
			// Only without a closed form, where mean is alpha.
			vec.Combine(s.sum[:], f.meanRows[k*f.n:(k+1)*f.n], r.B)
		}
		for l := range m {
			v := 4 * math.Ln2 * s.byVar[l] * moments[k*vec.Lanes+l]
			if means {
				v -= 2 * math.Ln2 * s.byMu[l] * (s.lane[k*vec.Lanes+l]*r.Sum[l] - s.sum[l])
			}
			grad[(base+l)/q*f.dc+k] += c * v
		}
	}
}

// genericSlopes adds the gradients of any kernel: those of
// sum over j of (byMu alpha_j - 2 byVar u_j) k(x_j, lane) + byVar k(lane, lane).
func (e *Expected) genericSlopes(i, q, base, m int, grad []float64) {
	s, r, dc := e.s, e.s.readers[i], e.Dim()
	f := r.Model.Factor
	var twice [vec.Lanes]float64
	for l, v := range s.byVar {
		twice[l] = -2 * v
	}
	for j, a := range f.Alpha[:f.N] {
		row := s.u[j*vec.Lanes : (j+1)*vec.Lanes]
		for l := range row {
			row[l] = float64(row[l]*twice[l]) + float64(a*s.byMu[l])
		}
	}
	s.embedded = vec.Grown(s.embedded, r.Eval.Width*vec.Lanes)
	clear(s.embedded)
	clear(s.moments)
	r.Slopes(s.u, s.embedded)
	if _, constant := kernels.Lengthscales(e.terms[i].Process.Kernel()); !constant { // k(x, x) varies
		for l, v := range s.byVar {
			s.diagonal[l*vec.Lanes+l] = 2 * v
		}
		r.SelfSlopes(s.diagonal[:], m, s.embedded)
	}
	r.Eval.Pullback(s.moments, s.embedded, r.Lane)
	for k, c := range e.in.Controlled {
		for l := range m {
			grad[(base+l)/q*dc+k] += s.moments[c*vec.Lanes+l]
		}
	}
}
