package gpcore

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
	sum, q  [lanes]float64
	job     panel
	self    panel
	grad    *gradients // taken at the first use
}

// Reader makes a view. It takes about 200*Cap bytes, and three times as much more
// at the first gradient.
func (g *GP) Reader() *Reader {
	r := &Reader{g: g, b: make([]float64, up24(g.points.cap)*lanes)}
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
	for j := 0; j < len(mean); j += lanes {
		m := min(lanes, len(mean)-j)
		r.load(x[j*d:], m)
		r.covariances()
		copy(mean[j:j+m], r.sum[:])
		if variance == nil {
			continue
		}
		r.g.f.squares(r.q[:], r.b)
		for i := range m {
			variance[j+i] = max(r.prior[i]-r.q[i], 0)
		}
	}
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
