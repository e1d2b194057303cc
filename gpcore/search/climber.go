package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// climber is a local search from one start: projected quasi-Newton ascent in a box
// (BFGS with backtracking; Nocedal & Wright 2006, section 6.1, projected as in Bertsekas
// 1982), whose value never falls. It asks for one value with gradient at a time, so
// that many climbers can be served by one batch.
type climber struct {
	x, grad []float64
	value   float64
	floor   float64 // a climb that cannot come near this value may end
	bound   float64 // the surrogate's value where it ended, infinity without one

	h             []float64 // inverse Hessian of -f, d x d
	updated       bool      // h has been updated at least once
	dir           []float64
	step          float64
	trial         []float64
	predictedGain float64 // what the gradient promises at the trial point
	backtracks    int
	started       bool // value and grad are known
	done          bool
	merged        bool // stopped because a better one climbs the same maximum
	hy, delta, y  []float64
	edge          edge
}

// newClimbers makes n climbers in d coordinates.
func newClimbers(n, d int) []*climber {
	each := 7*d + d*d
	all, v, out := make([]climber, n), make([]float64, n*each), make([]*climber, n)
	cut := func(n int) []float64 {
		s := v[:n:n]
		v = v[n:]
		return s
	}
	for i := range all {
		all[i] = climber{x: cut(d), grad: cut(d), dir: cut(d), trial: cut(d), hy: cut(d), delta: cut(d), y: cut(d), h: cut(d * d)}
		out[i] = &all[i]
	}
	return out
}

// Limits of a climb. The slope along the quasi-Newton direction is twice the gain that
// a parabola promises; where hopeless times that would not reach the floor, the climb
// ends.
const (
	maxGainFactor = 5
	maxBacktracks = 10
	sufficient    = 1e-4 // Armijo's constant
	firstStride   = 0.1  // scales
	longestStride = 1.0  // scales
)

// startAt puts the climber at x, without what it knew.
func (c *climber) startAt(x []float64, b *box) {
	copy(c.x, x)
	c.value, c.bound, c.floor, c.updated, c.edge.far = math.Inf(-1), math.Inf(1), math.Inf(-1), false, false
	c.reset(b)
	c.restart()
}

// restart lets it climb another function, or with other coordinates fixed, from where it
// is with the curvature it knows.
func (c *climber) restart() {
	c.started, c.done, c.merged, c.backtracks = false, false, false, 0
	copy(c.trial, c.x)
}

func (c *climber) reset(b *box) {
	clear(c.h)
	for i, s := range b.scale {
		c.h[i*len(b.scale)+i] = s * s
	}
	c.updated = false
}

// receive takes the value, the gradient and what is known of limits at the trial point. Less than tol (relative to
// 1+|value|) to be gained ends the climb.
func (c *climber) receive(v float64, grad []float64, at Limits, b *box, tol float64) {
	if !c.started {
		c.started = true
		c.value = v
		copy(c.grad, grad)
		c.edge.take(grad, at)
		if math.IsNaN(v) {
			c.value, c.done = math.Inf(-1), true
			return
		}
		c.propose(b, tol)
		return
	}
	if !(v >= c.value+sufficient*c.predictedGain && v >= c.value) {
		c.backtrack(v, at, b)
		return
	}
	gain := v - c.value
	before, after := c.grad, grad
	if c.edge.follows() {
		before, after = c.edge.pull, c.edge.pullAt(grad, at)
	}
	c.updateHessian(before, after)
	copy(c.x, c.trial)
	copy(c.grad, grad)
	c.edge.take(grad, at)
	c.value = v
	c.backtracks = 0
	if gain <= 0.1*tol*(1+math.Abs(v)) {
		c.done = true
		return
	}
	c.propose(b, tol)
}

// backtrack bends the first step that misses a limit, else shortens the step to the maximum of a parabola.
func (c *climber) backtrack(v float64, at Limits, b *box) {
	c.backtracks++
	if c.backtracks == 1 && c.bend(at, b) {
		return
	}
	t := 0.3
	if check.IsFinite(v) && c.predictedGain > 0 {
		t = min(max(c.predictedGain/(2*(c.predictedGain+c.value-v)), 0.1), 0.5)
	}
	c.step *= t
	if c.backtracks > maxBacktracks || !c.setTrial(b) {
		c.done = true
	}
}

// bend takes, where the trial point missed a limit because that is no plane, the direction that counts by how much, and
// reports whether something is to be gained there (the second-order correction of Nocedal & Wright 2006,
// section 18.3).
func (c *climber) bend(at Limits, b *box) bool {
	if !c.edge.follows() || !c.edge.missed(c.step, c.dir, at) {
		return false
	}
	c.quasiNewton(b)
	c.edge.straighten()
	if c.setFirstTrial(b) {
		return true
	}
	c.quasiNewton(b) // back to where it came from
	c.setFirstTrial(b)
	return false
}

