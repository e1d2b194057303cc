package policy

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/scripts/testsize"
)

var (
	failureRuns = flag.Int("policy.runs", testsize.Of(15, 40), "runs of TestNoNumericalFailure; nightly 1000")
	failureSeed = flag.Uint64("policy.seed", 1, "seed of the first of them; each run has the next")
)

// awkward is a random problem of the kind that breaks covariances: a constant, targets of
// any magnitude around any level, a spike, noise that vanishes or that spans ten orders of
// magnitude, and settings that repeat because there are only few.
type awkward struct {
	spec        Spec
	shots       int
	f, sd       func(x []float64) float64
	description string
}

func newAwkward(seed uint64) awkward {
	rng := rand.New(rand.NewPCG(seed, 0xa3c59ac2))
	dims := 1 + rng.IntN(4)
	a := awkward{spec: rahboSpec(dims, seed), shots: 2 + rng.IntN(9)}
	s := &a.spec
	kinds := []string{"rahbo", "rahbo", "rahbo-us", "gp-ucb-heteroscedastic", "rahbo-known-variance", "irgp-ucb"}
	s.Kind = kinds[rng.IntN(len(kinds))]
	s.Model.Kernel = []string{"matern52", "se", "matern32", "rq"}[rng.IntN(4)]
	s.Model.Hyperparameters = []string{"fit", "fit", "priors"}[rng.IntN(3)]
	s.VarianceModel = []string{"log", "raw"}[rng.IntN(2)]
	s.Confidence = []string{"irgp", "constant", "data"}[rng.IntN(3)]
	s.InitialSteps, s.ExploreSteps = 2+rng.IntN(5), 3
	s.Model.Capacity = []int{0, 12}[rng.IntN(2)]
	scale := math.Pow(10, 24*rng.Float64()-12)
	level := scale * math.Pow(10, 8*rng.Float64()) * float64(rng.IntN(2))
	s.Risk = math.Pow(10, 4*rng.Float64()-2) / scale
	if s.Kind == "gp-ucb-heteroscedastic" || s.Kind == "irgp-ucb" {
		s.Risk = 0
	}
	repeats := rng.IntN(3) == 0
	for i := range s.Variables {
		if repeats { // two to four settings: nearly every step repeats one
			s.Variables[i].Levels = []float64{0.1, 0.9}
		}
	}
	shape, hush := rng.IntN(4), rng.IntN(4)
	a.f = func(x []float64) float64 { return level + scale*shapeOf(shape, x) }
	a.sd = func(x []float64) float64 { return scale * hushOf(hush, x) }
	if s.Kind == "rahbo-known-variance" {
		s.NoiseVariance = func(x []float64) float64 { v := a.sd(x); return v * v }
	}
	a.description = fmt.Sprintf("seed %d: %s, %s, %s, %s, confidence %s, capacity %d, %d variables (repeats %v), shape %d, noise %d, scale %.1g, level %.1g",
		seed, s.Kind, s.Model.Kernel, s.Model.Hyperparameters, s.VarianceModel, s.Confidence, s.Model.Capacity, dims, repeats, shape, hush, scale, level)
	return a
}

// shapeOf is one of four objectives of order one.
func shapeOf(shape int, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += (v - 0.3) * (v - 0.3) * float64(1+i)
	}
	switch shape {
	case 0:
		return 0 // constant
	case 1:
		return -sum
	case 2:
		return math.Exp(-1e4 * sum) // a spike
	}
	if x[0] > 0.5 { // a step
		return 1
	}
	return math.Sin(20 * x[0])
}

// hushOf is one of four standard deviations of a shot.
func hushOf(hush int, x []float64) float64 {
	switch hush {
	case 0:
		return 0
	case 1:
		return 0.1
	case 2:
		return math.Pow(10, -10*x[0])
	}
	return 100 // nothing but noise
}

// play runs the problem and says what went wrong, nil where nothing did: every call
// succeeds, every number is finite, every proposal lies in its range.
func (a *awkward) play(steps int) error {
	p, err := New(a.spec)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(a.spec.Seed, 7))
	n := noisy{dims: len(a.spec.Variables), f: a.f, sd: a.sd}
	for range steps {
		q, err := p.Propose(context.Background())
		if err != nil {
			return fmt.Errorf("propose: %w", err)
		}
		for i, v := range q.X {
			if !(v >= a.spec.Variables[i].Low && v <= a.spec.Variables[i].High) {
				return fmt.Errorf("step %d proposes %v", q.Step, q.X)
			}
		}
		if q.Fit != nil && q.Fit.Err != nil {
			return fmt.Errorf("step %d: fit: %w", q.Step, q.Fit.Err)
		}
		if q.Work > 0 && !num.Finite(q.Why.Value+q.Why.Mean+q.Why.SD) {
			return fmt.Errorf("step %d: %+v", q.Step, q.Why)
		}
		mean, variance := n.shots(q.X, a.shots, rng)
		if err := p.Observe(Observation{Step: q.Step, X: q.X, Mean: mean, Variance: variance, Shots: a.shots, Valid: true}); err != nil {
			return fmt.Errorf("observe: %w", err)
		}
	}
	r, err := p.Recommend()
	if err != nil {
		return fmt.Errorf("recommend: %w", err)
	}
	if !num.Finite(r.Mean + r.SD + r.LowerBound) {
		return fmt.Errorf("recommended %+v", r)
	}
	return nil
}

// No run of random awkward problems ends in an error or in a number that is none. The
// nightly size: go test ./loop/policy -run TestNoNumericalFailure -policy.runs 1000
func TestNoNumericalFailure(t *testing.T) {
	const steps = 25
	for i := range uint64(*failureRuns) {
		a := newAwkward(*failureSeed + i)
		if err := a.play(steps); err != nil {
			t.Errorf("%s: %v", a.description, err)
		}
	}
}

// TestJumpByDecades: one reading is a hundred decades larger or smaller than the others, before and after a first fit.
func TestJumpByDecades(t *testing.T) {
	for _, kind := range []string{"irgp-ucb", "rahbo"} {
		for _, hyper := range []string{"fit", "priors"} {
			for _, at := range []int{1, 5, 22} {
				for _, sizes := range [][2]float64{{1e-60, 1e50}, {1e50, 1e-60}} {
					s := runningSpec(kind, 2)
					s.Model.Hyperparameters, s.Model.RefitEvery = hyper, 0
					if err := steppedWithJump(s, 26, at, sizes); err != nil {
						t.Errorf("%s, %q, %g after %d of %g: %v", kind, hyper, sizes[1], at, sizes[0], err)
					}
				}
			}
		}
	}
}

// steppedWithJump makes steps whose readings are of the first size, of the second in one of them.
func steppedWithJump(s Spec, steps, jump int, sizes [2]float64) error {
	p, err := New(s)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range steps {
		q, err := p.Propose(context.Background())
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		f := sizes[0]
		if i == jump {
			f = sizes[1]
		}
		if err := p.Observe(Observation{Step: q.Step, ControlSet: q.ControlSet, X: q.X, Shots: 10, Valid: true, Mean: f * (1 + rng.Float64()), Variance: f * f * 0.01}); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if r, err := p.Recommend(); err != nil || math.IsNaN(r.Mean) {
			return fmt.Errorf("recommendation after step %d: %+v, %w", i, r, err)
		}
	}
	return nil
}
