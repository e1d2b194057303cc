package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Shapes of the gamma variates: mean and variance are both the shape; five
// standard errors of 20000 draws.
func TestGammaVariates(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 58))
	for _, shape := range []float64{0.3, 0.5, 1, 4.5} {
		const n = 20000
		s, q := 0.0, 0.0
		for range n {
			v := gamma(rng, shape)
			s, q = s+v, q+v*v
		}
		mean := s / n
		variance := q/n - mean*mean
		// Fourth central moment of the gamma distribution: 3a^2 + 6a.
		seMean, seVar := math.Sqrt(shape/n), math.Sqrt((2*shape*shape+6*shape)/n)
		if math.Abs(mean-shape) > 5*seMean || math.Abs(variance-shape) > 5*seVar {
			t.Errorf("shape %g: mean %g, variance %g", shape, mean, variance)
		}
	}
}
