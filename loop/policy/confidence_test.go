package policy

import (
	"math"
	"testing"
)

// IRGP's squared parameter is d/2 plus an exponential variable of mean 2, drawn anew
// for each step: mean, standard deviation and least value within five standard errors.
func TestIRGPDistribution(t *testing.T) {
	const n, seed, d = 20000, 6, 3
	c := irgp{dims: d, seed: seed}
	sum, square, least := 0.0, 0.0, math.Inf(1)
	for step := range n {
		z := c.beta(step)*c.beta(step) - d/2.0
		sum += z
		square += (z - 2) * (z - 2)
		least = min(least, z)
	}
	if e := (sum/n - 2) / (2 / math.Sqrt(n)); math.Abs(e) > 5 {
		t.Errorf("seed %d: mean off by %.1f standard errors", seed, e)
	}
	// The fourth central moment of Exp(mean 2) is 9*16, so (z-2)^2 has SD sqrt(128).
	if e := (square/n - 4) / math.Sqrt(128.0/n); math.Abs(e) > 5 {
		t.Errorf("seed %d: variance off by %.1f standard errors", seed, e)
	}
	if least < -1e-9 || least > 0.01 { // expected least: 2/n
		t.Errorf("seed %d: least value %g", seed, least)
	}
	if c.beta(4) != c.beta(4) || c.beta(4) == (irgp{dims: d, seed: seed + 1}).beta(4) {
		t.Error("the draw is not a function of seed and step")
	}
}
