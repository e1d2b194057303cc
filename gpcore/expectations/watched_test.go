package expectations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/search"
)

func bent(mu, sigma float64) (value, byMu, bySigma float64) {
	v := math.Exp(mu - sigma)
	return v, v, -v
}

func manyBent(dst, mu, sigma []float64) {
	for i, m := range mu {
		dst[i], _, _ = bent(m, sigma[i])
	}
}

// TestWatchFollowsItsTerms: processes come and go among the terms, as priors do by their weight. Watched values are those of
// the expectation, and what was known of a process that comes back soon is still there.
func TestWatchFollowsItsTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	const d, points = 3, 60
	all := make([]*gpcore.GP, 3)
	learn := func() {
		x := gptest.Point(rng, d)
		for _, g := range all {
			if err := g.Append(x, rng.NormFloat64(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range all {
		all[i] = gpcore.New(gptest.Cube(), 100)
	}
	for range 20 {
		learn()
	}
	x := gptest.Point(rng, d*points)
	var before *watcher
	for step, of := range [][]int{{0}, {0, 1}, {0}, {0}, {0, 1}, {1, 2}, {2}, {2}, {2}, {2}, {0, 1, 2, 0}} {
		learn()
		var terms []Term
		for _, k := range of {
			terms = append(terms, Term{Process: all[k], Mean: 1 + float64(k), SD: 0.5})
			if k == 1 { // a function in place of coefficients, at every other step of many points at once
				terms[len(terms)-1].Of = bent
				if step%2 == 0 {
					terms[len(terms)-1].Values = manyBent
				}
			}
		}
		e, err := New(terms, Inputs{Controlled: []int{0, 1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		w, ok := e.Watch(search.Watching{X: x, Dim: d, Before: watched(before), Processes: 3, Lean: step%2 == 0}).(*watcher)
		if !ok {
			t.Fatalf("step %d: not watched", step)
		}
		if before != nil {
			for _, k := range of {
				// 0 was last asked for 6 steps before the last one, longer than a watch is kept.
				if known := before.of(all[k]); known != nil && w.of(all[k]) != known || step == 4 && known == nil || step == 10 && k == 0 && known != nil {
					t.Errorf("step %d, process %d: what was known before: %v, is used: %v", step, k, known != nil, w.of(all[k]) == known)
				}
			}
		}
		got, want := make([]float64, points), make([]float64, points)
		w.Sync()
		w.Values(got[:24], e.Fork(), 0, 24)
		w.Values(got[24:], e.Fork(), 24, points)
		e.Values(want, x)
		for k := range got {
			if !(math.Abs(got[k]-want[k]) <= 1e-10) { // as in TestWatchFollows
				t.Fatalf("step %d, point %d: %g, want %g", step, k, got[k], want[k])
			}
		}
		slices.Sort(of)
		if number := len(slices.Compact(of)); w.Processes() != number || e.Watch(search.Watching{X: x, Dim: d, Processes: number - 1}) != nil {
			t.Errorf("step %d: %d processes are watched, or more than may be", step, w.Processes())
		}
		before = w
	}
}

// watched is nil for no watcher.
func watched(w *watcher) search.Watched {
	if w == nil {
		return nil
	}
	return w
}
