package panels

import (
	"math"
	"math/rand/v2"
)

// Wave is a random function of embedded points e whose covariance, on average
// over waves, is the kernel:
//
//	amplitude * (product of e[i] over linear) * (w1 cos(omega . e) + w2 sin(omega . e)),
//
// with w1, w2 independent standard normals (Rahimi & Recht 2007).
type Wave struct {
	Amplitude float64
	Omega     []float64
	Linear    []int
}

// Spectral is an evaluator that can draw a wave. stratum numbers the wave; a part
// that has c alternatives takes stratum mod c and hands on stratum / c, so that all
// combinations come up equally often.
type Spectral interface {
	Wave(w *Wave, rng *rand.Rand, stratum int) (rest int)
}

// WaveOf draws from any evaluator; one without a spectrum makes the amplitude NaN.
func WaveOf(e Evaluator, w *Wave, rng *rand.Rand, stratum int) int {
	if s, ok := e.(Spectral); ok {
		return s.Wave(w, rng, stratum)
	}
	w.Amplitude = math.NaN()
	return stratum
}
