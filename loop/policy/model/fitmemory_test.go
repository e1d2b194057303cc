package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFitsInKeptMemory: fits that share their memory, of more rows from time to time and of another model in between, find what they
// find in fresh memory, to the last bit.
func TestFitsInKeptMemory(t *testing.T) {
	const seed = 11
	for name, r := range map[string]*Rules{
		"learnt":   {Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 64}, Dims: 2, Beta: 2, Learnt: true},
		"raw":      {Spec: Spec{Kernel: kernelSE, Hyperparameters: HyperFit, Capacity: 300}, Dims: 2, Beta: 2, Learnt: true, Raw: true},
		"singles":  {Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 300}, Dims: 2, Beta: 2, Learnt: true, Singles: true},
		"one":      {Spec: Spec{Kernel: kernelMatern32, Hyperparameters: HyperFit, Capacity: 300}, Dims: 2, Beta: 2},
		"a member": {Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperPriors, Capacity: 300}, Dims: 2, Beta: 2},
	} {
		rng := rand.New(rand.NewPCG(seed, 1))
		row := func(x []float64, step int) Row {
			shots := 10
			if r.Singles && step%3 == 0 {
				shots = 1
			}
			return Row{X: x, Mean: math.Sin(5*x[0]) + 0.1*rng.NormFloat64(), Variance: 0.1 * (0.1 + rng.Float64()), Shots: shots, Step: step}
		}
		var rows, other []Row
		var kept fitMemory
		var start *Hyper
		for step := 1; step <= 140; step++ {
			rows = append(rows, row([]float64{rng.Float64(), rng.Float64()}, step))
			other = append(other, row([]float64{rng.Float64(), rng.Float64()}, step))
			if len(rows) > r.Spec.Capacity {
				rows = rows[1:]
			}
			if step != 30 && step != 70 && step != 140 {
				continue
			}
			between := *r
			between.Spec.Kernel = kernelRQ
			if _, err := (&FitTask{Rules: &between, rows: other, step: step, memory: &kept}).run(t.Context()); err != nil {
				t.Fatal(err)
			}
			var found [2]*Hyper
			for k, memory := range []*fitMemory{nil, &kept} {
				h, err := (&FitTask{Rules: r, rows: slices.Clone(rows), start: start, step: step, memory: memory}).run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				found[k] = h
			}
			if fresh, kept := numbers(found[0]), numbers(found[1]); !slices.Equal(fresh, kept) {
				t.Fatalf("seed %d, %s, step %d: %v in kept memory, %v in fresh", seed, name, step, kept, fresh)
			}
			start = found[0]
		}
	}
}

// numbers are those that a fit has found.
func numbers(h *Hyper) []float64 {
	out := append(h.kernel.Params(nil), h.Center, h.Scale, h.ShotVariance, h.doubt)
	if h.noise != nil {
		out = append(h.noise.kernel.Params(out), h.noise.Mean, h.noise.extra)
	}
	return out
}
