package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
)

// What observations, one by one, have made of the priors is what loading them anew makes:
// weights, predictions, and the bounds of a noise that is learnt, also where
// observations have left.
func TestContestFollowsItsData(t *testing.T) {
	for name, s := range map[string]Spec{"constant noise": priorSpec("averaged", nil), "given": priorSpec("averaged", threePriors()), "learnt noise": rahboSpec(2, 60)} {
		shots := 1
		if name == "learnt noise" {
			s.Model = model.Spec{Kernel: "matern52", Hyperparameters: "priors"}
			shots = 5
		}
		s.Model.Capacity = 24
		steps := 40
		if name == "given" { // its weights remember what left: another test compares them
			steps = 24
		}
		p := fresh(t, s)
		told(t, p, steps, shots)
		m := p.(*engine).model
		rng := rand.New(rand.NewPCG(60, 2))
		x := make([]float64, 2*30)
		for i := range x {
			x[i] = rng.Float64()
		}
		mean, sd, again, spread := make([]float64, 30), make([]float64, 30), make([]float64, 30), make([]float64, 30)
		m.Posterior().Moments(nil, mean, sd, x)
		before := p.(PriorReporter).Priors()
		var noise []float64
		if m.Noise != nil {
			noise = m.Priors.Noise.Bounds(m.Data.Rows, 1)
			want := make([]float64, len(noise))
			m.Noise.OfMeans(want, m.Data.Rows, s.Beta)
			for k := range want {
				// Two ways to the same number; targets of order one with noise near 0.25.
				if math.Abs(noise[k]-want[k]) > 1e-9*want[k] {
					t.Errorf("%s, row %d: bound %g, predicted %g", name, k, noise[k], want[k])
				}
			}
		}
		m.Priors.Broken = true
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
		m.Posterior().Moments(nil, again, spread, x)
		for k := range mean {
			// The least noise is 1e-4 of the variance: condition numbers near 1e5.
			if math.Abs(mean[k]-again[k]) > 1e-8 || math.Abs(sd[k]-spread[k]) > 1e-8 {
				t.Errorf("%s, point %d: %g +- %g one by one; %g +- %g at once", name, k, mean[k], sd[k], again[k], spread[k])
			}
		}
		after := p.(PriorReporter).Priors()
		if math.Abs(before.Fit.Outputscale/after.Fit.Outputscale-1) > 1e-8 || math.Abs(before.Fit.Mean-after.Fit.Mean) > 1e-8*(1+math.Abs(after.Fit.Mean)) {
			t.Errorf("%s: %+v one by one, %+v at once", name, before.Fit, after.Fit)
		}
		for i := range before.Probability {
			if math.Abs(before.Probability[i]-after.Probability[i]) > 1e-8 {
				t.Errorf("%s: prior %d has probability %g one by one, %g at once", name, i+1, before.Probability[i], after.Probability[i])
			}
		}
	}
}
