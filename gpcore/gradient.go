package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// gradients is the scratch for derivatives.
type gradients struct {
	u     []float64      // K^-1 k of one point
	one   [lanes]float64 // weights of a block
	v, w  []float64      // panels
	e     []float64      // derivatives by embedded coordinates, width x 24
	x     []float64      // by the points' coordinates, d x 24
	rows  []float64      // the lanes as rows (see panel), and the identity times two
	twice [lanes * lanes]float64
}

func (r *Reader) gradients() *gradients {
	if r.grad == nil {
		c, d := up24(r.g.points.cap), r.g.points.d
		panels := make([]float64, 2*c*lanes)
		r.grad = &gradients{
			u: make([]float64, c), v: panels[:c*lanes], w: panels[c*lanes:],
			e: make([]float64, r.eval.width*lanes), x: make([]float64, d*lanes),
			rows: make([]float64, r.eval.width*lanes),
		}
		for i := range lanes {
			r.grad.twice[i*lanes+i] = 2
		}
	}
	return r.grad
}

// PredictGrad returns the posterior mean and variance of f at one point and sets
// dMean and dVariance (d elements each) to their derivatives by its coordinates.
// The variance is clamped at zero, its derivative is that of the unclamped one.
// O(n^2).
func (g *GP) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	return g.self.PredictGrad(x, dMean, dVariance)
}

// PredictGrad is [GP.PredictGrad] with the reader's scratch.
func (r *Reader) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	r.follow()
	f, d := r.g.f, r.g.points.d
	if len(x) != d || len(dMean) != d || len(dVariance) != d {
		panic("gpcore: PredictGrad needs d coordinates and two gradients of d")
	}
	s := r.gradients()
	r.single(x, false)
	q := f.solve(r.k, r.l, s.u)
	mean = vec.Dot(r.k[:f.n], f.alpha)
	r.deriveRow(dMean, f.alpha, 1)
	r.deriveRow(dVariance, s.u, -2)
	return mean, max(r.prior[0]-q, 0)
}

// deriveRow sets dst (d elements) to the derivatives of
// scale * sum over k of w[k]*k(x, X_k) at the point of single, for scale -2 with
// those of k(x, x).
func (r *Reader) deriveRow(dst, w []float64, scale float64) {
	s, f, c := r.grad, r.g.f, r.g.points
	row := s.rows[:len(r.point)]
	clear(row)
	r.job = panel{rows: r.point, rowCap: 1, n: 1}
	for b := 0; b < f.n; b += lanes {
		m := min(lanes, f.n-b)
		copy(s.one[:], w[b:b+m])
		clear(s.one[m:])
		r.job.lane = c.blocks[b*c.width : (b+lanes)*c.width]
		r.eval.rowGradient(&r.job, s.one[:], row)
	}
	for i, v := range r.point {
		row[i] *= scale
		r.lane[i*lanes] = v
	}
	if scale == -2 {
		// k(x, x) depends on x twice: lane 0 is the point itself.
		s.one = [lanes]float64{2}
		r.job.lane = r.lane
		r.eval.rowGradient(&r.job, s.one[:], row)
	}
	clear(s.e)
	clear(s.x)
	for i, v := range row {
		s.e[i*lanes] = v
	}
	r.eval.pull(s.x, s.e, r.lane)
	for i := range dst {
		dst[i] = s.x[i*lanes]
	}
}

// PredictGrads is PredictGrad at m points: mean and variance have m elements,
// dMean and dVariance m x d, x is m x d row-major. O(n^2) a point, 24 at a time:
// several times cheaper than m single calls.
func (r *Reader) PredictGrads(mean, variance, dMean, dVariance, x []float64) {
	r.follow()
	f, d := r.g.f, r.g.points.d
	if len(x) != len(mean)*d || len(variance) != len(mean) || len(dMean) != len(x) || len(dVariance) != len(x) {
		panic("gpcore: PredictGrads needs d coordinates, two gradients, mean and variance for each point")
	}
	s := r.gradients()
	for j := 0; j < len(mean); j += lanes {
		m := min(lanes, len(mean)-j)
		r.load(x[j*d:], m)
		r.covariances()
		f.mulW(s.v, r.b, f.n)
		f.mulWT(s.w, s.v, f.n)
		vec.SumSquares(r.q[:], s.v, f.n)
		for i := range s.w[:f.n*lanes] {
			s.w[i] *= -2
		}
		r.derive(dVariance[j*d:(j+m)*d], s.w, m, true)
		for k, a := range f.alpha[:f.n] {
			for i := range lanes {
				s.w[k*lanes+i] = a
			}
		}
		r.derive(dMean[j*d:(j+m)*d], s.w, m, false)
		for i := range m {
			mean[j+i], variance[j+i] = r.sum[i], max(r.prior[i]-r.q[i], 0)
		}
	}
}

// derive sets dst (m x d) to the derivatives of
// sum over k of w[k*24+j]*k(X_k, lane j), plus those of k(x, x) where asked.
func (r *Reader) derive(dst, w []float64, m int, withPrior bool) {
	s := r.grad
	clear(s.e)
	clear(s.x)
	r.job.weights = nil
	r.eval.gradient(&r.job, w, s.e)
	if withPrior {
		// k(x, x) depends on x twice, so its derivative is twice that by one
		// argument: the lanes against themselves, weighted by 2I.
		o := 0
		for _, width := range r.eval.widths {
			for i := range lanes {
				for q := range width {
					s.rows[o*lanes+i*width+q] = r.lane[(o+q)*lanes+i]
				}
			}
			o += width
		}
		r.self = panel{rows: s.rows, rowCap: lanes, lane: r.lane, n: m}
		r.eval.gradient(&r.self, s.twice[:], s.e)
	}
	r.eval.pull(s.x, s.e, r.lane)
	d := r.g.points.d
	for j := range m {
		for i := range d {
			dst[j*d+i] = s.x[i*lanes+j]
		}
	}
}
