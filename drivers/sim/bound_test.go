package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers/sim/optimum"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestTruthWithinBounds compares the optimum that keeps a bound with a grid over the
// domain: the pointing's mean is a plane over the mirrors, so the best setting lies on a
// slanted edge. Without a chance to keep the bounds there is no known.
func TestTruthWithinBounds(t *testing.T) {
	testsize.OneGoroutine(t)
	b := newBench(t, knobs(2))
	const name = "pointing"
	pointing := interval{-5, 5}
	low := pointing.mid() + 0.3*laserTilt*pointing.span() // where u0 - u1 = 0.3
	q := optimum.Query{Bounds: []optimum.Bound{{Sensor: name, Low: low, High: math.Inf(1)}}}
	known := b.truth(q)
	n := testsize.Of(500, 1000)
	best := math.Inf(-1)
	for i := 0; i <= n; i++ {
		for j := 0; j <= n; j++ {
			if x := []float64{float64(i) / float64(n), float64(j) / float64(n)}; 10*(i-j) >= 3*n {
				best = max(best, b.score(0, x...))
			}
		}
	}
	// A grid point of the edge is within 1/2000 of the best one, where the value is flat.
	if math.Abs(known.Value-best) > 1e-4*known.Range || known.Value < best-1e-6*known.Range {
		t.Errorf("within the bound %v, by grid %v", known.Value, best)
	}
	if free := b.truth(optimum.Query{}); free.Value < known.Value+0.05*known.Range || !math.IsNaN(known.ValueOf(0, free.Optimum.X)) {
		t.Errorf("the free optimum has %v, within the bound %v; a setting that breaks it has the value %v", free.Value, known.Value, known.ValueOf(0, free.Optimum.X))
	}
	if free := b.truth(optimum.Query{}); known.Keeps(0, free.Optimum.X) || !known.Keeps(0, known.Optimum.X) {
		t.Errorf("the free optimum keeps the bound: %v, the best within it: %v", known.Keeps(0, free.Optimum.X), known.Keeps(0, known.Optimum.X))
	}
	// With u1 left to chance, uniform, 95% of the draws have u0 - u1 >= 0.3 nowhere, and
	// u0 - u1 >= -0.25 from u0 = 0.7 on.
	q.ControlSets = [][]bool{{true, false}}
	if _, err := b.Truth(b.t.Context(), q); err == nil || !strings.Contains(err.Error(), "no setting keeps the bounds") {
		t.Errorf("error %v, want that no setting keeps the bounds", err)
	}
	q.Bounds[0].Low = pointing.mid() - 0.25*laserTilt*pointing.span()
	known = b.truth(q)
	if at := known.ValueOf(0, []float64{0.69, 0}); !math.IsNaN(at) {
		t.Errorf("u0 = 0.69 has the value %v", at)
	}
	if at := known.ValueOf(0, []float64{0.71, 0}); !(at <= known.Value) {
		t.Errorf("u0 = 0.71 has the value %v, the optimum %v", at, known.Value)
	}
}
