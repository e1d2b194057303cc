package benchmarks

import (
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/benchmarks/rahbo"
)

// TestMeasure: mean and unbiased variance of a batch of shots.
func TestMeasure(t *testing.T) {
	p := drawn(t, "rahbo/branin-1")
	x := []float64{9.42478, 2.475}
	const steps = 4000
	var mean, variance float64
	for step := 1; step <= steps; step++ {
		m, v := p.Measure(1, step, step, slices.Clone(x))
		mean += m / steps
		variance += v / steps
	}
	rho2 := p.NoiseVariance(x)
	// The mean of 10 shots has the variance rho^2/10, the sample variance 2 rho^4/9: 4.5
	// standard errors.
	if math.Abs(mean-p.Truth(1, x)) > 4.5*math.Sqrt(rho2/rahbo.Shots/steps) {
		t.Errorf("mean %v, truth %v", mean, p.Truth(1, x))
	}
	if math.Abs(variance-rho2) > 4.5*rho2*math.Sqrt(2.0/9/steps) {
		t.Errorf("variance %v, want %v", variance, rho2)
	}
	again, _ := p.Measure(1, 3, 3, slices.Clone(x))
	third, _ := p.Measure(1, 3, 3, slices.Clone(x))
	if other, _ := p.Measure(2, 3, 3, slices.Clone(x)); again != third || other == again {
		t.Errorf("noise of seeds 1, 1, 2: %v, %v, %v", again, third, other)
	}
}
