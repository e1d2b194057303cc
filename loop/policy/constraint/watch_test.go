package constraint

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/space"
)

// TestWatchedPenalty: an objective with constraints and a penalty of another kind, watched from step to step, has the values of
// the objective, and is not watched where its processes are too many.
func TestWatchedPenalty(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const points, processes = 60, 3
	var all [processes]*gpcore.GP
	for i := range all {
		all[i] = gpcore.New(kernels.Matern52(1, []float64{0.4, 0.6}), 60)
	}
	learn := func() {
		at := []float64{rng.Float64(), rng.Float64()}
		for i, g := range all {
			if err := g.Append(at, math.Sin(5*at[0]+float64(i))+at[1], 0.01); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 15 {
		learn()
	}
	x := make([]float64, 2*points)
	for i := range x {
		x[i] = rng.Float64()
	}
	in := expectations.Inputs{Controlled: []int{0, 1}}
	expected := func(terms ...expectations.Term) *expectations.Expected {
		e, err := expectations.New(terms, in)
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		return e
	}
	var before search.Watched
	for step := range 8 {
		learn()
		p := &penalty{threshold: []float64{1.6, 1.2}}
		for _, g := range all[1:] {
			p.each = append(p.each, expected(expectations.Term{Process: g, Of: (&mass{low: -0.5, high: 0.8}).value}))
		}
		o := space.WithPenalty(space.Adjust(expected(expectations.Term{Process: all[0], Mean: 1, SD: 2}), p), func(x []float64) float64 { return float64(step) * x[0] })
		w := search.Watching{X: x, Dim: 2, Before: before, Processes: processes}
		watched := o.(search.Watchable).Watch(w)
		if watched == nil || watched.Processes() != processes {
			t.Fatalf("step %d: watched %v", step, watched)
		}
		if w.Processes--; o.(search.Watchable).Watch(w) != nil {
			t.Error("more processes are watched than may be")
		}
		got, want := make([]float64, points), make([]float64, points)
		watched.Sync()
		watched.Values(got, o.Fork(), 0, points)
		o.Values(want, x)
		for k := range got {
			// A penalty is up to 10^6 of a probability's standard deviations.
			if !(math.Abs(got[k]-want[k]) <= 1e-9*(1+math.Abs(want[k]))) {
				t.Fatalf("step %d, point %d: %g, want %g", step, k, got[k], want[k])
			}
		}
		before = watched
	}
	if core := space.Core(space.WithPenalty(expected(expectations.Term{Process: all[0], Mean: 1}), func([]float64) float64 { return 0 })); core == nil {
		t.Error("no core")
	} else if _, ok := core.(*expectations.Expected); !ok {
		t.Errorf("the core is %T", core)
	}
}
