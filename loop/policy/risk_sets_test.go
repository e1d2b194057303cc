package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

// noisyWorld has two variables: noise rises in a, and the objective hardly depends on either.
// Left alone both are uniform. With risk 1 the set {a} is worth 1.04 at a = 0, and {b}, which
// leaves a alone, 1.02 - 0.42 = 0.60 anywhere.
func noisyWorld(x []float64) (mean, sd float64) {
	return 1.04 - 0.04*x[0], math.Sqrt(1.26) * x[0]
}

// playShots takes steps of so many shots with the control sets {a} and {b} in the world, as a run
// of the loop does: each shot with the values that random variables have.
func playShots(t *testing.T, p Policy, seed uint64, steps, shots int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	for range steps {
		q := propose(t, p)
		for range shots {
			x := append([]float64(nil), q.X...)
			for i, v := range x {
				if math.IsNaN(v) {
					x[i] = rng.Float64()
				}
			}
			mean, sd := noisyWorld(x)
			observe(t, p, Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Mean: mean + sd*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true})
		}
	}
}

// twoSets holds a or b, never both.
func twoSets(kind string, seed uint64) Spec {
	s := rahboSpec(2, seed)
	s.Kind, s.Risk, s.InitialSteps, s.Confidence = kind, 1, 6, "constant"
	s.Variables = []space.Variable{{Name: "a", High: 1, Start: math.NaN(), Random: space.Distribution{Kind: space.Uniform}},
		{Name: "b", High: 1, Start: math.NaN(), Random: space.Distribution{Kind: space.Uniform}}}
	s.ControlSets = []space.ControlSet{{Controlled: []bool{true, false}}, {Controlled: []bool{false, true}}}
	s.Schedule = schedule.None
	return s
}

// Where no control set holds all variables, every step is learnt shot by shot: the noise is known
// from the errors of single shots, the quiet setting is found, and the bound is one.
func TestRiskWithoutFullSet(t *testing.T) {
	for _, kind := range []string{kindRAHBO, kindUCBCVS} {
		for _, hyper := range []string{"fit", "priors"} {
			found, held, seeds := 0, 0, testsize.Of(1, 30)
			if kind == kindUCBCVS {
				seeds = testsize.Of(1, 10)
			}
			for seed := range uint64(seeds) {
				s := twoSets(kind, seed)
				s.Model.Hyperparameters = hyper
				p := fresh(t, s)
				playShots(t, p, seed, 25, 6)
				r, err := p.Recommend()
				if err != nil {
					t.Fatal(err)
				}
				truth := 0.6
				if r.ControlSet == 0 {
					truth = 1.04 - 0.04*r.X[0] - 1.26*r.X[0]*r.X[0]
				}
				if truth >= 0.99 {
					found++
				}
				if r.LowerBound <= truth {
					held++
				}
				t.Logf("%s, %s, seed %d: set %d at %.3v, bound %.3f, true %.3f", kind, hyper, seed, r.ControlSet, r.X, r.LowerBound, truth)
			}
			if float64(found) < 0.9*float64(seeds) || float64(held) < 0.95*float64(seeds) {
				t.Errorf("%s, %s: what is recommended is worth 0.99 of 1.04 or more in %d, its bound held in %d of %d seeds", kind, hyper, found, held, seeds)
			}
		}
	}
}
