package search_test

import (
	"context"
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// readings is a process of two coordinates that has seen a hill near (0.6, 0.3).
func readings() *gpcore.GP {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 100)
	for i := range 36 {
		x := []float64{float64(i%6) / 5, float64(i/6) / 5}
		a, b := (x[0]-0.6)/0.3, (x[1]-0.3)/0.3
		if err := g.Append(x, math.Exp(-(a*a+b*b)/2), 1e-4); err != nil {
			panic(err)
		}
	}
	return g
}

// The largest posterior mean plus two standard deviations, where the first coordinate can
// be set to any value and the second to tenths.
func ExampleMaximize() {
	ucb, err := expectations.New([]expectations.Term{{Process: readings(), Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := search.Maximize(context.Background(), search.Problem{
		Objective: ucb,
		Axes:      []search.Axis{{Low: 0, High: 1}, {Low: 0, High: 1, Step: 0.1}},
	}, search.Options{Seed: 1})
	fmt.Printf("%.2f at (%.1f, %.1f), complete: %v, %v\n", m.Value, m.X[0], m.X[1], m.Complete, err)
	// Output: 1.03 at (0.6, 0.3), complete: true, <nil>
}

// A decision of UCB-CVS: which coordinates to set, and where, when the others are left to
// chance. The search keeps its memory from decision to decision; starting points come
// first, and a number of units can be given to repeat what was done.
func ExampleNew() {
	g := readings()
	chance := quadrature.TruncatedNormal(0.5, 0.2, 0, 1)
	sets := []expectations.Inputs{
		{Controlled: []int{0}, Random: []quadrature.Marginal{chance}},
		{Controlled: []int{1}, Random: []quadrature.Marginal{chance}},
		{Controlled: []int{0, 1}},
	}
	acquisitions, err := expectations.NewSets([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, sets)
	if err != nil {
		fmt.Println(err)
		return
	}
	var problems []search.Problem
	for i, a := range acquisitions {
		axes := []search.Axis{{High: 1}, {High: 1}}[:len(sets[i].Controlled)]
		problems = append(problems, search.Problem{Objective: a, Axes: axes, Track: 1})
	}
	s, err := search.New(problems, search.Options{Slack: math.Inf(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.SetStarts(2, []float64{0.6, 0.4})
	maxima, units := s.Run(context.Background(), 0)
	for i, m := range maxima {
		fmt.Printf("%v: %.2f\n", sets[i].Controlled, m.Value)
	}
	first := maxima[2].Value
	again, _ := s.Run(context.Background(), units)
	fmt.Println(again[2].Value == first)
	// Output:
	// [0]: 0.74
	// [1]: 0.84
	// [0 1]: 1.03
	// true
}
