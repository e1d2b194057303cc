package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// SampleFeature draws the frequency of a radial kernel of embedded coordinates: normal
// for 2^(-q), a normal over the root of a chi-square with 2 nu degrees of freedom
// for the Matern family, and a normal of gamma-distributed scale for the rational
// quadratic.
func (r *radial) SampleFeature(w *panels.Feature, rng *rand.Rand, stratum int) int {
	scale := 1.0
	switch r.family {
	case gaussian:
		scale = math.Sqrt(2 * math.Ln2)
	case matern52:
		scale = 1 / math.Sqrt(chiSquare(rng, 5))
	case matern32:
		scale = 1 / math.Sqrt(chiSquare(rng, 3))
	case exponential:
		scale = 1 / math.Sqrt(chiSquare(rng, 1))
	case rationalQuadratic:
		scale = math.Sqrt(2 * gamma(rng, r.shape))
	}
	for i := range r.d {
		w.Omega[r.offset+i] = scale * rng.NormFloat64()
	}
	w.Amplitude *= math.Sqrt(r.variance)
	return stratum
}

// chiSquare is the sum of n squared standard normals.
func chiSquare(rng *rand.Rand, n int) float64 {
	s := 0.0
	for range n {
		z := rng.NormFloat64()
		s += float64(z * z)
	}
	return s
}

// gamma is a gamma variate of the given shape and scale one (Marsaglia & Tsang
// 2000; shapes below one by their section 6).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		u := 1 - rng.Float64()
		return gamma(rng, shape+1) * vec.Exp(math.Log(u)/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + float64(c*z)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < 0.5*z*z+d-float64(d*v)+float64(d*math.Log(v)) {
			return d * v
		}
	}
}

func (e *linearEvaluator) SampleFeature(w *panels.Feature, _ *rand.Rand, stratum int) int {
	d := len(e.scale)
	w.Linear = append(w.Linear, e.offset+stratum%d)
	w.Amplitude *= math.Sqrt(float64(d))
	return stratum / d
}

func (k *constant) SampleFeature(w *panels.Feature, _ *rand.Rand, stratum int) int {
	w.Amplitude *= math.Sqrt(k.variance)
	return stratum
}

func (e *subsetEvaluator) SampleFeature(w *panels.Feature, rng *rand.Rand, stratum int) int {
	return panels.SampleFeature(e.Evaluator, w, rng, stratum)
}

func (e *compoundEvaluator) SampleFeature(w *panels.Feature, rng *rand.Rand, stratum int) int {
	if !e.product {
		c := len(e.parts)
		w.Amplitude *= math.Sqrt(float64(c))
		return panels.SampleFeature(e.parts[stratum%c], w, rng, stratum/c)
	}
	for _, p := range e.parts {
		stratum = panels.SampleFeature(p, w, rng, stratum)
	}
	return stratum
}
