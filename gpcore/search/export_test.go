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
