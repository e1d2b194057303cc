package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// Reader is a read-only view of a process with scratch of its own. Several
// readers of one process may run concurrently between its changes; a change must
// not overlap a read.
type Reader struct {
	g       *GP
	version uint64
	eval    compiled
	point   []float64 // embedding of one point
	lane    []float64 // width x 24 embedded candidates
	prior   [lanes]float64
	b       []float64 // up24(cap) x 24 covariances of the data with the lanes
	k, l    []float64 // up24(cap): covariances of the data with one point, and W times them
	sum, q  [lanes]float64
	job     panel
	self    panel
	grad    *gradients // taken at the first use
}

// Reader makes a view. It takes some 400 bytes for each observation of capacity (a
// sum or product of kernels 200 more for each part), and at the first gradient 400
// more.
func (g *GP) Reader() *Reader {
	n := up24(g.points.cap)
	v := make([]float64, (lanes+2)*n)
	r := &Reader{g: g, b: v[:lanes*n], k: v[lanes*n : (lanes+1)*n], l: v[(lanes+1)*n:]}
	r.take(g.kernel, g.version)
	return r
}

// take prepares for kernel k, which is the process's since the given version.
func (r *Reader) take(k Kernel, version uint64) {
	r.version = version
	r.eval = compile(k, r.g.points.cap)
	r.point, r.lane = make([]float64, r.eval.width), make([]float64, r.eval.width*lanes)
	r.grad = nil
}

// follow takes up a kernel that was changed since the last use.
func (r *Reader) follow() {
	if r.version != r.g.version {
		r.take(r.g.kernel, r.g.version)
	}
}

// Predict sets mean[j] and variance[j] to the posterior mean and variance of f at
// point j: k^T K^-1 y and k(x,x) - k^T K^-1 k, without observation noise, the
// variance clamped at zero. x is m x d row-major; mean has m elements, variance
// too or is nil (then only O(n) a point). O(n^2) a point; 24 at a time cost several
// times less each, and may differ in the last bits from one alone. Rasmussen & Williams (2006), eqs. 2.23 and 2.24.
func (g *GP) Predict(mean, variance, x []float64) { g.self.Predict(mean, variance, x) }

// Predict is [GP.Predict] with the reader's scratch.
func (r *Reader) Predict(mean, variance, x []float64) {
	r.follow()
	d := r.g.points.d
	if len(x) != len(mean)*d || (variance != nil && len(variance) != len(mean)) {
		panic("gpcore: Predict needs d coordinates for each mean and variance")
	}
	for j := 0; j < len(mean); {
		m := min(lanes, len(mean)-j)
		if m < few {
			mean[j], r.q[0] = r.one(x[j*d:(j+1)*d], variance != nil)
			m = 1
		} else {
			r.load(x[j*d:], m)
			r.covariances()
			copy(mean[j:j+m], r.sum[:])
			if variance != nil {
				r.g.f.squares(r.q[:], r.b)
			}
		}
		for i := range m {
			if variance != nil {
				variance[j+i] = max(r.prior[i]-r.q[i], 0)
			}
		}
		j += m
	}
}

// one is the mean at one point and, where asked for, k^T K^-1 k.
func (r *Reader) one(x []float64, squares bool) (mean, q float64) {
	q = r.single(x, squares)
	return vec.Dot(r.k[:r.g.f.n], r.g.f.alpha), q
}

// few is the number of points from which a panel of 24 costs less than as many
// single predictions.
const few = 8

// single sets r.k to the covariances of the data with one point, zero-padded, and
// r.prior[0]; with squares it also sets r.l = W k and returns |W k|^2.
func (r *Reader) single(x []float64, squares bool) float64 {
	f, c := r.g.f, r.g.points
	r.eval.embed(r.point, x)
	r.prior[0] = r.eval.prior(r.point)
	for b := 0; b < f.n; b += lanes {
		r.job = panel{
			rows: r.point, rowCap: 1, lane: c.blocks[b*c.width : (b+lanes)*c.width],
			n: 1, out: r.k[b : b+lanes],
		}
		r.eval.panel(&r.job)
	}
	clear(r.k[f.n:])
	if !squares {
		return 0
	}
	for i := 0; i < f.n; i += vec.Rows {
		vec.Dots8(r.l[i:i+8], f.w[i*f.ld:], f.ld, r.k[:i+8])
	}
	return vec.Dot(r.l[:f.n], r.l[:f.n])
}

// load embeds m points as lanes; the lanes that are left repeat the last point.
func (r *Reader) load(x []float64, m int) {
	d := r.g.points.d
	for i := range lanes {
		if i < m {
			r.eval.embed(r.point, x[i*d:(i+1)*d])
			r.prior[i] = r.eval.prior(r.point)
		}
		for q, v := range r.point {
			r.lane[q*lanes+i] = v
		}
	}
}

// covariances fills r.b with the data against the lanes, zero-padded to whole
// tiles, and r.sum with the posterior means.
func (r *Reader) covariances() {
	c, n := r.g.points, r.g.f.n
	r.job = panel{
		rows: c.rows, rowCap: c.cap, lane: r.lane, n: n, out: r.b,
		weights: r.g.f.alpha, sum: r.sum[:],
	}
	r.eval.panel(&r.job)
	clear(r.b[n*lanes : up8(n)*lanes])
}
