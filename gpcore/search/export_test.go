package search

import (
	"context"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Screened are the points that problem i of a search screens, and their values in the last
// run.
func (s *Search) Screened(i int) (points, values []float64) {
	q := s.problems[i]
	return q.points[:q.inUse*q.d], q.values[:q.inUse]
}

// Examined is how many settings of a list the last run looked at with the objective itself.
func (s *Search) Examined(i int) int { return s.problems[i].evaluated }

// RunValue is the value that a whole run finds for the only problem.
func (s *Search) RunValue() float64 {
	found, _ := s.Run(context.Background(), 0)
	return found[0].Value
}

// Multipliers are those of limits of a weight for a climber with an inverse Hessian and a gradient of its own.
func Multipliers(h, own []float64, weight float64, at Limits) []float64 {
	e := edge{weight: weight}
	e.take(own, at)
	copy(e.own, own)
	for i := range e.loose {
		e.loose[i] = true
	}
	e.solve(h)
	return e.dual.u
}

// Direction is that of a climb in the box from -1 to 1 by limits of a weight, of a climber whose coordinates moved, or
// did not, when it was used last.
func Direction(x, grad []float64, weight float64, at Limits, moved []bool) []float64 {
	d := len(x)
	b := unitBox(d)
	c := newClimbers(1, d)[0]
	c.edge.weight = weight
	c.edge.loose = slices.Clone(moved)
	c.startAt(x, b)
	copy(c.grad, grad)
	c.edge.take(grad, at)
	c.quasiNewton(b)
	return c.dir
}

// Proposes reports whether a climb in the box from -1 to 1 goes on from where it has begun.
func Proposes(x, grad []float64, weight float64, at Limits) bool {
	d := len(x)
	b := unitBox(d)
	c := newClimbers(1, d)[0]
	c.edge.weight = weight
	c.startAt(x, b)
	c.receive(0, grad, at, b, climbTolerance)
	return !c.done
}

func unitBox(d int) *box {
	return &box{low: vec.Constant(d, -1), high: vec.Constant(d, 1), scale: vec.Constant(d, 1), fixed: make([]bool, d)}
}
