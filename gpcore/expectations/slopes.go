package expectations

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// panelGradients adds m pairs of points and nodes, from pair base on, in one panel:
// V = W B, U = W^T V = K^-1 B, sigma^2 = k(x,x) - |V|^2 by columns.
func (e *Expected) panelGradients(i int, nodes *quadrature.Nodes, base, m int) {
	s, r, q := e.s, e.s.readers[i], len(nodes.Weight)
	f := r.Model.Factor
	r.Sync()
	r.Load(s.full, m)
	r.Covariances()
	f.MulW(s.v, r.B, f.N)
	f.MulWT(s.u, s.v, f.N)
	vec.SumSquares(s.q[:], s.v, f.N)
	for l := range m {
		s.mean[l], s.variance[l] = r.Sum[l], max(r.Prior[l]-s.q[l], 0)
	}
	e.furtherCovariances(i)
	gaussian := e.separables[i].gaussian && !e.further(i)
	if gaussian {
		e.gaussianMoments(i)
	}
	for k, o := range s.open {
		clear(o.byMu[:])
		clear(o.byVar[:])
		clear(o.byFurther)
		means := false
		for l := range m {
			o.dst[(base+l)/q] += e.evaluateTerm(o, i, l, nodes.Weight[(base+l)%q])
			means = means || o.byMu[l] != 0
		}
		switch {
		case gaussian:
			e.gaussianSlopes(o, i, means, q, base, m)
		case k+1 < len(s.open): // the next one needs K^-1 B as well
			used := s.u[:f.N*vec.Lanes]
			copy(s.v, used)
			e.genericSlopes(o, i, q, base, m)
			copy(used, s.v)
		default:
			e.genericSlopes(o, i, q, base, m)
		}
	}
}

// gaussianMoments prepares the gradients of a squared exponential: the covariances are
// their own slopes, and only controlled coordinates are looked at.
func (e *Expected) gaussianMoments(i int) {
	s, r, f := e.s, e.s.readers[i], e.separables[i]
	for k, c := range e.in.Controlled {
		copy(s.lane[k*vec.Lanes:(k+1)*vec.Lanes], r.Lane[c*vec.Lanes:(c+1)*vec.Lanes])
	}
	vec.Multiply(s.u[:f.n*vec.Lanes], r.B)
	s.job = vec.Pairs{Rows: f.rows, Lanes: s.lane, N: f.n, D: f.dc}
	moments := s.moments[:f.dc*vec.Lanes]
	clear(moments)
	vec.Moments(moments, s.u, &s.job)
}

// gaussianSlopes adds the gradients of a squared exponential to an output.
func (e *Expected) gaussianSlopes(o *output, i int, means bool, q, base, m int) {
	s, r, f := e.s, e.s.readers[i], o.separables[i]
	for k, c := range f.scale {
		if means {
			// Only without a closed form, where mean is alpha.
			vec.Combine(s.sum[:], f.meanRows[k*f.n:(k+1)*f.n], r.B)
		}
		for l := range m {
			v := 4 * math.Ln2 * o.byVar[l] * s.moments[k*vec.Lanes+l]
			if means {
				v -= 2 * math.Ln2 * o.byMu[l] * (s.lane[k*vec.Lanes+l]*r.Sum[l] - s.sum[l])
			}
			o.grad[(base+l)/q*f.dc+k] += c * v
		}
	}
}

// genericSlopes adds the gradients of any kernel to an output: those of
// sum over j of (byMu alpha_j - 2 byVar u_j) k(x_j, lane) + byVar k(lane, lane).
func (e *Expected) genericSlopes(o *output, i, q, base, m int) {
	s, r, dc := e.s, e.s.readers[i], e.Dim()
	f := r.Model.Factor
	var twice [vec.Lanes]float64
	for l, v := range o.byVar {
		twice[l] = -2 * v
	}
	for j, a := range f.Alpha[:f.N] {
		row := s.u[j*vec.Lanes : (j+1)*vec.Lanes]
		for l := range row {
			row[l] = float64(row[l]*twice[l]) + float64(a*o.byMu[l])
		}
	}
	further := o.terms[i].Further
	if further != nil {
		further.weigh(s.u, o.byFurther, f.N)
	}
	s.embedded = vec.Grown(s.embedded, r.Eval.Width*vec.Lanes)
	clear(s.embedded)
	clear(s.moments)
	r.Slopes(s.u, s.embedded)
	if further != nil {
		further.slopes(s.embedded, o.byFurther, r)
	}
	if _, constant := kernels.Lengthscales(e.terms[i].Process.Kernel()); !constant { // k(x, x) varies
		for l, v := range o.byVar {
			s.diagonal[l*vec.Lanes+l] = 2 * v
		}
		r.SelfSlopes(s.diagonal[:], m, s.embedded)
	}
	r.Eval.Pullback(s.moments, s.embedded, r.Lane)
	for k, c := range e.in.Controlled {
		for l := range m {
			o.grad[(base+l)/q*dc+k] += s.moments[c*vec.Lanes+l]
		}
	}
}
