package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// wrongPriors are given in full; the first two expect far less than the stories tell,
// so the test of elimination finds them out.
func wrongPriors() []model.Prior {
	return []model.Prior{
		{Kernel: "linear", Lengthscale: []float64{1}, Outputscale: 1e-4, NoiseSD: 0.02, Mean: 0.5},
		{Kernel: "periodic", Lengthscale: []float64{0.5}, Outputscale: 1e-4, NoiseSD: 0.02, Mean: 0.5},
		{Kernel: "se", Lengthscale: []float64{0.4}, Outputscale: 0.25, NoiseSD: 0.05, Mean: -0.2, Weight: 2},
		{Kernel: "rq", Lengthscale: []float64{0.2}, Outputscale: 0.25, NoiseSD: 0.05, Mean: -0.2},
	}
}

// priorCasts are the combinations with priors that compete: with confidence bounds,
// samples and improvements, risk, random variables, and each rule on priors.
func priorCasts() map[string]Spec {
	nan := math.NaN()
	compete := func(s Spec, rule string, priors []model.Prior) Spec {
		s.Model.Hyperparameters, s.Model.PriorRule, s.Model.Priors = "priors", rule, priors
		return s
	}
	risk := compete(rahboSpec(2, 41), "", nil)
	risk.InitialSteps, risk.Model.Capacity = 4, 12
	sets := compete(cvsSpec(), "sampled", nil)
	sets.Seed, sets.Model.Capacity = 42, 16
	for i := range sets.Variables {
		sets.Variables[i].Random.Kind = space.Learnt
	}
	open := []model.Prior{
		{Kernel: "se", Lengthscale: []float64{0.3}, Outputscale: nan, NoiseSD: nan, Mean: nan},
		{Kernel: "matern32", Lengthscale: []float64{0.2, 0.5}, Outputscale: nan, NoiseSD: nan, Mean: nan},
	}
	irgp := compete(fixedSpec("irgp-ucb", 2, 43), "averaged", open)
	ei := compete(fixedSpec("ei", 2, 44), "greedy", open)
	out := map[string]Spec{"rahbo, priors": risk, "ucb-cvs, priors sampled": sets, "irgp-ucb, priors averaged": irgp, "ei, priors greedy": ei}
	for i, kind := range []string{"hp-gp-ts", "map-gp-ts", "pe-gp-ts", "pe-gp-ucb"} {
		s := compete(withCandidates(fixedSpec(kind, 2, uint64(45+i)), 40), "", wrongPriors())
		if kind == "pe-gp-ucb" {
			s.Candidates, s.Model.Capacity = nil, 14
		}
		out[kind] = s
	}
	return out
}
