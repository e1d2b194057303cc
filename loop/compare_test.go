package loop

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/scripts/testsize"
)

// The same through the whole loop: runs (80, in the whole 200) on a meter that shows nothing but noise end
// with "no improvement shown", but for as many as the level lets through; on a meter with
// a slope they all find it.
func TestRunsDoNotFoolThemselves(t *testing.T) {
	seeds := testsize.Of(25, 200)
	most := 0.0
	for b := (distuv.Binomial{N: float64(seeds), P: plan.VerifyLevel}); b.CDF(most) < 0.999; most++ {
	}
	for _, slope := range []float64{0, 1} {
		count, runs := map[string]int{}, seeds
		if slope > 0 {
			runs = 20
		}
		for seed := range runs {
			tr := searched(t)
			tr.opt.Objective.Shots, tr.opt.Variables[0].Settle, tr.opt.Verify.Seed = 1, 0, uint64(seed)
			tr.opt.Variables[0].Limits.SlewUp, tr.opt.Variables[0].Limits.SlewDown = 1000, 1000
			rng := rand.New(rand.NewPCG(uint64(seed), 78))
			tr.rig.meter = func(at map[string]float64) float64 { return slope*at["a"] + rng.NormFloat64() }
			result, err := tr.run(t, context.Background())
			if err != nil || result.Verification == nil {
				t.Fatalf("seed %d: %+v, %v", seed, result, err)
			}
			count[result.Verification.Verdict]++
			if err := tr.deps.Journal.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("slope %v: %v of %d", slope, count, runs)
		if slope == 0 && (float64(count[plan.VerdictBetter]) > most || float64(count[plan.VerdictWorse]) > most) {
			t.Errorf("without a gain: %v, at most %v of each are allowed", count, most)
		}
		if slope == 1 && count[plan.VerdictBetter] != runs { // a gain of 6 in a noise of 1
			t.Errorf("with a gain of 6: %v", count)
		}
	}
}
