package sampling

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Joint is the joint posterior of f at a fixed set of points, ready to be drawn
// from. It does not follow later changes of the process.
type Joint struct {
	mean []float64
	l    []float64 // m x m lower semi-Cholesky factor of the posterior covariance
}

// NewJoint computes the joint posterior of g at m points, x m x d row-major: exact, with
// directions of variance below 1e-12 of the prior left out. O(n^2 m + n m^2 + m^3);
// allocates O(m^2 + n m). It returns ErrShape or a *ValueError.
func NewJoint(g *gpcore.GP, x []float64) (*Joint, error) {
	d, n := g.Dim(), g.Len()
	if len(x)%d != 0 {
		return nil, gpcore.ErrShape
	}
	if err := check.Finite(check.NameX, x); err != nil {
		return nil, err
	}
	m := len(x) / d
	j := &Joint{mean: make([]float64, m), l: make([]float64, m*m)}
	g.Predict(j.mean, nil, x)
	view := g.Model().OwnView()
	// Row i of v is W k_i, so that the covariance is k_ij - v_i . v_j.
	v, prior := make([]float64, m*n), make([]float64, m)
	for i := range m {
		xi := x[i*d : (i+1)*d]
		view.Single(xi, true)
		prior[i] = view.Prior[0]
		vi := v[i*n : (i+1)*n]
		copy(vi, view.L[:n])
		for q := range i {
			j.l[i*m+q] = g.Kernel().Cov(xi, x[q*d:(q+1)*d]) - vec.Dot(vi, v[q*n:(q+1)*n])
		}
		j.l[i*m+i] = prior[i] - vec.Dot(vi, vi)
	}
	semiCholesky(j.l, prior)
	return j, nil
}

// Len is the number of points.
func (j *Joint) Len() int { return len(j.mean) }

// Covariance sets dst (Len x Len) to the covariance matrix of the draws. O(m^3).
func (j *Joint) Covariance(dst []float64) {
	m := len(j.mean)
	if len(dst) != m*m {
		panic("gpcore: Covariance needs Len x Len elements")
	}
	for i := range m {
		for q := range i + 1 {
			c := vec.Dot(j.l[i*m:i*m+q+1], j.l[q*m:])
			dst[i*m+q], dst[q*m+i] = c, c
		}
	}
}

// Draw sets dst (Len elements) to a draw. O(m^2).
func (j *Joint) Draw(rng *rand.Rand, dst []float64) {
	m := len(j.mean)
	if len(dst) != m {
		panic("gpcore: Draw needs one element per point")
	}
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
	for i := m - 1; i >= 0; i-- { // row i needs the normals 0..i only
		dst[i] = j.mean[i] + vec.Dot(j.l[i*m:i*m+i+1], dst)
	}
}

// DrawJoint sets dst to one draw from the joint posterior of f at m points: x is
// m x d row-major, dst has m elements. Cost and errors are those of [NewJoint]; for
// many draws at the same points use that, for draws as a function of x
// [NewPath], for a fixed set of candidates [Finite].
func DrawJoint(g *gpcore.GP, rng *rand.Rand, dst, x []float64) error {
	if len(x) != len(dst)*g.Dim() {
		return gpcore.ErrShape
	}
	j, err := NewJoint(g, x)
	if err != nil {
		return err
	}
	j.Draw(rng, dst)
	return nil
}

// semiCholesky factorises the lower part of a positive semidefinite matrix in
// place. A pivot below 1e-12 of scale, the rounding of what it was computed from,
// makes its column zero.
func semiCholesky(c, scale []float64) {
	m := len(scale)
	for i := range m {
		row := c[i*m : i*m+i+1]
		for j := range i {
			if p := c[j*m+j]; p > 0 {
				row[j] = (row[j] - vec.Dot(row[:j], c[j*m:])) / p
			} else {
				row[j] = 0
			}
		}
		s := row[i] - vec.Dot(row[:i], row)
		if s <= 1e-12*scale[i] {
			s = 0
		}
		row[i] = math.Sqrt(s)
	}
}
