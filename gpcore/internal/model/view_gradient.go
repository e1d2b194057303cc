package model

import (
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// gradients is the scratch for derivatives.
type gradients struct {
	one         [vec.Lanes]float64             // weights of a block
	weights     []float64                      // of all data
	v, w        []float64                      // panels, taken at their first use
	e           []float64                      // derivatives by embedded coordinates, width x 24
	x           []float64                      // by the points' coordinates, d x 24
	row         []float64                      // by one embedded point
	twoIdentity [vec.Lanes * vec.Lanes]float64 // the identity times two
}

func (r *View) gradients() *gradients {
	if r.grad == nil {
		d := r.Model.Points.D
		r.grad = &gradients{
			e: make([]float64, r.Eval.Width*vec.Lanes), x: make([]float64, d*vec.Lanes),
			row: make([]float64, r.Eval.Width), weights: make([]float64, vec.Up24(r.room)),
		}
		for i := range vec.Lanes {
			r.grad.twoIdentity[i*vec.Lanes+i] = 2
		}
	}
	return r.grad
}

// panels takes the memory of panels for n observations.
func (s *gradients) panels(n int) {
	if s.v == nil {
		both := make([]float64, 2*n*vec.Lanes)
		s.v, s.w = both[:n*vec.Lanes], both[n*vec.Lanes:]
	}
}

// PredictGrad returns mean and variance at one point and sets their derivatives.
func (r *View) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	r.SolveFew(x, 1)
	mean, variance = r.FewMoments(0, x)
	r.FewSlopes(0, dMean, 1, 0)
	r.FewSlopes(0, dVariance, 0, 1)
	return mean, variance
}

// deriveRow sets dst (d elements) to the derivatives of byMean*mean + byVariance*variance at the point that is embedded,
// those of
//
//	sum over k of (byMean*alpha[k] - 2*byVariance*u[k])*k(x, X_k) + byVariance*k(x, x),  u = K^-1 k(X, x).
func (r *View) deriveRow(dst, u []float64, byMean, byVariance float64) {
	s, f, c := r.grad, r.Model.Factor, r.Model.Points
	row := s.row
	clear(row)
	n := vec.Up24(f.N)
	w := s.weights[:n]
	for i, a := range f.Alpha[:f.N] {
		w[i] = float64(byMean*a) - float64(2*byVariance*u[i])
	}
	clear(w[f.N:])
	r.job = panels.Panel{Rows: r.Point, RowCap: 1, N: 1}
	if n > 0 {
		r.job.Lane = c.Blocks[:n*c.Width]
		r.Eval.RowGradient(&r.job, w, row)
	}
	for i, v := range r.Point {
		r.Lane[i*vec.Lanes] = v
	}
	if byVariance != 0 && !r.Eval.Stationary() {
		// k(x, x) depends on x twice: lane 0 is the point itself.
		s.one = [vec.Lanes]float64{2 * byVariance}
		r.job.Lane = r.Lane
		r.Eval.RowGradient(&r.job, s.one[:], row)
	}
	clear(s.e)
	clear(s.x)
	for i, v := range row {
		s.e[i*vec.Lanes] = v
	}
	r.Eval.Pullback(s.x, s.e, r.Lane)
	for i := range dst {
		dst[i] = s.x[i*vec.Lanes]
	}
}

// PredictGrads is predictGrad at len(mean) points, 24 at a time.
func (r *View) PredictGrads(mean, variance, dMean, dVariance, x []float64) {
	r.Sync()
	f, d := r.Model.Factor, r.Model.Points.D
	s := r.gradients()
	s.panels(vec.Up24(r.room))
	for j := 0; j < len(mean); j += vec.Lanes {
		m := min(vec.Lanes, len(mean)-j)
		r.Load(x[j*d:], m)
		r.Covariances()
		f.MulW(s.v, r.B, f.N)
		f.MulWT(s.w, s.v, f.N)
		vec.SumSquares(r.q[:], s.v, f.N)
		for i := range s.w[:f.N*vec.Lanes] {
			s.w[i] *= -2
		}
		r.derive(dVariance[j*d:(j+m)*d], s.w, m, true)
		for k, a := range f.Alpha[:f.N] {
			for i := range vec.Lanes {
				s.w[k*vec.Lanes+i] = a
			}
		}
		r.derive(dMean[j*d:(j+m)*d], s.w, m, false)
		for i := range m {
			mean[j+i], variance[j+i] = r.Sum[i], max(r.Prior[i]-r.q[i], 0)
		}
	}
}

// derive sets dst (m x d) to the derivatives of
// sum over k of w[k*24+j]*k(X_k, lane j), plus those of k(x, x) where asked.
func (r *View) derive(dst, w []float64, m int, withPrior bool) {
	s := r.grad
	clear(s.e)
	clear(s.x)
	r.Slopes(w, s.e)
	if withPrior {
		r.SelfSlopes(s.twoIdentity[:], m, s.e)
	}
	r.Eval.Pullback(s.x, s.e, r.Lane)
	d := r.Model.Points.D
	for j := range m {
		for i := range d {
			dst[j*d+i] = s.x[i*vec.Lanes+j]
		}
	}
}

// Slopes adds to e (width x 24) the derivatives of sum over k of w[k*24+j]*k(X_k, lane j)
// by the embeddings of the lanes, after covariances.
func (r *View) Slopes(w, e []float64) {
	r.job.Weights = nil
	r.Eval.LaneGradient(&r.job, w, e)
}

// LaneRows gives the lanes as rows of a panel, with room for 24, in the memory of dst.
func (r *View) LaneRows(dst []float64) []float64 {
	dst = vec.Grown(dst, r.Eval.Width*vec.Lanes)
	o := 0
	for _, width := range r.Eval.Widths {
		for i := range vec.Lanes {
			for q := range width {
				dst[o*vec.Lanes+i*width+q] = r.Lane[(o+q)*vec.Lanes+i]
			}
		}
		o += width
	}
	return dst
}

// SelfSlopes does the same for the first m lanes against all lanes. k(x, x) depends on x
// twice, so with 2 c_j on the diagonal of w it adds the derivatives of c_j*k(x_j, x_j).
func (r *View) SelfSlopes(w []float64, m int, e []float64) {
	r.rows = r.LaneRows(r.rows)
	r.RowSlopes(r.rows, m, w, e)
}

// FillRows sets dst, n x 24, to the covariances of the first n of other rows with the lanes.
func (r *View) FillRows(dst, rows []float64, n int) {
	r.self = panels.Panel{Rows: rows, RowCap: vec.Lanes, Lane: r.Lane, N: n, Out: dst}
	r.Eval.Fill(&r.self)
}

// RowSlopes adds to e what Slopes does, of the first n of other rows instead of the data.
func (r *View) RowSlopes(rows []float64, n int, w, e []float64) {
	r.self = panels.Panel{Rows: rows, RowCap: vec.Lanes, Lane: r.Lane, N: n}
	r.Eval.LaneGradient(&r.self, w, e)
}
