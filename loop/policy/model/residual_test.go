package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A target is unbiased where the process expects what is true, and has the sampling variance that
// it says, by Monte Carlo; where the process expects less or more it points towards the truth.
func TestShotErrorTargets(t *testing.T) {
	const draws = 200000
	rng := rand.New(rand.NewPCG(11, 12))
	v := 0.3
	mean := func(doubt, off float64) (shift, variance, said float64) {
		squares := 0.0
		for range draws {
			e := math.Sqrt(v+doubt) * rng.NormFloat64()
			y, s := shotError{e * e, doubt}.target(math.Log(v) + off)
			d := y - math.Log(v) - off
			shift += d / draws
			squares += d * d / draws
			said = s
		}
		return shift, squares - shift*shift, said
	}
	if shift, variance, said := mean(0, 0); math.Abs(shift) > 0.02 || math.Abs(variance/said-1) > 0.06 {
		t.Errorf("without doubt: off by %.3f with variance %.3f, said to be %.3f", shift, variance, said)
	}
	for _, doubt := range []float64{0.1, 0.3, 1.5} {
		shift, variance, said := mean(doubt, 0)
		// What the cut leaves is off by a small part of what is said to be uncertain.
		if math.Abs(shift) > 0.15*math.Sqrt(said) || variance > 1.05*said {
			t.Errorf("doubt %g: off by %.3f with variance %.3f, said to be %.3f", doubt, shift, variance, said)
		}
		for _, off := range []float64{-1, 1} {
			if towards, _, _ := mean(doubt, off); towards*off > 0.005*math.Sqrt(said) {
				t.Errorf("doubt %g: expecting %+g too much moves by %.3f", doubt, off, towards)
			}
		}
	}
	if _, said := (shotError{1, 1e9}).target(math.Log(v)); said < 1e8 {
		t.Errorf("a shot of which only the doubt is seen has variance %g", said)
	}
}
