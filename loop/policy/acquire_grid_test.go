package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

// gridWord is one word of a part: its name, and what it does to a specification.
type gridWord struct {
	name string
	edit func(*Spec)
}

// gridParts are the parts of a policy with their words, at most seven each.
func gridParts() [][]gridWord {
	var acquisitions, confidences []gridWord
	for _, a := range []string{acquireUCB, acquireTS, acquireEI, acquireNEI, acquirePIMS, acquireMES, acquireJES, acquireIDS} {
		acquisitions = append(acquisitions, gridWord{a, func(s *Spec) { s.Acquisition, s.Rho = a, 2 }})
	}
	for _, c := range confidence.Names() {
		confidences = append(confidences, gridWord{c, func(s *Spec) { s.Confidence = c }})
	}
	how := func(hyperparameters, rule string) func(*Spec) {
		return func(s *Spec) { s.Model.Hyperparameters, s.Model.PriorRule = hyperparameters, rule }
	}
	given := func(s *Spec) {
		s.Model = model.Spec{Kernel: "se", Hyperparameters: model.HyperFixed, Lengthscale: []float64{.3, .4}, Outputscale: 1, NoiseSD: 0.1}
	}
	stated := func(s *Spec) {
		s.Model = model.Spec{Kernel: "se", Hyperparameters: model.HyperPriors, PriorRule: model.PriorsAveraged, Priors: []model.Prior{
			{Lengthscale: []float64{.2}, Outputscale: 2, NoiseSD: 0.1, Mean: 0.5},
			{Kernel: "rq", Lengthscale: []float64{.5}, Outputscale: 1, NoiseSD: 0.3, MeanOf: func(x []float64) float64 { return x[0] - x[1] }}}}
	}
	priors := []gridWord{{"given", given}, {"fit", how(model.HyperFit, "")}, {"averaged", how(model.HyperPriors, model.PriorsAveraged)},
		{"sampled", how(model.HyperPriors, model.PriorsSampled)}, {"greedy", how(model.HyperPriors, model.PriorsGreedy)},
		{"elimination", how(model.HyperPriors, model.PriorsElimination)}, {"stated", stated}}
	several := func(kind space.RandomKind) func(*Spec) {
		return func(s *Spec) {
			s.Kind, s.Schedule = kindUCBCVS, schedule.None
			s.ControlSets = sets(2, []float64{.1, .3, 1}, []int{0}, []int{1}, []int{0, 1})
			for i := range s.Variables {
				s.Variables[i].Random = space.Distribution{Kind: kind, Mean: 0.5, SD: 0.2}
			}
		}
	}
	list := func(s *Spec) {
		for k := range 30 {
			s.Candidates = append(s.Candidates, []float64{float64(k%6) / 5, float64(k/6) / 4})
		}
	}
	control := []gridWord{{"one set", func(*Spec) {}}, {"list", list}, {"sets", several(space.TruncatedNormal)}, {"sets, learnt", several(space.Learnt)},
		{"sets, held", several(space.Held)}, {"listed sets", func(s *Spec) { list(s); several(space.Uniform)(s) }},
		{"dear sets", func(s *Spec) { several(space.Uniform)(s); s.PerCost, s.MoveCost = true, []float64{1, 0.1} }}}
	noise := []gridWord{{"constant", func(*Spec) {}}, {"learnt", func(s *Spec) {
		switch averse := s.Acquisition == acquireUCB || s.Acquisition == acquireTS; {
		case averse:
			s.Risk = 1
			if s.Kind == kindGPUCB {
				s.Kind = kindRAHBO
			}
		case s.Kind == kindGPUCB:
			s.Kind = "gp-ucb-heteroscedastic"
		}
	}}, {"known", func(s *Spec) { s.NoiseVariance = func(x []float64) float64 { return 0.01 + 0.05*x[0] } }}}
	time := []gridWord{{"still", func(*Spec) {}}, {"drifting", func(s *Spec) { s.Drift.Timescale = []float64{40} }}, {"still", func(*Spec) {}}}
	bounds := []gridWord{{"free", func(*Spec) {}}, {"bounded", func(s *Spec) { s.Constraints = []constraint.Spec{{Name: "a", Low: -0.4, High: math.Inf(1)}} }}}
	return [][]gridWord{acquisitions, priors, confidences, control, noise, time, bounds}
}

// Any word of one part goes with any word of another: in the whole 49 policies, in which every
// pair of words of two parts occurs (the lines of the plane over the field of seven elements),
// build, propose inside their bounds what can be paid, go on from observations alone as
// if nothing had happened, and recommend.
func TestAnyPartGoesWithAnyOther(t *testing.T) {
	parts := gridParts()
	for a := range 7 {
		for b := range 7 {
			// On the diagonal every part has each of its words once; a part of it is enough for every change.
			if (a != b || a%3 > 0) && !testsize.Whole() {
				continue
			}
			s := fixedSpec(kindGPUCB, 2, uint64(7*a+b))
			s.Model, s.InitialSteps, s.Budget, s.WorkUnits = model.Spec{Kernel: "se"}, 3, 40, 14
			name := ""
			// Of the parts, control sets come before the noise, whose words depend on them.
			for k, level := range []int{a, b, (a + b) % 7, (a + 2*b) % 7, (a + 3*b) % 7, (a + 4*b) % 7, (a + 5*b) % 7} {
				w := parts[k][level%len(parts[k])]
				w.edit(&s)
				name += fmt.Sprintf("%s/", w.name)
			}
			gridRun(t, name, s)
		}
	}
}

func gridRun(t *testing.T, name string, s Spec) {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	w, left := story{scale: 1, shots: 4}, s.Budget
	const steps = 6
	whole := w.tell(t, p, &s, steps, nil)
	for _, q := range whole {
		for i, v := range q.X {
			controlled := s.ControlSets[q.ControlSet].Controlled[i]
			if controlled == math.IsNaN(v) || v < s.Variables[i].Low || v > s.Variables[i].High {
				t.Errorf("%s, step %d: %v of control set %d", name, q.Step, q.X, q.ControlSet)
			}
		}
		if q.Cost > left {
			t.Errorf("%s, step %d: costs %g of %g", name, q.Step, q.Cost, left)
		}
		left -= q.Cost
	}
	r, err := p.Recommend()
	if err != nil || !num.Finite(r.LowerBound) || !(r.SD >= 0) {
		t.Errorf("%s: recommends %+v, %v", name, r, err)
	}
	again := fresh(t, s)
	derive(t, again, whole[:steps-1], func(q Proposal) []Observation { return w.answer(&s, q) })
	if last := w.tell(t, again, &s, 1, nil); !same(last, whole[steps-1:]) {
		t.Errorf("%s: the last proposal was %+v, after a new start it is %+v", name, whole[steps-1], last[0])
	}
}
