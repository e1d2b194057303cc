package gpcore

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// SampleJoint sets dst to one draw from the joint posterior of f at m points: x is
// m x d row-major, dst has m elements. Points that are (nearly) determined by the
// others or by the data get their conditional mean. O(n^2 m + n m^2 + m^3);
// allocates O(m^2 + n m).
func (g *GP) SampleJoint(rng *rand.Rand, dst, x []float64) error {
	d, n, m := g.points.d, g.f.n, len(dst)
	if len(x) != m*d {
		return ErrShape
	}
	if err := checkFinite(nameX, x); err != nil {
		return err
	}
	// v holds W k for each point as a row; c the posterior covariance's lower part.
	v, c := make([]float64, m*n), make([]float64, m*m)
	g.Predict(dst, nil, x)
	for j := range m {
		xj := x[j*d : (j+1)*d]
		g.eval.embed(g.point, xj)
		g.covariances()
		vj := v[j*n : (j+1)*n]
		for r := 0; r < n; r += vec.Rows {
			vec.Dots8(g.l[r:r+8], g.f.w[r*g.f.ld:], g.f.ld, g.k[:r+8])
		}
		copy(vj, g.l[:n])
		for i := range j + 1 {
			c[j*m+i] = g.kernel.Cov(xj, x[i*d:(i+1)*d]) - vec.Dot(vj, v[i*n:(i+1)*n])
		}
	}
	semiCholesky(c, m)
	z := make([]float64, m)
	for j := range z {
		z[j] = rng.NormFloat64()
		dst[j] += vec.Dot(c[j*m:j*m+j+1], z)
	}
	return nil
}

// semiCholesky factorises the lower part of a positive semidefinite m x m matrix
// in place. A pivot within rounding of zero makes its column zero.
func semiCholesky(c []float64, m int) {
	for j := range m {
		row := c[j*m : j*m+j+1]
		prior := row[j]
		for i := range j {
			if p := c[i*m+i]; p > 0 {
				row[i] = (row[i] - vec.Dot(row[:i], c[i*m:])) / p
			} else {
				row[i] = 0
			}
		}
		s := prior - vec.Dot(row[:j], row)
		if s <= 1e-12*prior {
			s = 0
		}
		row[j] = math.Sqrt(s)
	}
}