// updateHessian is the BFGS update of h by the step just made, between two gradients. Of coordinates that did not
// move, pressed against a bound or fixed, the slopes do not count: h times the change of the others is the step then,
// so that its part for the coordinates that move is what their own climb would have learnt.
func (c *climber) updateHessian(before, after []float64) {
	d := len(c.x)
	sy, yy, hyy := 0.0, 0.0, 0.0
	for i := range d {
		c.delta[i], c.y[i] = c.trial[i]-c.x[i], 0
		if c.delta[i] != 0 {
			c.y[i] = before[i] - after[i] // of -f
		}
	}
	for i, y := range c.y {
		sy += c.delta[i] * y
		yy += c.h[i*d+i] * y * y
	}
	if !(sy > 1e-14*yy) {
		return
	}
	if !c.updated { // the right length for the first metric
		for i := range c.h {
			c.h[i] *= sy / yy
		}
		c.updated = true
	}
	for i := range d {
		c.hy[i] = vec.Dot(c.h[i*d:(i+1)*d], c.y)
		hyy += c.hy[i] * c.y[i]
	}
	for i := range d {
		byDelta, byHy := (float64((sy+hyy)/sy*c.delta[i])-c.hy[i])/sy, c.delta[i]/sy
		row := c.h[i*d : (i+1)*d]
		for j := range row {
			row[j] += float64(byDelta*c.delta[j]) - float64(byHy*c.hy[j])
		}
	}
}

// free reports whether coordinate i may move: it is not fixed, and not pressed against its
// bound by the gradient.
func (c *climber) free(i int, grad []float64, b *box) bool {
	return !b.fixed[i] && !(c.x[i] <= b.low[i] && grad[i] < 0) && !(c.x[i] >= b.high[i] && grad[i] > 0)
}

// propose chooses a direction and the first trial point along it. Where the box turns a
// quasi-Newton direction downhill, the scaled gradient replaces it, whose projection
// cannot.
func (c *climber) propose(b *box, tol float64) {
	slope := c.aim(b)
	if c.updated && slope >= 0 && slope < 2*tol*(1+math.Abs(c.value)) {
		c.done = true
		return
	}
	if c.updated && c.value+maxGainFactor*slope < c.floor {
		c.done = true
		return
	}
	if slope > 0 && c.setFirstTrial(b) {
		return
	}
	c.reset(b)
	if c.rises(b) {
		return
	}
	if c.edge.follows() { // the box has turned that downhill too
		c.edge.far = true
		if c.rises(b) {
			return
		}
	}
	c.done = true
}

// rises takes the quasi-Newton direction where something is to be gained along it.
func (c *climber) rises(b *box) bool {
	slope := c.quasiNewton(b)
	return slope > 0 && check.IsFinite(slope) && c.setFirstTrial(b)
}

// aim sets the direction, and returns its slope: by limits, or down a penalty where they are missed by so
// far that a step which is no longer than others does not come near. What is known of one slope says nothing of the other.
func (c *climber) aim(b *box) float64 {
	missed := c.edge.missedFar()
	if c.edge.far && !missed {
		c.edge.far = false
		c.reset(b)
	}
	slope := c.quasiNewton(b)
	if missed && c.edge.follows() && c.longest(b) > longestStride {
		c.edge.far = true
		c.reset(b)
		slope = c.quasiNewton(b)
	}
	return slope
}

// longest is the direction's greatest component, in scales.
func (c *climber) longest(b *box) float64 {
	longest := 0.0
	for i, v := range c.dir {
		longest = max(longest, math.Abs(v)/b.scale[i])
	}
	return longest
}

// setFirstTrial takes the first trial point along the direction, not too far, and reports whether
// the gradient promises something there.
func (c *climber) setFirstTrial(b *box) bool {
	limit := longestStride
	if !c.updated {
		limit = firstStride
	}
	c.step = 1
	if longest := c.longest(b); longest > limit {
		c.step = limit / longest
	}
	return c.setTrial(b) && c.predictedGain > 0
}

// quasiNewton sets the direction to h times the gradient over the free coordinates, by limits to that with
// their multipliers, and returns its slope.
func (c *climber) quasiNewton(b *box) (slope float64) {
	d, pull := len(c.x), c.grad
	if c.edge.follows() {
		c.edge.direct(c, b)
		pull = c.edge.pull
	}
	for i, v := range pull { // of the free ones
		if c.y[i] = 0; c.free(i, pull, b) {
			c.y[i] = v
		}
	}
	for i := range d {
		c.dir[i] = 0
		if c.free(i, pull, b) {
			c.dir[i] = vec.Dot(c.h[i*d:(i+1)*d], c.y)
			slope += c.dir[i] * c.grad[i]
		}
	}
	return slope
}

// setTrial sets the trial point, cut to the box, and reports whether it is elsewhere.
func (c *climber) setTrial(b *box) bool {
	moved := false
	c.predictedGain = 0
	for i := range c.x {
		c.trial[i] = min(max(c.x[i]+c.step*c.dir[i], b.low[i]), b.high[i])
		c.predictedGain += c.grad[i] * (c.trial[i] - c.x[i])
		moved = moved || c.trial[i] != c.x[i]
	}
	return moved
}
