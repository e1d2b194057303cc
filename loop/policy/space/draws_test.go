package space

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What random variables did tells whether a draw holds for a step; a word of the specification counts
// for more.
func TestDraws(t *testing.T) {
	const shots = 5
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		each, held := newDraws(2, ""), newDraws(2, "")
		for step := 1; step <= 12; step++ {
			at := rng.Float64()
			for range shots {
				each.observe(1, rng.Float64(), step, 1)
				held.observe(1, at+0.05*rng.NormFloat64(), step, 1)
			}
		}
		if each.perStep() || !held.perStep() {
			t.Fatalf("seed %d: drawn for each shot: %v; held for a step: %v", seed, each.perStep(), held.perStep())
		}
		if math.Abs(held.inflation()-shots) > 1e-12 || each.inflation() != 1 {
			t.Errorf("seed %d: counts %g and %g times", seed, held.inflation(), each.inflation())
		}
		each.word, held.word = DrawnPerStep, DrawnPerShot
		if each.inflation() != shots || held.inflation() != 1 {
			t.Errorf("seed %d: the words count %g and %g times", seed, each.inflation(), held.inflation())
		}
	}
	if few := newDraws(1, DrawnPerStep); few.inflation() != 1 {
		t.Error("nothing was seen, and it counts")
	}
}
