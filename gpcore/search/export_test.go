package search

import "context"

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
	return e.multiplier
}
