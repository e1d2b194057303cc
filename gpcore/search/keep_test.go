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

// bound is the upper bound of a process of three coordinates that has seen 60 points.
func bound(t *testing.T) (*expectations.Expected, func(rng *rand.Rand)) {
	t.Helper()
	g := gptest.ClusteredGP(t, gptest.Cube(), 60, 1e-2, 1)
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	learn := func(rng *rand.Rand) {
		if err := g.Replace(rng.IntN(60), gptest.Point(rng, 3), rng.NormFloat64(), 1e-2); err != nil {
			t.Fatal(err)
		}
	}
	return e, learn
}

// Where values are kept, a run looks at every point first, then at two in eight, with the values of now, and
// at all of them in eight runs. It finds what a search of its own finds, or nearly so.
func TestKeptValues(t *testing.T) {
	e, learn := bound(t)
	problem := search.Problem{Objective: e, Axes: decide.UnitBox(3), Keep: 8}
	s, err := search.New([]search.Problem{problem}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	problem.Keep = 0
	own, err := search.New([]search.Problem{problem}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng, short := rand.New(rand.NewPCG(93, 94)), 0.0
	const runs = 80
	seen := map[int]int{} // the last run that looked at a point
	for run := range runs {
		learn(rng)
		value := s.RunValue()
		short += own.RunValue() - value
		points, values := s.Screened(0)
		want := make([]float64, len(values))
		e.Values(want, points)
		looks := 0
		for k, v := range values {
			if math.IsInf(v, -1) {
				if run-seen[k] >= 8 {
					t.Fatalf("run %d: point %d was last looked at in run %d", run, k, seen[k])
				}
				continue
			}
			seen[k] = run
			if looks++; !(math.Abs(v-want[k]) <= 1e-12) {
				t.Fatalf("run %d, point %d: %g, want %g", run, k, v, want[k])
			}
		}
		if most := len(values)/4 + 2; run > 0 && looks > most || run == 0 && looks != len(values) {
			t.Fatalf("run %d looks at %d points of %d", run, looks, len(values))
		}
	}
	if short /= runs; !(short < 0.01) { // of values of about 3
		t.Errorf("what is found falls short by %g on average", short)
	}
}

// A search of other objectives is a new one of theirs, also where the first was cut.
func TestSetObjectives(t *testing.T) {
	a, _ := bound(t)
	b, learn := bound(t)
	learn(rand.New(rand.NewPCG(95, 96)))
	problem := search.Problem{Objective: b, Axes: decide.UnitBox(3), Track: 1}
	fresh, err := search.New([]search.Problem{problem}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := fresh.RunValue()
	for units := range 6 {
		problem.Objective = a
		s, err := search.New([]search.Problem{problem}, search.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.Run(context.Background(), units)
		s.SetObjectives([]search.Objective{b})
		if value := s.RunValue(); value != want {
			t.Errorf("after %d units of another objective %g is found, want %g", units, value, want)
		}
	}
}
