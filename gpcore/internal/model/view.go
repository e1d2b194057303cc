package model

import (
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// View reads a model with its own scratch. Several views of one model may be used
// concurrently between its changes.
type View struct {
	Model   *Model
	version uint64
	room    int // observations that there is scratch for, see [Model.Room]
	Eval    panels.Compiled
	Point   []float64 // embedding of one point
	Lane    []float64 // width x 24 embedded candidates
	Prior   [vec.Lanes]float64
	B       []float64 // vec.Up24(room) x 24 covariances of the data with the lanes
	K, L    []float64 // vec.Up24(room): covariances of the data with one point, and W times them
	Sum, q  [vec.Lanes]float64
	job     panels.Panel
	self    panels.Panel // other rows against the lanes
	rows    []float64    // the lanes as rows
	grad    *gradients   // taken at the first use
	some    *few         // the same
}

// NewView makes a view with its own scratch.
func NewView(m *Model) *View {
	r := &View{Model: m}
	r.allocate()
	return r
}

// allocate makes scratch for the observations that there are, and lays out the kernel.
func (r *View) allocate() {
	r.room = r.Model.Room()
	n := vec.Up24(r.room)
	v := make([]float64, (vec.Lanes+2)*n)
	r.B, r.K, r.L = v[:vec.Lanes*n], v[vec.Lanes*n:(vec.Lanes+1)*n], v[(vec.Lanes+1)*n:]
	r.grad, r.some = nil, nil
	r.layOut(panels.Compile(r.Model.Kernel, r.room), r.Model.Version)
}

// SetKernel prepares for kernel k, which is the process's since the given version.
func (r *View) SetKernel(k kernels.Kernel, version uint64) { r.layOut(r.Eval.Again(k), version) }

func (r *View) layOut(e panels.Compiled, version uint64) {
	r.Eval, r.version = e, version
	if len(r.Point) != r.Eval.Width {
		r.Point, r.Lane = make([]float64, r.Eval.Width), make([]float64, r.Eval.Width*vec.Lanes)
		r.grad = nil
	}
}

// Sync takes up a kernel that was changed since the last use, and observations beyond the scratch.
func (r *View) Sync() {
	switch {
	case r.room < r.Model.Factor.N:
		r.allocate()
	case r.version != r.Model.Version:
		r.SetKernel(r.Model.Kernel, r.Model.Version)
	}
}

// Predict sets means and, where not nil, variances, 24 points at a time.
func (r *View) Predict(mean, variance, x []float64) {
	r.Sync()
	d := r.Model.Points.D
	for j := 0; j < len(mean); j += vec.Lanes {
		m := min(vec.Lanes, len(mean)-j)
		switch at := x[j*d : (j+m)*d]; {
		case m >= BatchMin:
			r.Load(at, m)
			r.Covariances()
			copy(mean[j:j+m], r.Sum[:])
			if variance != nil {
				r.Model.Factor.Squares(r.q[:], r.B)
				for i := range m {
					variance[j+i] = max(r.Prior[i]-r.q[i], 0)
				}
			}
		case variance != nil:
			r.predictFew(mean[j:j+m], variance[j:j+m], at)
		default:
			for i := range m {
				r.Single(at[i*d:(i+1)*d], false)
				mean[j+i] = vec.Dot(r.K[:r.Model.Factor.N], r.Model.Factor.Alpha)
			}
		}
	}
}

// Single sets r.K to the covariances of the data with one point, zero-padded, and
// r.Prior[0]; with squares it also sets r.L = W k and returns |W k|^2.
func (r *View) Single(x []float64, squares bool) float64 {
	f, c := r.Model.Factor, r.Model.Points
	r.Eval.Embed(r.Point, x)
	r.Prior[0] = r.Eval.Prior(r.Point)
	for b := 0; b < f.N; b += vec.Lanes {
		r.job = panels.Panel{
			Rows: r.Point, RowCap: 1, Lane: c.Blocks[b*c.Width : (b+vec.Lanes)*c.Width],
			N: 1, Out: r.K[b : b+vec.Lanes],
		}
		r.Eval.Fill(&r.job)
	}
	clear(r.K[f.N:])
	if !squares {
		return 0
	}
	for i := 0; i < f.N; i += vec.Rows {
		vec.Dots8(r.L[i:i+8], f.W[i*f.Stride:], f.Stride, r.K[:i+8])
	}
	return vec.Dot(r.L[:f.N], r.L[:f.N])
}

// Load embeds m points as lanes; the lanes that are left repeat the last point.
func (r *View) Load(x []float64, m int) {
	d := r.Model.Points.D
	for i := range vec.Lanes {
		if i < m {
			r.Eval.Embed(r.Point, x[i*d:(i+1)*d])
			r.Prior[i] = r.Eval.Prior(r.Point)
		}
		for q, v := range r.Point {
			r.Lane[q*vec.Lanes+i] = v
		}
	}
}

// Covariances fills r.B with the data against the lanes, zero-padded to whole
// tiles, and r.Sum with the posterior means.
func (r *View) Covariances() {
	c, n := r.Model.Points, r.Model.Factor.N
	r.job = panels.Panel{
		Rows: c.Rows, RowCap: c.Cap, Lane: r.Lane, N: n, Out: r.B,
		Weights: r.Model.Factor.Alpha, Sum: r.Sum[:],
	}
	r.Eval.Fill(&r.job)
	clear(r.B[n*vec.Lanes : vec.Up8(n)*vec.Lanes])
}

// Combine sets dst[j] to sum over i of v_i k(X_i, x_j).
func (r *View) Combine(dst, v, x []float64) {
	r.Sync()
	d, c := r.Model.Points.D, r.Model.Points
	for j := 0; j < len(dst); j += vec.Lanes {
		m := min(vec.Lanes, len(dst)-j)
		r.Load(x[j*d:], m)
		r.job = panels.Panel{
			Rows: c.Rows, RowCap: c.Cap, Lane: r.Lane, N: r.Model.Factor.N, Out: r.B,
			Weights: v, Sum: r.Sum[:],
		}
		r.Eval.Fill(&r.job)
		copy(dst[j:j+m], r.Sum[:])
	}
}
