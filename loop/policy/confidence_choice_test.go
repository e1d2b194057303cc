package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/model"
)

// RAHBO's Lemma 1 of the objective and of the noise against determinants.
func TestLemma1AgainstNumpy(t *testing.T) {
	o := numbers(t)
	for name, r := range map[string]riskOracle{"log": o.Log, "raw": o.Raw} {
		e := riskEngine(t, name, r, func(s *Spec) { s.Confidence, s.Delta, s.NormBound = "data", r.Delta, r.Norm })
		// Determinants of 14 rows with a condition number near 100.
		if got := e.confidence.Beta(15); math.Abs(got-r.Lemma) > 1e-10*r.Lemma {
			t.Errorf("%s: %.12f, want %.12f", name, got, r.Lemma)
		}
		if got := confidence.NoiseBeta(e.confidence, 15); math.Abs(got-r.NoiseLemma) > 1e-10*r.NoiseLemma {
			t.Errorf("%s, noise: %.12f, want %.12f", name, got, r.NoiseLemma)
		}
	}
}

// The setting follows the domain unless it is named.
func TestConfidenceSettings(t *testing.T) {
	listed := rahboSpec(2, 1)
	listed.Candidates = [][]float64{{0, 0}, {1, 0}, {1, 1}, {1, 1}}
	named := listed
	named.ConfidenceSetting = "continuous"
	levels := rahboSpec(2, 1)
	for i := range levels.Variables {
		levels.Variables[i].Levels = []float64{0, 0.5, 1}
	}
	levelled := levels
	levelled.ConfidenceSetting = "finite"
	for _, c := range []struct {
		name   string
		spec   Spec
		finite int
	}{{"box", rahboSpec(2, 1), 0}, {"candidates", listed, 3}, {"candidates, continuous", named, 0}, {"levels", levels, 0}, {"levels, finite", levelled, 9}} {
		if got := fresh(t, c.spec).(*engine).spec.settings(); got != c.finite {
			t.Errorf("%s: |X| = %d, want %d", c.name, got, c.finite)
		}
	}
}

// What is taken where a specification names no confidence: the paper's own.
func TestUsualConfidence(t *testing.T) {
	for kind, want := range map[string]string{"gp-ucb": confidence.Srinivas, "irgp-ucb": confidence.IRGP, "costids": confidence.Heuristic,
		"pe-gp-ucb": confidence.Srinivas, "pe-gp-ts": confidence.Srinivas} {
		s := Spec{}
		k, _ := KindOf(kind)
		s.complete(k)
		if s.Confidence != want {
			t.Errorf("%s: confidence %q, want %q", kind, s.Confidence, want)
		}
	}
}

// Priors are put to the test with the confidence parameter of the bounds that are maximised.
func TestEliminationSharesTheConfidence(t *testing.T) {
	for confidence, want := range map[string]int{"constant": 1, "srinivas": 0} {
		s := withCandidates(fixedSpec("pe-gp-ucb", 1, 50), 40)
		s.Confidence, s.Beta, s.InitialSteps = confidence, 1e-3, 1 // a bound that hardly is one
		s.Model = model.Spec{Kernel: "se", Hyperparameters: "priors"}
		for _, mean := range []float64{0, 1} {
			s.Model.Priors = append(s.Model.Priors, model.Prior{Lengthscale: []float64{0.3}, Outputscale: 1, NoiseSD: 0.01, Mean: mean})
		}
		p := fresh(t, s)
		gone := 0
		for step := 1; step <= 3; step++ {
			q := propose(t, p)
			observe(t, p, Observation{Step: step, X: q.X, Mean: 0, Variance: math.NaN(), Shots: 1, Valid: true})
		}
		for _, out := range p.(PriorReporter).Priors().Eliminated {
			if out {
				gone++
			}
		}
		if gone != want {
			t.Errorf("confidence %q: %d priors eliminated, want %d", confidence, gone, want)
		}
	}
}

func TestNewRefusesConfidences(t *testing.T) {
	set := func(confidence, setting string) func(*Spec) {
		return func(s *Spec) { s.Confidence, s.ConfidenceSetting = confidence, setting }
	}
	refused(t, []refusal{
		{`confidence "bold" is not known: use one of constant, heuristic, irgp, rgp, srinivas, data`, rahboSpec(2, 1), set("bold", "")},
		{`delta 1 must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = 1 }},
		{`delta -0.1 must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = -0.1 }},
		{`delta NaN must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = math.NaN() }},
		{`norm bound -1 must be finite`, rahboSpec(2, 1), func(s *Spec) { s.NormBound = -1 }},
		{`norm bound +Inf must be finite`, rahboSpec(2, 1), func(s *Spec) { s.NormBound = math.Inf(1) }},
		{`confidence setting "finite" has no meaning for confidence "constant": leave it out`, rahboSpec(2, 1), set("constant", "finite")},
		{`setting of confidence "rgp" "theory" is not known: use one of finite, continuous`, rahboSpec(2, 1), set("rgp", "theory")},
		{`confidence setting "all-priors" counts the priors that compete, and none do`, withCandidates(rahboSpec(1, 1), 5), set("srinivas", "all-priors")},
		{`confidence setting "high-probability" needs a finite domain`, rahboSpec(2, 1), set("irgp", "high-probability")},
		{`confidence setting "finite" needs a finite domain: one control set that holds every variable, and candidates`, rahboSpec(2, 1), set("srinivas", "finite")},
		{`confidence setting "finite" needs a finite domain`, cvsSpec(), set("irgp", "finite")},
	})
}
