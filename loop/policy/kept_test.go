package policy

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/scripts/testsize"
)

// keptCasts are policies whose decisions keep their search: on a box, and on a list, where
// what is kept of the points is the value that is found, bit for bit.
func keptCasts() map[string]Spec {
	box := rahboSpec(2, 61)
	box.InitialSteps, box.Model.Capacity = 4, 24
	single := fixedSpec("gp-ucb", 2, 62)
	single.Confidence, single.InitialSteps, single.Model.Capacity = "irgp", 4, 24
	list := withCandidates(single, 90)
	stalled, trusting := single, single
	stalled.Stalled, trusting.Region = stalledExplore, regionTrust
	planned := single
	planned.Steps = 120
	priors := box
	priors.Model.Hyperparameters = "priors"
	priors.Constraints = []constraint.Spec{{Name: "c", Low: -0.3, High: 0}}
	several, ids, ts := setsSpec("ucb-cvs"), setsSpec("costids"), runningSpec("hp-gp-ts", 2)
	for _, s := range []*Spec{&several, &ids, &ts} {
		s.InitialSteps, s.Model.Capacity, s.Model.RefitEvery = 7, 16, 5
	}
	read := ids
	read.CostsRead = true
	return map[string]Spec{"costids, costs read": read, "rahbo, priors, constraint": priors, "ucb-cvs": several, "costids": ids, "hp-gp-ts": ts, "rahbo, fit": box, "gp-ucb, box": single, "gp-ucb, list": list, "stalled": stalled, "planned end": planned, "trust region": trusting}
}

// TestKilledAtAnyStep: a run of which some decisions were cut is killed after any step. Who
// takes the decisions before the last step that RenewEvery divides, and a hundred more, as recorded and derives
// the others goes on with the same bits. All who begin to derive at the same step do the same, however far
// they come: one of them stands for those who were killed at the fifty steps that lead there.
func TestKilledAtAnyStep(t *testing.T) {
	const newest = 100
	steps := testsize.Of(170, 300)
	for name, s := range keptCasts() {
		cut := cuts(s.Seed, steps)
		p := fresh(t, s)
		whole := []Proposal{{}}
		for len(whole) <= steps {
			q := proposeCut(t, p, cut[len(whole)])
			whole = append(whole, q)
			for _, o := range answers(&s, q) {
				observe(t, p, o)
			}
		}
		for from := 0; from+newest < steps; from += RenewEvery {
			p, last := fresh(t, s), min(from+newest+RenewEvery, steps)
			for step := 1; step <= last; step++ {
				if step < from {
					if err := p.(Skipper).Skip(step); err != nil {
						t.Fatal(err)
					}
				} else if q := proposeCut(t, p, cut[step]); !same([]Proposal{q}, whole[step:step+1]) {
					t.Fatalf("%s, derived from step %d on: step %d is\n%v\nand was\n%v", name, from, step, q, whole[step])
				}
				for _, o := range answers(&s, whole[step]) {
					observe(t, p, o)
				}
			}
		}
	}
}

// cuts are the units of work that decisions are limited to, by step; 0 where one is not cut.
func cuts(seed uint64, steps int) []int {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]int, steps+1)
	for i := range out {
		if rng.IntN(9) == 0 {
			out[i] = 1 + rng.IntN(3)
		}
	}
	return out
}

// proposeCut is a decision after so many units of work, 0: after all.
func proposeCut(t *testing.T, p Policy, units int) Proposal {
	t.Helper()
	p.(WorkLimiter).LimitWork(units)
	q, err := p.Propose(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestSearchIsKept: the search of a decision is the one before it, until it is renewed.
func TestSearchIsKept(t *testing.T) {
	for name, s := range keptCasts() {
		if s.Region == regionTrust { // in a region of its own each decision has its own
			continue
		}
		p := fresh(t, s)
		e := p.(*engine)
		renewed := 0
		for range 2*RenewEvery + 5 {
			was := e.kept
			q, err := p.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range answers(&s, q) {
				observe(t, p, o)
			}
			if e.kept != was {
				renewed++
			}
		}
		if renewed != 3 {
			t.Errorf("%s: %d searches in %d steps, want 3", name, renewed, 2*RenewEvery+5)
		}
	}
}

// answers are those of the story to a proposal, all of them valid: around settings where steps
// failed a search is no kept one.
func answers(s *Spec, q Proposal) []Observation {
	out := story{scale: 1, shots: 5}.answer(s, q)
	for i := range out {
		out[i].Valid = true
	}
	return out
}
