package space

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Marginal is the distribution of one random variable in unit coordinates: its
// range is [0, 1].
type Marginal struct {
	kind     RandomKind
	mean, sd float64 // of the normal before truncation
}

// NewMarginal scales a variable's distribution to the unit interval. On a logarithmic scale
// the standard deviation is that beside the mean.
func NewMarginal(v *Variable) Marginal {
	a := NewAxis(v)
	return Marginal{kind: v.Random.Kind, mean: a.Unit(v.Random.Mean), sd: v.Random.SD * a.slope(v.Random.Mean)}
}

// of is the same distribution for gpcore; a held variable is at last.
func (m Marginal) of(last float64) quadrature.Marginal {
	switch m.kind {
	case Held:
		return quadrature.PointMass(last)
	case TruncatedNormal:
		return quadrature.TruncatedNormal(m.mean, m.sd, 0, 1)
	}
	return quadrature.Uniform(0, 1)
}

// Mass is the probability that the untruncated variable falls in its range; 1 for
// kinds that are not truncated.
func (m Marginal) Mass() float64 {
	if m.kind != TruncatedNormal {
		return 1
	}
	a, b := (0-m.mean)/m.sd, (1-m.mean)/m.sd
	if a > 0 { // the upper tail: differences of small numbers keep their digits
		a, b = -b, -a
	}
	return num.NormalCDF(b) - num.NormalCDF(a)
}

// Quantile is the inverse distribution function at p in (0, 1).
func (m Marginal) Quantile(p float64) float64 {
	if m.kind != TruncatedNormal {
		return p
	}
	a, b := (0-m.mean)/m.sd, (1-m.mean)/m.sd
	sign := 1.0
	if a > 0 { // work in the lower tail, as in mass
		a, b, sign, p = -b, -a, -1, 1-p
	}
	lower, upper := num.NormalCDF(a), num.NormalCDF(b)
	z := mathext.NormalQuantile(lower + p*(upper-lower))
	return min(max(m.mean+sign*z*m.sd, 0), 1)
}

// density is proportional to the probability density at x in [0, 1].
func (m Marginal) density(x float64) float64 {
	if m.kind != TruncatedNormal {
		return 1
	}
	z := (x - m.mean) / m.sd
	return math.Exp(-0.5 * z * z)
}

// support is where the density is not negligible: within eight standard
// deviations of the mean, cut to the range. Quadrature nodes are not wasted
// elsewhere.
func (m Marginal) support() (low, high float64) {
	if m.kind != TruncatedNormal {
		return 0, 1
	}
	const reach = 8
	low, high = max(0, m.mean-reach*m.sd), min(1, m.mean+reach*m.sd)
	if low >= high { // the mean is far outside: the density piles up at one end
		return 0, 1
	}
	return low, high
}
