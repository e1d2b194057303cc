package policy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/loop/policy"
)

// measure takes shots at a setting and returns their mean and unbiased variance.
func measure(shots int, shot func() float64) (mean, variance float64) {
	values := make([]float64, shots)
	for i := range values {
		values[i] = shot()
		mean += values[i] / float64(shots)
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(shots-1)
	}
	return mean, variance
}

// RAHBO on a function with two peaks. The higher one, at 2, is four times as noisy as the
// lower one, at 8; variance costs one unit a unit, so the answer is near 8.
func ExampleNew() {
	peak := func(x, at float64) float64 { return math.Exp(-(x - at) * (x - at) / 2) }
	mean := func(x float64) float64 { return 5*peak(x, 2) + 4.6*peak(x, 8) }
	noise := func(x float64) float64 { return 0.3 + 0.9*peak(x, 2) }

	p, err := policy.New(policy.Spec{
		Kind:         "rahbo",
		Variables:    []policy.Variable{{Name: "x", Low: 0, High: 10, Start: 5}},
		ControlSets:  []policy.ControlSet{{Controlled: []bool{true}}},
		Risk:         1,
		Confidence:   "constant",
		Beta:         2,
		Design:       "sobol",
		InitialSteps: 6,
		Model:        policy.Model{Kernel: "matern52", Hyperparameters: "priors"},
		Seed:         1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	nature := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		q, err := p.Propose(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		x := q.X[0] // what a device would have reached
		m, v := measure(8, func() float64 { return mean(x) + noise(x)*nature.NormFloat64() })
		if err := p.Observe(policy.Observation{Step: q.Step, ControlSet: q.ControlSet, X: q.X, Mean: m, Variance: v, Shots: 8, Valid: true}); err != nil {
			fmt.Println(err)
			return
		}
	}
	best, err := p.Recommend()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.0f: mean %.1f, one shot scatters by %.1f\n", best.X[0], best.Mean, best.NoiseSD)
	// Output: x = 8: mean 4.6, one shot scatters by 0.2
}

// Control sets that cost: heat alone for 1, heat and flow for 5. What a step leaves alone
// does as it likes; here the flow is normal about 0.6. It is measured all the same.
func ExampleNew_controlSets() {
	yield := func(heat, flow float64) float64 { return 10 - 30*(heat-0.3)*(heat-0.3) - 8*(flow-0.5)*(flow-0.5) }
	p, err := policy.New(policy.Spec{
		Kind: "ucb-cvs",
		Variables: []policy.Variable{
			{Name: "heat", High: 1, Start: 0.8},
			{Name: "flow", High: 1, Start: 0.8, Random: policy.Distribution{Kind: policy.TruncatedNormal, Mean: 0.6, SD: 0.1}},
		},
		ControlSets:  []policy.ControlSet{{Controlled: []bool{true, false}, Cost: 1}, {Controlled: []bool{true, true}, Cost: 5}},
		Budget:       60,
		Schedule:     "etc-ada",
		Confidence:   "constant",
		Beta:         2,
		Design:       "random",
		InitialSteps: 4,
		Model:        policy.Model{Kernel: "se", Hyperparameters: "priors"},
		Seed:         1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	nature := rand.New(rand.NewPCG(3, 4))
	spent := 0.0
	for {
		q, err := p.Propose(context.Background())
		if errors.Is(err, policy.ErrBudget) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		x := append([]float64(nil), q.X...)
		if math.IsNaN(x[1]) { // left alone: it is what it is
			x[1] = min(max(0.6+0.1*nature.NormFloat64(), 0), 1)
		}
		spent += q.Cost
		err = p.Observe(policy.Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Mean: yield(x[0], x[1]) + 0.1*nature.NormFloat64(),
			Variance: math.NaN(), Shots: 1, Cost: q.Cost, Valid: true})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	best, err := p.Recommend()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("spent %.0f; heat = %.1f, and set the flow as well: %v\n", spent, best.X[0], best.ControlSet == 1)
	// Output: spent 60; heat = 0.3, and set the flow as well: true
}
