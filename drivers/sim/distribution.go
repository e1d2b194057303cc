package sim

import "math"

// dist is a Distribution on an axis of the unit cube: a point, or a density
// truncated to [0, 1].
type dist struct {
	kind RandomKind
	// point is where a held variable is.
	point float64
	// mean and sd of the normal before truncation.
	mean, sd float64
}

// quantile returns the value below which the share p of the distribution lies,
// p in [0, 1].
func (d dist) quantile(p float64) float64 {
	switch d.kind {
	case Uniform:
		return p
	case Normal:
		a, b := -d.mean/d.sd, (1-d.mean)/d.sd
		if a > 0 {
			// Both ends are in the upper tail, where 1 - Φ has no digits left; the
			// mirror image is in the lower tail.
			return 1 - dist{kind: Normal, mean: 1 - d.mean, sd: d.sd}.quantile(1-p)
		}
		low, high := normalCDF(a), normalCDF(b)
		if high == 0 {
			return 1 // the range is more than 38 standard deviations below the mean
		}
		z := normalQuantile(low + p*(high-low))
		return min(max(d.mean+d.sd*z, 0), 1)
	}
	return d.point
}

// gaussian returns the expectation of exp(-(x-centre)²/(2 scale²)) for x of the
// distribution.
//
// A normal density times a Gaussian is a Gaussian again, so with
// τ² = s²l²/(s²+l²) and μ = (c s² + m l²)/(s²+l²)
//
//	E = exp(-(c-m)²/(2(s²+l²))) · τ/s · [Φ((1-μ)/τ) - Φ(-μ/τ)] / [Φ((1-m)/s) - Φ(-m/s)]
func (d dist) gaussian(centre, scale float64) float64 {
	switch d.kind {
	case Uniform:
		return scale * math.Sqrt(2*math.Pi) * normalBetween(-centre/scale, (1-centre)/scale)
	case Normal:
		s2, l2 := d.sd*d.sd, scale*scale
		total := normalBetween(-d.mean/d.sd, (1-d.mean)/d.sd)
		if total > 0 {
			tau := math.Sqrt(s2 * l2 / (s2 + l2))
			mu := (centre*s2 + d.mean*l2) / (s2 + l2)
			r := centre - d.mean
			return math.Exp(-r*r/(2*(s2+l2))) * tau / d.sd *
				normalBetween(-mu/tau, (1-mu)/tau) / total
		}
		return gaussian(d.quantile(0.5), centre, scale)
	}
	return gaussian(d.point, centre, scale)
}

func gaussian(x, centre, scale float64) float64 {
	r := (x - centre) / scale
	return math.Exp(-0.5 * r * r)
}

// normalBetween returns Φ(b) - Φ(a), a <= b, without cancellation in either tail.
func normalBetween(a, b float64) float64 {
	if a > 0 {
		return normalCDF(-a) - normalCDF(-b)
	}
	return normalCDF(b) - normalCDF(a)
}
