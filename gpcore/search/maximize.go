package search

import (
	"context"
)

// Maximize searches one problem. The result is as good as the work done when ctx ends,
// which is looked at between units of work; one unit is always done. The same problem
// and seed give the same result on any number of cores. For repeated searches keep a
// [Search], which keeps its memory.
func Maximize(ctx context.Context, p Problem, o Options) (Maximum, error) {
	s, err := New([]Problem{p}, o)
	if err != nil {
		return Maximum{}, err
	}
	m, _ := s.Run(ctx, 0)
	return m[0], nil
}
