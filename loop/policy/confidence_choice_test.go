package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/confidence"
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
		{`confidence setting "finite" needs a finite domain: one control set that holds every variable, and candidates`, rahboSpec(2, 1), set("srinivas", "finite")},
		{`confidence setting "finite" needs a finite domain`, cvsSpec(), set("irgp", "finite")},
	})
}
