package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// box is d continuous variables on [0, 1] that are uniform when left alone.
func box(d int) []space.Variable {
	out := make([]space.Variable, d)
	for i := range out {
		out[i] = space.Variable{Name: fmt.Sprintf("x%d", i), High: 1, Start: math.NaN(), Random: space.Distribution{Kind: space.Uniform}}
	}
	return out
}

// sets makes control sets of d variables from lists of controlled ones.
func sets(d int, costs []float64, lists ...[]int) []space.ControlSet {
	out := make([]space.ControlSet, len(lists))
	for i, list := range lists {
		out[i] = space.ControlSet{Controlled: make([]bool, d), Cost: costs[i]}
		for _, j := range list {
			out[i].Controlled[j] = true
		}
	}
	return out
}

func full(d int) []space.ControlSet {
	all := make([]int, d)
	for i := range all {
		all[i] = i
	}
	return sets(d, []float64{0}, all)
}

func rahboSpec(d int, seed uint64) Spec {
	return Spec{Kind: "rahbo", Variables: box(d), ControlSets: full(d), Risk: 1, Confidence: "irgp", Beta: 2,
		VarianceModel: "log", Design: "sobol", InitialSteps: 10, Seed: seed,
		Model: model.Spec{Kernel: "matern52", Hyperparameters: "fit"}}
}

// growth is the five-variable problem of the papers' plant: seven control sets.
func growth(kernel string, schedule string, seed uint64) Spec {
	s := Spec{Kind: "ucb-cvs", Variables: box(5), Confidence: "constant", Beta: 2, Schedule: schedule,
		Design: "random", InitialSteps: 5, Seed: seed, Model: model.Spec{Kernel: kernel, Hyperparameters: "fit"}}
	s.ControlSets = sets(5, []float64{.1, .1, .1, .2, .2, .2, 1},
		[]int{0, 1}, []int{2, 3}, []int{3, 4}, []int{0, 1, 2}, []int{1, 2, 3}, []int{2, 3, 4}, []int{0, 1, 2, 3, 4})
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.2}
	}
	return s
}

// fill gives a policy n observations of a smooth function.
func fill(tb testing.TB, p Policy, s Spec, n, shots int) {
	rng := rand.New(rand.NewPCG(s.Seed, 99))
	for t := 1; t <= n; t++ {
		o := Observation{Step: t, X: make([]float64, len(s.Variables)), Shots: shots, Valid: true, Variance: math.NaN(),
			ControlSet: rng.IntN(len(s.ControlSets))}
		for i := range o.X {
			o.X[i] = rng.Float64()
			if t%2 == 0 { // half of the data is clustered, as late in a run
				o.X[i] = 0.5 + 0.1*(o.X[i]-0.5)
			}
			o.Mean -= (o.X[i] - 0.6) * (o.X[i] - 0.6)
		}
		o.Mean += 0.02 * rng.NormFloat64()
		if shots > 1 {
			o.Variance = 0.01 * math.Exp(o.X[0]) * (0.5 + rng.Float64())
		}
		if err := p.Observe(o); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkDecide measures one decision with its model update, without fits.
func BenchmarkDecide(b *testing.B) {
	type job struct {
		name  string
		spec  Spec
		n     int
		shots int
	}
	var jobs []job
	for _, n := range []int{50, 130, 300} {
		jobs = append(jobs, job{fmt.Sprintf("rahbo/d=4/n=%d", n), rahboSpec(4, 1), n, 10})
	}
	eps := growth("se", "epsilon", 1)
	eps.Epsilon = []float64{0}
	jobs = append(jobs, job{"ucb-cvs/all-sets/d=5/n=110", eps, 110, 1},
		job{"ucb-cvs/one-group/d=5/n=110", growth("se", "etc-100", 1), 110, 1})
	for _, j := range jobs {
		b.Run(j.name, func(b *testing.B) {
			p, err := New(j.spec)
			if err != nil {
				b.Fatal(err)
			}
			e := p.(*engine)
			fill(b, p, j.spec, j.n, j.shots)
			if err := e.advance(context.Background(), j.n+1); err != nil {
				b.Fatal(err)
			}
			e.model.Refits.Pending, e.model.Refits.Every = nil, math.MaxInt
			b.ResetTimer()
			for range b.N {
				e.model.Loaded = false
				if _, err := p.Propose(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
