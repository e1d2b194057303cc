package benchmarks

import (
	"math"
	"testing"
)

// TestSurroundings: random variables take draws with the declared variance, whatever
// is controlled.
func TestSurroundings(t *testing.T) {
	p := drawn(t, "cvs/hartmann-cheap-0.04")
	const steps = 4000
	square := 0.0
	for step := 1; step <= steps; step++ {
		x := []float64{0.25, math.NaN(), math.NaN()}
		y := []float64{math.NaN(), 0.5, math.NaN()}
		p.Measure(1, step, step, x)
		p.Measure(1, step, step, y)
		if x[0] != 0.25 || y[1] != 0.5 || x[2] != y[2] {
			t.Fatalf("step %d: %v and %v", step, x, y)
		}
		square += (x[2] - 0.5) * (x[2] - 0.5) / steps
	}
	// The square of a value in [0, 1] about its middle has a standard deviation below
	// 0.08.
	if math.Abs(square-0.04) > 4.5*0.08/math.Sqrt(steps) {
		t.Errorf("variance %v, want 0.04", square)
	}
}
