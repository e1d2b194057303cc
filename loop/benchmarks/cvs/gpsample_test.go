package cvs

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

// TestGPSampleInterpolates: at its anchors the sample has the prior's variance, and
// between two close points the prior's correlation, over many seeds.
func TestGPSampleInterpolates(t *testing.T) {
	samples := testsize.Of(20, 60)
	at, near := []float64{0.5, 0.5, 0.5}, []float64{0.6, 0.5, 0.5}
	square, product := 0.0, 0.0
	for seed := range uint64(samples) {
		g, err := newGPSample(seed)
		if err != nil {
			t.Fatal(err)
		}
		square += g.At(at) * g.At(at) / float64(samples)
		product += g.At(at) * g.At(near) / float64(samples)
	}
	// In the middle, 1000 anchors at lengthscale 0.1 determine the function nearly. 4.5
	// standard errors of a mean of so many.
	limit := 4.5 * math.Sqrt2 / math.Sqrt(float64(samples))
	if math.Abs(square-1) > limit || math.Abs(product-math.Exp(-0.5)) > limit {
		t.Errorf("variance %.2f, covariance %.2f, want 1 and %.2f +- %.2f", square, product, math.Exp(-0.5), limit)
	}
}
