package panels

import (
	"math"
	"math/rand/v2"
)

// Feature is a random function of embedded points e whose covariance, on average
// over features, is the kernel:
//
//	amplitude * (product of e[i] over linear) * (w1 cos(omega . e) + w2 sin(omega . e)),
//
// with w1, w2 independent standard normals (Rahimi & Recht 2007).
type Feature struct {
	Amplitude float64
	Omega     []float64
	Linear    []int
}

// Spectral is an evaluator that can draw a feature. stratum numbers the feature; a part
// that has c alternatives takes stratum mod c and hands on stratum / c, so that all
// combinations come up equally often.
type Spectral interface {
	SampleFeature(w *Feature, rng *rand.Rand, stratum int) (rest int)
}

// SampleFeature draws from any evaluator; one without a spectrum makes the amplitude NaN.
func SampleFeature(e Evaluator, w *Feature, rng *rand.Rand, stratum int) int {
	if s, ok := e.(Spectral); ok {
		return s.SampleFeature(w, rng, stratum)
	}
	w.Amplitude = math.NaN()
	return stratum
}
