package quadrature

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Marginal is the distribution of one random coordinate, independent of the others,
// in the units of the points. The zero value is not valid; see [Uniform],
// [TruncatedNormal] and [Held]. [Marginal.Check] says by name what is wrong with one: a
// number that is not finite, a range that is empty, a standard deviation that is not
// positive, less than 1e-200 of a normal within its range.
type Marginal struct {
	kind      marginalKind
	mean, sd  float64 // of the normal before truncation; mean is where a held one is
	low, high float64
}

type marginalKind int

const (
	uniform marginalKind = iota + 1
	truncatedNormal
	pointMass
)

// Uniform is the uniform distribution on [low, high].
func Uniform(low, high float64) Marginal {
	return Marginal{kind: uniform, low: low, high: high}
}

// TruncatedNormal is the normal distribution with this mean and standard deviation,
// conditioned on [low, high].
func TruncatedNormal(mean, sd, low, high float64) Marginal {
	return Marginal{kind: truncatedNormal, mean: mean, sd: sd, low: low, high: high}
}

// PointMass is the point mass at x: a coordinate that is not set but stays where it is.
func PointMass(x float64) Marginal {
	return Marginal{kind: pointMass, mean: x, low: x, high: x}
}

// Check says what is wrong with a marginal.
func (m Marginal) Check() error {
	switch {
	case m.kind == 0:
		return fmt.Errorf("gpcore: a random coordinate has no distribution; use Uniform, TruncatedNormal or Held")
	case !check.IsFinite(m.mean) || !check.IsFinite(m.low) || !check.IsFinite(m.high):
		return fmt.Errorf("gpcore: distribution with mean %g on [%g, %g] must be finite", m.mean, m.low, m.high)
	case m.kind != pointMass && !(m.low < m.high):
		return fmt.Errorf("gpcore: distribution on [%g, %g] needs low < high", m.low, m.high)
	case m.kind == truncatedNormal && !(m.sd > 0 && check.IsFinite(m.sd)):
		return fmt.Errorf("gpcore: truncated normal needs a positive standard deviation, not %g", m.sd)
	case m.kind == truncatedNormal && m.mass() < 1e-200:
		return fmt.Errorf("gpcore: normal with mean %g and standard deviation %g has no mass on [%g, %g]; widen it or use Uniform", m.mean, m.sd, m.low, m.high)
	}
	return nil
}

// mass is the probability that the normal before truncation is in the range.
func (m Marginal) mass() float64 {
	return normalMass((m.low-m.mean)/m.sd, (m.high-m.mean)/m.sd)
}

// GaussianFactor is E[exp(-(R-x)^2/(2 l^2))]. For the truncated normal the product of
// the two Gaussians is again one, with variance v = s^2 l^2/(s^2+l^2) and mean
// (m l^2 + x s^2)/(s^2+l^2), times exp(-(m-x)^2/(2(s^2+l^2))); what is left is its
// mass on the range.
func (m Marginal) GaussianFactor(x, l float64) float64 {
	switch m.kind {
	case uniform:
		return l * math.Sqrt(2*math.Pi) * normalMass((m.low-x)/l, (m.high-x)/l) / (m.high - m.low)
	case pointMass:
		t := (m.mean - x) / l
		return vec.Exp(-0.5 * t * t)
	}
	s2, l2 := float64(m.sd*m.sd), float64(l*l)
	sum := s2 + l2
	sv := m.sd * l / math.Sqrt(sum)
	at := (float64(m.mean*l2) + float64(x*s2)) / sum
	t := m.mean - x
	c := vec.Exp(-0.5*t*t/sum) * l / math.Sqrt(sum)
	return c * normalMass((m.low-at)/sv, (m.high-at)/sv) / m.mass()
}

// density is proportional to the probability density at x in the range.
func (m Marginal) density(x float64) float64 {
	if m.kind != truncatedNormal {
		return 1
	}
	z := (x - m.mode()) / m.sd
	// Relative to the mode, with the linear term kept apart: far in a tail the
	// squares would be all that is left.
	return vec.Exp(-0.5*z*z - z*(m.mode()-m.mean)/m.sd)
}

// mode is where the density is largest.
func (m Marginal) mode() float64 { return min(max(m.mean, m.low), m.high) }

// support is where the density is not negligible, so that quadrature nodes are not
// wasted: within eight and a half standard deviations of the mode.
func (m Marginal) support() (low, high float64) {
	if m.kind != truncatedNormal {
		return m.low, m.high
	}
	const reach = 8.5
	return max(m.low, m.mode()-reach*m.sd), min(m.high, m.mode()+reach*m.sd)
}

// quantile is the inverse distribution function at p in (0, 1).
func (m Marginal) quantile(p float64) float64 {
	switch m.kind {
	case pointMass:
		return m.mean
	case uniform:
		return m.low + p*(m.high-m.low)
	}
	a, b, sign := (m.low-m.mean)/m.sd, (m.high-m.mean)/m.sd, 1.0
	if a > 0 { // work in the lower tail, where small probabilities keep their digits
		a, b, sign, p = -b, -a, -1, 1-p
	}
	z := mathext.NormalQuantile(normalMass(math.Inf(-1), a) + p*normalMass(a, b))
	return min(max(m.mean+sign*z*m.sd, m.low), m.high)
}

// spread is a standard deviation: of the normal before truncation or of one that takes as
// many nodes as the uniform distribution.
func (m Marginal) spread() float64 {
	width := (m.high - m.low) / 6
	if m.kind == truncatedNormal {
		return min(m.sd, width)
	}
	return width
}
