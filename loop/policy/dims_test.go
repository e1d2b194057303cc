package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/internal/policytest"
	"github.com/labtuner/tuner/loop/policy/model"
)

// TestManyDimensions: policies with many variables decide, learn and recommend. Every setting is
// in the box, no coordinate of the design is another's, a decision repeats, and with given
// hyperparameters the recommendation has the mean and the standard deviation of the dense
// formulas. Both sides lose some n*d roundings, so they agree to 1e-9.
func TestManyDimensions(t *testing.T) {
	for _, d := range []int{39, 40, 64, 200, 256} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			t.Parallel()
			m := model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: slices.Repeat([]float64{0.3 * math.Sqrt(float64(d))}, d), Outputscale: 2, NoiseSD: 0.1}
			s := Spec{Kind: "gp-ucb", Seed: 1, InitialSteps: 6, Design: "sobol", Confidence: "constant", Beta: 2, WorkUnits: 4, Variables: box(d), ControlSets: full(d), Model: m}
			first, second := play(t, fresh(t, s), d, 9), fresh(t, s)
			readings := play(t, second, d, 9)
			if !slices.EqualFunc(first, readings, func(a, b policytest.Reading) bool { return slices.Equal(a.X, b.X) }) {
				t.Error("the same policy decided otherwise the second time")
			}
			noneAlike(t, readings[:6])
			r, err := second.Recommend()
			if err != nil {
				t.Fatal(err)
			}
			mean, sd, _ := policytest.DensePosterior(m, readings, math.Inf(1), policytest.Reading{X: r.X})
			if math.Abs(r.Mean-mean) > 1e-9 || math.Abs(r.SD-sd) > 1e-9 {
				t.Errorf("recommended with %.12f, %.12f, dense %.12f, %.12f", r.Mean, r.SD, mean, sd)
			}
		})
	}
}

// play lets a policy make steps on a bowl.
func play(t *testing.T, p Policy, d, steps int) []policytest.Reading {
	t.Helper()
	var out []policytest.Reading
	for range steps {
		q := propose(t, p)
		for i, x := range q.X {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("step %d: coordinate %d is %g", q.Step, i, x)
			}
		}
		y := 1 - 8*num.SquaredDistance(q.X, slices.Repeat([]float64{0.3}, d))/float64(d)
		observe(t, p, Observation{Step: q.Step, X: q.X, Mean: y, Variance: math.NaN(), Shots: 1, Valid: true})
		out = append(out, policytest.Reading{X: slices.Clone(q.X), Y: y})
	}
	return out
}

// noneAlike checks that no two coordinates of a design agree in every setting.
func noneAlike(t *testing.T, design []policytest.Reading) {
	t.Helper()
	seen := map[string]int{}
	for i := range design[0].X {
		var column []float64
		for _, r := range design {
			column = append(column, r.X[i])
		}
		if j, is := seen[fmt.Sprint(column)]; is {
			t.Errorf("coordinates %d and %d of the design agree", j, i)
		}
		seen[fmt.Sprint(column)] = i
	}
}
