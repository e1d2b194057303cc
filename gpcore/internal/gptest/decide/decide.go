package decide

import (
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// paperSets are the control sets of experiment 1.2 for three and five variables.
func paperSets(d int) [][]int {
	if d == 3 {
		return [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	}
	return [][]int{{0, 1}, {2, 3}, {3, 4}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 1, 2, 3, 4}}
}

// CVSProblems are the seven acquisitions of a UCB-CVS decision.
func CVSProblems(tb testing.TB, g *gpcore.GP, m quadrature.Marginal) []search.Problem {
	tb.Helper()
	d := g.Dim()
	var sets []expectations.Inputs
	for _, c := range paperSets(d) {
		in := expectations.Inputs{Controlled: c, Seed: 1}
		for range d - len(c) {
			in.Random = append(in.Random, m)
		}
		sets = append(sets, in)
	}
	e, err := expectations.NewSets([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, sets)
	if err != nil {
		tb.Fatal(err)
	}
	var p []search.Problem
	for i, e := range e {
		p = append(p, search.Problem{Objective: e, Axes: UnitBox(len(sets[i].Controlled)), Track: 1})
	}
	return p
}

func UnitBox(d int) []search.Axis {
	a := make([]search.Axis, d)
	for i := range a {
		a[i].High = 1
	}
	return a
}
