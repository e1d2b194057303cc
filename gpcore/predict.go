package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Reader is a read-only view of a process with scratch of its own. Several
// readers of one process may run concurrently between its changes; a change must
// not overlap a read.
type Reader struct {
	g       *GP
	version uint64
	eval    evaluator
	point   []float64
	lane    []float64 // width x 24 embedded candidates
	b       []float64 // up24(cap) x 24 covariances
	sum, q  [lanes]float64
	k, l, u []float64
	dx      []float64
	job     panel
}

// Reader makes a view. It allocates 200*Cap bytes.
func (g *GP) Reader() *Reader {
	c := up24(g.points.cap)
	r := &Reader{g: g, b: make([]float64, c*lanes), k: make([]float64, c),
		l: make([]float64, c), u: make([]float64, c), dx: make([]float64, g.points.d)}
	r.prepare()
	return r
}

func (r *Reader) prepare() {
	r.version = r.g.version
	r.eval = newEvaluator(r.g.kernel, r.g.points.cap)
	w := r.eval.width()
	r.point, r.lane = make([]float64, w), make([]float64, w*lanes)
}

// follow takes up a kernel that was changed since the last use.
func (r *Reader) follow() {
	if r.version != r.g.version {
		r.prepare()
	}
}

// Predict sets mean[j] and variance[j] to the posterior mean and variance of f at
// point j: k^T K^-1 y and k(x,x) - k^T K^-1 k, without observation noise, the
// variance clamped at zero. x is m x d row-major; mean has m elements, variance
// too or is nil (then only O(n) a point). O(n^2) a point, 24 at a time.
// Rasmussen & Williams (2006), eqs. 2.23 and 2.24.
func (g *GP) Predict(mean, variance, x []float64) { g.self.Predict(mean, variance, x) }

// Predict is [GP.Predict] with the reader's scratch.
func (r *Reader) Predict(mean, variance, x []float64) {
	r.follow()
	d := r.g.points.d
	if len(x) != len(mean)*d || (variance != nil && len(variance) != len(mean)) {
		panic("gpcore: Predict needs d coordinates for each mean and variance")
	}
	n := r.g.f.n
	for j := 0; j < len(mean); j += lanes {
		m := min(lanes, len(mean)-j)
		r.load(x[j*d:], m)
		r.covariances(r.g.f.alpha)
		copy(mean[j:j+m], r.sum[:])
		if variance == nil {
			continue
		}
		clear(r.b[n*lanes : up8(n)*lanes])
		r.g.f.squares(r.q[:], r.b)
		for i := range m {
			prior := r.g.kernel.Variance(x[(j+i)*d : (j+i+1)*d])
			variance[j+i] = max(prior-r.q[i], 0)
		}
	}
}

// load embeds m points as lanes; the lanes that are left repeat the last point.
func (r *Reader) load(x []float64, m int) {
	d := r.g.points.d
	for i := range lanes {
		if i < m {
			r.eval.embed(r.point, x[i*d:(i+1)*d])
		}
		for q, v := range r.point {
			r.lane[q*lanes+i] = v
		}
	}
}

// covariances fills r.b with the data against the lanes, and r.sum with weights.
func (r *Reader) covariances(weights []float64) {
	c := r.g.points
	r.job = panel{rows: c.rows, rowCap: c.cap, lanes: r.lane, n: r.g.f.n, out: r.b, weights: weights, sum: r.sum[:]}
	r.eval.panel(&r.job)
}

// PredictGrad returns the posterior mean and variance of f at one point and sets
// dMean and dVariance (d elements each) to their derivatives by its coordinates.
// The variance's is that of the unclamped variance. O(n^2).
func (g *GP) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	return g.self.PredictGrad(x, dMean, dVariance)
}

// PredictGrad is [GP.PredictGrad] with the reader's scratch.
func (r *Reader) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	r.follow()
	f, c := r.g.f, r.g.points
	if len(x) != c.d || len(dMean) != c.d || len(dVariance) != c.d {
		panic("gpcore: PredictGrad needs d coordinates and two gradients of d")
	}
	r.load(x, 1)
	r.covariances(f.alpha)
	for i := range f.n {
		r.k[i] = r.b[i*lanes]
	}
	clear(r.k[f.n:])
	q := f.solve(r.k, r.l, r.u)
	// The variance at x depends on both arguments of k(x, x).
	r.g.kernel.Gradient(r.dx, x, x)
	for i, v := range r.dx {
		dMean[i], dVariance[i] = 0, 2*v
	}
	for j := range f.n {
		r.g.kernel.Gradient(r.dx, x, c.x[j*c.d:(j+1)*c.d])
		for i, v := range r.dx {
			dMean[i] = math.FMA(f.alpha[j], v, dMean[i])
			dVariance[i] = math.FMA(-2*r.u[j], v, dVariance[i])
		}
	}
	return vec.Dot(f.alpha[:f.n], r.k), max(r.g.kernel.Variance(x)-q, 0)
}
