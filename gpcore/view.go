package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// view reads a model with scratch of its own. Several views of one model may be used
// concurrently between its changes.
type view struct {
	m       *model
	version uint64
	eval    panels.Compiled
	point   []float64 // embedding of one point
	lane    []float64 // width x 24 embedded candidates
	prior   [vec.Lanes]float64
	b       []float64 // vec.Up24(cap) x 24 covariances of the data with the lanes
	k, l    []float64 // vec.Up24(cap): covariances of the data with one point, and W times them
	sum, q  [vec.Lanes]float64
	job     panels.Panel
	self    panels.Panel // the lanes against themselves
	rows    []float64    // the lanes as rows
	grad    *gradients   // taken at the first use
}

// newView makes a view with scratch of its own.
func newView(m *model) *view {
	n := vec.Up24(m.points.cap)
	v := make([]float64, (vec.Lanes+2)*n)
	r := &view{m: m, b: v[:vec.Lanes*n], k: v[vec.Lanes*n : (vec.Lanes+1)*n], l: v[(vec.Lanes+1)*n:]}
	r.take(m.kernel, m.version)
	return r
}

// take prepares for kernel k, which is the process's since the given version.
func (r *view) take(k kernels.Kernel, version uint64) {
	r.version = version
	r.eval = panels.Compile(k, r.m.points.cap)
	r.point, r.lane = make([]float64, r.eval.Width), make([]float64, r.eval.Width*vec.Lanes)
	r.grad = nil
}

// follow takes up a kernel that was changed since the last use.
func (r *view) follow() {
	if r.version != r.m.version {
		r.take(r.m.kernel, r.m.version)
	}
}

// predict sets means and, where not nil, variances, 24 points at a time.
func (r *view) predict(mean, variance, x []float64) {
	r.follow()
	d := r.m.points.d
	for j := 0; j < len(mean); {
		m := min(vec.Lanes, len(mean)-j)
		if m < few {
			mean[j], r.q[0] = r.one(x[j*d:(j+1)*d], variance != nil)
			m = 1
		} else {
			r.load(x[j*d:], m)
			r.covariances()
			copy(mean[j:j+m], r.sum[:])
			if variance != nil {
				r.m.f.Squares(r.q[:], r.b)
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
func (r *view) one(x []float64, squares bool) (mean, q float64) {
	q = r.single(x, squares)
	return vec.Dot(r.k[:r.m.f.N], r.m.f.Alpha), q
}

// few is the number of points from which a panel of 24 costs less than as many
// single predictions.
const few = 8

// single sets r.k to the covariances of the data with one point, zero-padded, and
// r.prior[0]; with squares it also sets r.l = W k and returns |W k|^2.
func (r *view) single(x []float64, squares bool) float64 {
	f, c := r.m.f, r.m.points
	r.eval.Embed(r.point, x)
	r.prior[0] = r.eval.Prior(r.point)
	for b := 0; b < f.N; b += vec.Lanes {
		r.job = panels.Panel{
			Rows: r.point, RowCap: 1, Lane: c.blocks[b*c.width : (b+vec.Lanes)*c.width],
			N: 1, Out: r.k[b : b+vec.Lanes],
		}
		r.eval.Fill(&r.job)
	}
	clear(r.k[f.N:])
	if !squares {
		return 0
	}
	for i := 0; i < f.N; i += vec.Rows {
		vec.Dots8(r.l[i:i+8], f.W[i*f.Stride:], f.Stride, r.k[:i+8])
	}
	return vec.Dot(r.l[:f.N], r.l[:f.N])
}

// load embeds m points as lanes; the lanes that are left repeat the last point.
func (r *view) load(x []float64, m int) {
	d := r.m.points.d
	for i := range vec.Lanes {
		if i < m {
			r.eval.Embed(r.point, x[i*d:(i+1)*d])
			r.prior[i] = r.eval.Prior(r.point)
		}
		for q, v := range r.point {
			r.lane[q*vec.Lanes+i] = v
		}
	}
}

// covariances fills r.b with the data against the lanes, zero-padded to whole
// tiles, and r.sum with the posterior means.
func (r *view) covariances() {
	c, n := r.m.points, r.m.f.N
	r.job = panels.Panel{
		Rows: c.rows, RowCap: c.cap, Lane: r.lane, N: n, Out: r.b,
		Weights: r.m.f.Alpha, Sum: r.sum[:],
	}
	r.eval.Fill(&r.job)
	clear(r.b[n*vec.Lanes : vec.Up8(n)*vec.Lanes])
}

// combine sets dst[j] to sum over i of v_i k(X_i, x_j).
func (r *view) combine(dst, v, x []float64) {
	r.follow()
	d, c := r.m.points.d, r.m.points
	for j := 0; j < len(dst); j += vec.Lanes {
		m := min(vec.Lanes, len(dst)-j)
		r.load(x[j*d:], m)
		r.job = panels.Panel{
			Rows: c.rows, RowCap: c.cap, Lane: r.lane, N: r.m.f.N, Out: r.b,
			Weights: v, Sum: r.sum[:],
		}
		r.eval.Fill(&r.job)
		copy(dst[j:j+m], r.sum[:])
	}
}
