package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/search"
)

// A search that is cut while it screens has brought only some of its fixed points up to
// date. The next ones must not build on the others.
func TestCutSearchKeepsNoStalePoints(t *testing.T) {
	g := gptest.ClusteredGP(t, gptest.Cube(), 60, 1e-2, 1)
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.New([]search.Problem{{Objective: e, Axes: decide.UnitBox(3), Track: 1}}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(91, 92))
	for step, units := range []int{0, 0, 1, 0, 2, 0, 3, 2, 0, 0} {
		if err := g.Replace(0, gptest.Point(rng, 3), rng.NormFloat64(), 1e-2); err != nil {
			t.Fatal(err)
		}
		s.Run(context.Background(), units)
		points, screened := s.Screened(0)
		want := make([]float64, len(screened))
		e.Values(want, points)
		for k, v := range screened {
			// Minus infinity is a point that was not come to; 1e-10 as in TestWatchFollows.
			if !math.IsInf(v, -1) && !(math.Abs(v-want[k]) <= 1e-10) {
				t.Fatalf("step %d of %d units, point %d: %g, want %g", step, units, k, v, want[k])
			}
		}
	}
}
