package acquisition

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// The expected maximum along the lines is that of a quadrature over Z.
func TestKnowledgeGradient(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 1))
	for trial := range 40 {
		m := 1 + rng.IntN(7)
		k := known{Mean: make([]float64, m), Covariance: make([]float64, m*m), Noise: make([]float64, m)}
		root := make([]float64, m*m)
		for i := range root {
			root[i] = rng.NormFloat64()
		}
		for i := range m {
			k.Mean[i], k.Noise[i] = rng.NormFloat64(), 0.01+rng.Float64()
			for j := range m {
				for q := range m {
					k.Covariance[i*m+j] += root[i*m+q] * root[j*m+q] / float64(m)
				}
			}
		}
		if trial%5 == 4 && m > 1 { // two settings that are one
			k.Mean[1] = k.Mean[0]
			for j := range m {
				k.Covariance[m+j] = k.Covariance[j]
			}
			for j := range m {
				k.Covariance[j*m+1] = k.Covariance[j*m]
			}
		}
		beta := float64(trial % 3)
		got := make([]float64, m)
		k.gains(got, beta)
		for i := range m {
			bound := func(z float64) float64 { return greatestBound(k, i, z, beta) }
			want := -greatestNow(k, beta)
			for z := -9.0; z < 9; z += 0.25 { // the maximum has kinks: short pieces
				want += quad.Fixed(func(z float64) float64 { return bound(z) * distuv.UnitNormal.Prob(z) }, z, z+0.25, 20, nil, 0)
			}
			if math.Abs(got[i]-want) > 2e-4 { // pieces with a kink are the quadrature's error
				t.Errorf("seed %d, trial %d: the gain of %d of %d is %v, by quadrature %v", seed, trial, i, m, got[i], want)
			}
			if beta == 0 && got[i] < -1e-12 {
				t.Errorf("seed %d, trial %d: a reading of %d loses %v", seed, trial, i, got[i])
			}
		}
	}
}

func greatestNow(k known, beta float64) float64 {
	out := math.Inf(-1)
	for j := range k.Mean {
		out = max(out, k.Mean[j]-beta*math.Sqrt(k.Covariance[j*len(k.Mean)+j]))
	}
	return out
}

// greatestBound is the greatest lower bound after a reading of i whose new part is z.
func greatestBound(k known, i int, z, beta float64) float64 {
	m, out := len(k.Mean), math.Inf(-1)
	for j := range m {
		s := math.Sqrt(k.Covariance[i*m+i] + k.Noise[i])
		move := k.Covariance[j*m+i] / s
		out = max(out, k.Mean[j]+move*z-beta*math.Sqrt(max(k.Covariance[j*m+j]-move*move, 0)))
	}
	return out
}

// Of two settings that cannot be told apart, the one that is known less is measured; one far behind is not.
func TestKnowledgeGradientChooses(t *testing.T) {
	k := known{Mean: []float64{1, 1, -5}, Covariance: []float64{0.04, 0, 0, 0, 0.25, 0, 0, 0, 0.25}, Noise: []float64{0.1, 0.1, 0.1}}
	gain := make([]float64, 3)
	k.gains(gain, 0)
	if !(gain[1] > gain[0] && gain[0] > 1e-3 && gain[2] < 1e-6) {
		t.Errorf("gains %v", gain)
	}
}
