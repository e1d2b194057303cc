package priors

import (
	"math"
	"slices"
	"testing"
)

// TestPriors: each prior is drawn about equally often, and objectives look like their
// prior.
func TestPriors(t *testing.T) {
	const seeds = 300
	counts := make([]int, len(kernelPriors()))
	variance := make([]float64, len(counts))
	arms := newArms("kernel", kernelPriors())
	for seed := range uint64(seeds) {
		p, err := arms.problem(seed)
		if err != nil {
			t.Fatal(err)
		}
		counts[p.Prior]++
		at := func(arm int) float64 { return p.Truth(1, p.Candidates[arm]) }
		variance[p.Prior] += at(499) * at(499)
		if p.Prior == 4 { // linear: a line through the origin
			for _, arm := range []int{0, 100, 333} {
				if want := at(499) * float64(arm) / 499; math.Abs(at(arm)-want) > 1e-6 {
					t.Errorf("seed %d, arm %d: %v, on a line %v", seed, arm, at(arm), want)
				}
			}
		}
		if p.Prior == 3 { // period 5 is 124.75 arms: four periods are the whole range
			if math.Abs(at(0)-at(499)) > 1e-5 {
				t.Errorf("seed %d: %v at 0, %v four periods on", seed, at(0), at(499))
			}
		}
	}
	for k, n := range counts {
		// Binomial with p = 1/6: mean 50, standard deviation 6.5; 4 of them.
		if n < 24 || n > 76 {
			t.Errorf("prior %d was drawn %d times of %d", k, n, seeds)
		}
		// Every prior has the variance 1 at x = 20; 4 standard errors of about 50 squares.
		if v := variance[k] / float64(n); math.Abs(v-1) > 4*math.Sqrt2/math.Sqrt(float64(n)) {
			t.Errorf("prior %d: variance %v at 20", k, v)
		}
	}
}

// TestHills: the plain mean has ten hills, and each other prior one that is higher.
func TestHills(t *testing.T) {
	plain := hills(-1)
	for k := range 10 {
		// Neighbouring hills add 2 exp(-8) at a top.
		if v := plain(float64(k) + 0.5); math.Abs(v-1) > 1e-3 {
			t.Errorf("hill %d is %v high", k, v)
		}
	}
	if v := plain(15); v > 1e-9 {
		t.Errorf("%v at 15, beyond the hills", v)
	}
	var doubled []float64
	for _, p := range hillPriors()[1:] {
		for k := range 10 {
			if x := float64(k) + 0.5; p.mean(x) > 1.5 {
				doubled = append(doubled, x)
			}
		}
	}
	if !slices.Equal(doubled, []float64{1.5, 3.5, 6.5, 8.5}) {
		t.Errorf("doubled hills %v", doubled)
	}
}
