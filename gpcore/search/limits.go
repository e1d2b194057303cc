package search

import (
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Limited is an objective that loses a penalty where limits are missed: its values and gradients have it. Who
// says what is lost to which limit as well is climbed along the edge of what keeps them (see [Limits]), where
// the gradients of a steep penalty lead from one side to the other.
type Limited interface {
	Differentiable
	// Limits is how many there are; 0: it is climbed as others are.
	Limits() int
	// Weight is that of a penalty near the edge: Weight times the square of what is missed.
	Weight() float64
	// LimitedGradients does what Gradients does, or SurrogateGradients, and sets to.
	LimitedGradients(dst, grad []float64, to Limits, x []float64, surrogate bool)
}

// Limits say for each point (rows of x) and limit by how much it is missed, and what that costs.
type Limits struct {
	// Short, points x limits, is by how much a limit is missed, at most 0 where it is kept; minus infinity where it
	// cannot be missed.
	Short []float64
	// Rate, points x limits, is how fast the penalty grows with Short: 0 where the limit is kept, 2 Weight Short near the
	// edge, and more where it is missed by far.
	Rate []float64
	// Slope, points x limits x Dim, are the gradients of Short.
	Slope []float64
}

// resized has room for so many points, limits and coordinates.
func (l Limits) resized(points, limits, d int) Limits {
	n := points * limits
	return Limits{Short: vec.Grown(l.Short, n), Rate: vec.Grown(l.Rate, n), Slope: vec.Grown(l.Slope, n*d)}
}

// of are those of one of so many points.
func (l Limits) of(point, points int) Limits {
	m, n := len(l.Short)/points, len(l.Slope)/points
	return Limits{l.Short[point*m : (point+1)*m], l.Rate[point*m : (point+1)*m], l.Slope[point*n : (point+1)*n]}
}

// edge is what a climber knows of limits: sequential quadratic programming. With the gradient g of the objective
// without its penalty, the inverse Hessian h, shortfalls s_j, their gradients -a_j and the weight w a step p maximises
//
//	g p - p h^-1 p / 2 - w sum over j of max(0, s_j - a_j p)^2
//
// by the multipliers u_j = 2 w max(0, s_j - a_j p) >= 0 (Nocedal & Wright 2006, chapter 18):
//
//	p = h (g + sum of u_j a_j)
//
// The Hessian is that of g + sum of u_j a_j, which lacks the penalty's curvature. A climb that misses a limit by so far that
// no step along a plane gets near is on its way down the penalty, and follows the gradient with it until
// it is there.
type edge struct {
	at      Limits
	weight  float64
	far     bool      // on the way down the penalty
	own     []float64 // the gradient without the penalty
	pull    []float64 // own, and the limits' by their multipliers
	after   []float64 // pull at a trial point
	loose   []bool    // coordinates that move
	bent    []float64 // what the limits' curvature adds to each shortfall on the way to a trial point
	product []float64 // scratch of solve
	dual    multipliers
}

// limits is how many there are.
func (e *edge) limits() int { return len(e.at.Short) }

// follows reports whether the climber takes its direction by the limits.
func (e *edge) follows() bool { return e.limits() > 0 && !e.far }

// missedFar reports whether a limit is missed where its penalty is more than a parabola.
func (e *edge) missedFar() bool {
	for j, s := range e.at.Short {
		if s > 0 && e.at.Rate[j] > 2*e.weight*s*(1+1e-9) { // but for rounding
			return true
		}
	}
	return false
}

// take takes what is known at a climber's point, where the gradient with the penalty is grad.
func (e *edge) take(grad []float64, at Limits) {
	m, d := len(at.Short), len(grad)
	e.at = e.at.resized(1, m, d)
	if m == 0 {
		return
	}
	copy(e.at.Short, at.Short)
	copy(e.at.Rate, at.Rate)
	copy(e.at.Slope, at.Slope)
	e.own, e.pull, e.after = vec.Grown(e.own, d), vec.Grown(e.pull, d), vec.Grown(e.after, d)
	e.bent, e.product = vec.Grown(e.bent, m), vec.Grown(e.product, d)
	e.dual.resize(m)
	e.straighten()
	if len(e.loose) != d {
		e.loose = make([]bool, d)
	}
	ownGradient(e.own, grad, at)
}

// ownGradient sets dst to the gradient without the penalty.
func ownGradient(dst, grad []float64, at Limits) {
	copy(dst, grad)
	for j, rate := range at.Rate {
		if rate > 0 {
			addScaled(dst, rate, at.Slope[j*len(dst):])
		}
	}
}

// pulled sets dst, the gradient without the penalty, to that with the limits' by the multipliers.
func (e *edge) pulled(dst []float64, at Limits) {
	for j, u := range e.dual.u {
		if u > 0 {
			addScaled(dst, -u, at.Slope[j*len(dst):])
		}
	}
}

// pullAt is the pull at a trial point by the multipliers that led there.
func (e *edge) pullAt(grad []float64, at Limits) []float64 {
	ownGradient(e.after, grad, at)
	e.pulled(e.after, at)
	return e.after
}

// missed reports whether a limit is missed at a trial point, so much of a direction away, and notes what its curvature
// adds there, and what the box has taken off the way.
func (e *edge) missed(step float64, dir []float64, at Limits) bool {
	missed, d := false, len(dir)
	for j, s := range at.Short {
		missed = missed || s > 0
		e.bent[j] = s - e.at.Short[j]
		for i, slope := range e.at.Slope[j*d : (j+1)*d] {
			e.bent[j] -= slope * step * dir[i]
		}
		if !check.IsFinite(e.bent[j]) {
			e.bent[j] = 0
		}
	}
	return missed
}

// straighten takes the limits for planes again.
func (e *edge) straighten() { clear(e.bent) }

// direct sets the multipliers, the pull and which coordinates move, for a climber with the inverse Hessian h.
// A coordinate that is pressed against its bound stays; which are depends on the multipliers, so it
// looks again.
func (e *edge) direct(c *climber, b *box) {
	copy(e.pull, c.grad)
	for pass := range 3 {
		changed := pass == 0 // which moved before says nothing
		for i := range e.loose {
			free := c.free(i, e.pull, b)
			changed = changed || free != e.loose[i]
			e.loose[i] = free
		}
		e.solve(c.h)
		copy(e.pull, e.own)
		e.pulled(e.pull, e.at)
		if !changed {
			return
		}
	}
}

// solve sets the multipliers, of the coordinates that move: with a_j as rows of A,
//
//	(A h A' + 1/(2 w)) u = s - A h g,  u >= 0
//
// or, where u is zero, no less than it.
func (e *edge) solve(h []float64) {
	m, d := e.limits(), len(e.own)
	for j := range m {
		for i := range e.product {
			e.product[i] = 0
			for k, free := range e.loose {
				if free && e.loose[i] {
					e.product[i] += h[i*d+k] * e.at.Slope[j*d+k]
				}
			}
		}
		e.dual.right[j] = e.at.Short[j] + e.bent[j] + vec.Dot(e.product, e.own)
		for k := range m {
			e.dual.matrix[j*m+k] = vec.Dot(e.product, e.at.Slope[k*d:(k+1)*d])
		}
		e.dual.matrix[j*m+j] += 1 / (2 * e.curvature(j))
	}
	e.dual.solve()
}

// curvature is the weight of a parabola that is as steep as the penalty at a shortfall.
func (e *edge) curvature(j int) float64 {
	if s := e.at.Short[j]; s > 0 {
		return max(e.at.Rate[j]/(2*s), e.weight)
	}
	return e.weight
}

// addScaled adds factor times the beginning of b to a.
func addScaled(a []float64, factor float64, b []float64) {
	for i := range a {
		a[i] += factor * b[i]
	}
}
