package sampling

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Finite draws from the posterior on a fixed set of candidates, exactly and fast:
// the prior is factorised once, and each draw is a prior draw corrected by the
// data (Matheron's rule; Wilson et al. 2021, eq. 9):
//
//	f = f_0 + k(., X) K^-1 (y - f_0(X) - e),   e_i ~ N(0, noise_i).
//
// It needs every observation to be at a candidate.
type Finite struct {
	kernel kernels.Kernel
	x      []float64 // m x d
	r      []float64 // m x rank: the prior covariance is R R^T
	rank   int
	z, f   []float64
	c      correction
	prior  []float64 // of the draw at the observations
}

// NewFinite prepares m candidates, x m x d row-major, by a pivoted Cholesky
// factorisation of the prior covariance, up to the rank at which the variance left
// is below 1e-12 of the largest. O(m^2 rank), memory O(m rank). It returns ErrShape
// or a *ValueError.
func NewFinite(k kernels.Kernel, x []float64) (*Finite, error) {
	d := k.Dim()
	if len(x) == 0 || len(x)%d != 0 {
		return nil, gpcore.ErrShape
	}
	if err := check.Finite(check.NameX, x); err != nil {
		return nil, err
	}
	m := len(x) / d
	s := &Finite{kernel: k, x: slices.Clone(x), f: make([]float64, m)}
	left := make([]float64, m) // variance not yet explained
	for i := range left {
		left[i] = k.Variance(s.at(i))
		if !check.IsFinite(left[i]) {
			return nil, &gpcore.ValueError{What: check.NameCov, Index: i, Value: left[i]}
		}
	}
	limit := 1e-12 * slices.Max(left)
	ld := 0 // length of the rows of r
	for s.rank < m {
		p := argMax(left)
		if !(left[p] > limit) {
			break
		}
		if s.rank == ld {
			s.r, ld = widenRows(s.r, m, ld), min(max(2*ld, 64), m)
		}
		pivot := s.r[p*ld : p*ld+s.rank]
		inv := 1 / math.Sqrt(left[p])
		for i := range m {
			row := s.r[i*ld : i*ld+s.rank+1]
			c := (k.Cov(s.at(i), s.at(p)) - vec.Dot(row[:s.rank], pivot)) * inv
			row[s.rank] = c
			left[i] = max(left[i]-float64(c*c), 0)
		}
		left[p] = 0
		s.rank++
	}
	for i := 1; i < m; i++ { // without the gaps
		copy(s.r[i*s.rank:(i+1)*s.rank], s.r[i*ld:])
	}
	s.r, s.z = slices.Clone(s.r[:m*s.rank]), make([]float64, s.rank)
	return s, nil
}

// widenRows is a matrix of m rows of ld elements with rows of max(2 ld, 64), at most m.
func widenRows(r []float64, m, ld int) []float64 {
	wide := min(max(2*ld, 64), m)
	out := make([]float64, m*wide)
	for i := range m {
		copy(out[i*wide:], r[i*ld:(i+1)*ld])
	}
	return out
}

func argMax(v []float64) int {
	at := 0
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}

// Len is the number of candidates.
func (s *Finite) Len() int { return len(s.f) }

func (s *Finite) at(i int) []float64 {
	d := s.kernel.Dim()
	return s.x[i*d : (i+1)*d]
}

// Draw sets dst (Len elements) to a draw from the posterior of g at the candidates.
// at[i] is the candidate of observation i. The kernel must be that of g. O(m rank +
// n^2 + n m). It returns ErrShape where at does not fit the observations.
func (s *Finite) Draw(rng *rand.Rand, dst []float64, g *gpcore.GP, at []int) error {
	n := g.Len()
	if len(dst) != len(s.f) || len(at) != n || g.Dim() != s.kernel.Dim() {
		return gpcore.ErrShape
	}
	for i, c := range at {
		if c < 0 || c >= len(s.f) || !slices.Equal(s.at(c), g.X(i)) {
			return gpcore.ErrShape
		}
	}
	for i := range s.z {
		s.z[i] = rng.NormFloat64()
	}
	for i := range s.f {
		s.f[i] = vec.Dot(s.r[i*s.rank:(i+1)*s.rank], s.z)
	}
	s.prior = vec.Grown(s.prior, n)
	for i, c := range at {
		s.prior[i] = s.f[c]
	}
	v := s.c.draw(rng, g.Model().Factor, s.prior)
	g.Model().OwnView().Combine(dst, v, s.x)
	for i, f := range s.f {
		dst[i] += f
	}
	return nil
}
