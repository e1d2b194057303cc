package vec

import "math"

// Pairs is the input and output of a covariance panel: n points as rows against
// 24 candidates as lanes. Coordinates are already divided by the lengthscales
// and multiplied by the family's constant (see each function).
type Pairs struct {
	Rows     []float64 // n x d, row-major
	Lanes    []float64 // d x 24
	N, D     int
	Variance float64   // the covariance at distance zero
	Out      []float64 // n x 24, overwritten
	Weights  []float64 // n weights, or nil
	Sum      []float64 // 24 sums, overwritten where Weights is not nil
}

// distance is the squared distance of row k and lane j:
// q = fma(t, t, q) with t = row - lane, over ascending coordinates from +0.
func (p *Pairs) distance(k, j int) float64 {
	q := 0.0
	for i := range p.D {
		t := p.Rows[k*p.D+i] - p.Lanes[i*Lanes+j]
		q = math.FMA(t, t, q)
	}
	return q
}

// fill sets every element to variance*f(q) and, with weights, sums the lanes:
// Sum[j] = fma(Weights[k], Out[k*24+j], Sum[j]) over ascending k from +0.
func (p *Pairs) fill(f func(q float64) float64) {
	if p.Weights != nil {
		clear(p.Sum[:Lanes])
	}
	for k := range p.N {
		o := p.Out[k*Lanes : k*Lanes+Lanes]
		for j := range o {
			o[j] = float64(f(p.distance(k, j)) * p.Variance)
			if p.Weights != nil {
				p.Sum[j] = math.FMA(p.Weights[k], o[j], p.Sum[j])
			}
		}
	}
}

// GaussianScale, Matern52Scale, Matern32Scale and ExponentialScale are the
// family constants: a coordinate is multiplied by constant/lengthscale.
const (
	GaussianScale    = 0.8493218002880191 // sqrt(log2(e)/2)
	Matern52Scale    = 2.23606797749979   // sqrt(5)
	Matern32Scale    = 1.7320508075688772 // sqrt(3)
	ExponentialScale = 1
)

const third = 1.0 / 3

// Gaussian fills p with the squared exponential, variance * 2^(-q), where q is
// the squared distance of coordinates scaled by GaussianScale/lengthscale, so
// that 2^(-q) = exp(-r^2/2). In this function only, q is accumulated negated:
// q = fma(-t, t, q), which gives the same magnitude.
func Gaussian(p *Pairs) { p.fill(gaussian) }

func gaussian(q float64) float64 { return Exp2(-q) }

// Matern52 fills p with variance * (1 + u + u^2/3) exp(-u), u = sqrt(5) r,
// where coordinates are scaled by Matern52Scale/lengthscale. In steps:
//
//	u = sqrt(q);  t = fma(q, 1/3, 1+u);  out = (t * Exp2(-(u*log2(e)))) * variance
func Matern52(p *Pairs) { p.fill(matern52) }

func matern52(q float64) float64 {
	u := math.Sqrt(q)
	t := math.FMA(q, third, 1+u)
	return float64(t * Exp2(-float64(u*log2E)))
}

// Matern32 fills p with variance * (1 + u) exp(-u), u = sqrt(3) r, where
// coordinates are scaled by Matern32Scale/lengthscale:
//
//	u = sqrt(q);  out = ((1+u) * Exp2(-(u*log2(e)))) * variance
//
// It is also the slope of Matern52: with those coordinates, the derivative of
// (1 + u + u^2/3) exp(-u) with respect to q is -(1+u) exp(-u) / 6.
func Matern32(p *Pairs) { p.fill(matern32) }

func matern32(q float64) float64 {
	u := math.Sqrt(q)
	return float64((1 + u) * Exp2(-float64(u*log2E)))
}

// Exponential fills p with variance * exp(-u), u = r, where coordinates are
// scaled by ExponentialScale/lengthscale:
//
//	u = sqrt(q);  out = Exp2(-(u*log2(e))) * variance
//
// It is also the slope of Matern32: the derivative of (1 + u) exp(-u) with
// respect to q is -exp(-u) / 2.
func Exponential(p *Pairs) { p.fill(exponential) }

func exponential(q float64) float64 {
	return Exp2(-float64(math.Sqrt(q) * log2E))
}

// Distances fills p with q itself: out = q * variance.
func Distances(p *Pairs) { p.fill(func(q float64) float64 { return q }) }

// Inner fills p with inner products instead of a function of the distance:
// q = fma(row, lane, q) over ascending coordinates from +0, out = q * variance.
func Inner(p *Pairs) {
	if p.Weights != nil {
		clear(p.Sum[:Lanes])
	}
	for k := range p.N {
		o := p.Out[k*Lanes : k*Lanes+Lanes]
		for j := range o {
			q := 0.0
			for i := range p.D {
				q = math.FMA(p.Rows[k*p.D+i], p.Lanes[i*Lanes+j], q)
			}
			o[j] = float64(q * p.Variance)
			if p.Weights != nil {
				p.Sum[j] = math.FMA(p.Weights[k], o[j], p.Sum[j])
			}
		}
	}
}
