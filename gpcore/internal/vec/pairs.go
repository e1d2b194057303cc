package vec

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

// GaussianScale, Matern52Scale, Matern32Scale and ExponentialScale are the
// family constants: a coordinate is multiplied by constant/lengthscale.
const (
	GaussianScale    = 0.8493218002880191 // sqrt(log2(e)/2)
	Matern52Scale    = 2.23606797749979   // sqrt(5)
	Matern32Scale    = 1.7320508075688772 // sqrt(3)
	ExponentialScale = 1
)

// function is what a panel is filled with.
type function int

const (
	gaussian function = iota
	matern52
	matern32
	exponential
	distances
	inner
)

// The functions of a panel set, with q = fma(t, t, q), t = row - lane, over
// ascending coordinates from +0,
//
//	Out[k*24+j] = f(q) * Variance,
//
// and, where there are weights, sum the lanes:
// Sum[j] = fma(Weights[k], Out[k*24+j], Sum[j]) over ascending k from +0. In those
// that take exp(-u), q is bounded by 693^2 first; the covariance is below 1e-295
// there.

// Gaussian fills p with the squared exponential, variance * 2^(-q), where q is
// the squared distance of coordinates scaled by GaussianScale/lengthscale, so
// that 2^(-q) = exp(-r^2/2).
func Gaussian(p *Pairs) { p.fill(gaussian) }

// Matern52 fills p with variance * (1 + u + u^2/3) exp(-u), u = sqrt(5) r,
// where coordinates are scaled by Matern52Scale/lengthscale. In steps:
//
//	u = sqrt(q);  t = fma(q, 1/3, 1+u);  out = (Exp(-u) * t) * variance
func Matern52(p *Pairs) { p.fill(matern52) }

// Matern32 fills p with variance * (1 + u) exp(-u), u = sqrt(3) r, where
// coordinates are scaled by Matern32Scale/lengthscale:
//
//	u = sqrt(q);  out = (Exp(-u) * (1+u)) * variance
//
// It is also the slope of Matern52: with those coordinates, the derivative of
// (1 + u + u^2/3) exp(-u) with respect to q is -(1+u) exp(-u) / 6.
func Matern32(p *Pairs) { p.fill(matern32) }

// Exponential fills p with variance * exp(-u), u = r, where coordinates are
// scaled by ExponentialScale/lengthscale:
//
//	u = sqrt(q);  out = Exp(-u) * variance
//
// It is also the slope of Matern32: the derivative of (1 + u) exp(-u) with
// respect to q is -exp(-u) / 2.
func Exponential(p *Pairs) { p.fill(exponential) }

// Distances fills p with q itself: out = q * variance.
func Distances(p *Pairs) { p.fill(distances) }

// Inner fills p with inner products instead of a function of the distance:
// q = fma(row, lane, q) over ascending coordinates from +0, out = q * variance.
func Inner(p *Pairs) { p.fill(inner) }

// fill checks the shape and fills the panel.
func (p *Pairs) fill(f function) {
	weighted := p.Weights != nil
	covered(covers(p.Rows, p.N, p.D, p.D) && covers(p.Lanes, p.D, Lanes, Lanes) && covers(p.Out, p.N, Lanes, Lanes) &&
		(!weighted || len(p.Weights) >= p.N && len(p.Sum) >= Lanes), "vec: Pairs: a slice is too short")
	if p.N <= 0 || p.D <= 0 {
		p.fillRef(f)
		return
	}
	fillPanel(f, p)
}
