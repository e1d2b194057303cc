package gpcore

import (
	"math/rand/v2"
	"testing"
)

// Nothing that a control loop does every step may allocate, with any kernel of this
// package.
func TestNoAllocations(t *testing.T) {
	forEachKernel(t, func(t *testing.T, k Kernel, rng *rand.Rand) {
		const n = 50
		g := New(k, n)
		for range n {
			if err := g.Append(point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float64, 0, 3*30)
		for range 30 {
			x = append(x, point(rng, 3)...)
		}
		mean, variance := make([]float64, 30), make([]float64, 30)
		dm, dv := make([]float64, 90), make([]float64, 90)
		y := make([]float64, n) // scratch
		noise := constant(n, 0.1)
		_ = g.SetNoises(noise) // takes the second factor
		r := g.Reader()
		r.PredictGrads(mean, variance, dm, dv, x) // takes its scratch
		g.PredictGrad(x[:3], dm[:3], dv[:3])
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"replace", func() { _ = g.Replace(7, x[:3], 1, 0.1) }},
			{"replace with little noise", func() { _ = g.Replace(7, x[3:6], 1, 1e-8) }},
			{"remove and append", func() { _ = g.Remove(3); _ = g.Append(x[:3], 1, 0.1) }},
			{"set noise", func() { _ = g.SetNoise(5, 0.11); _ = g.SetNoise(5, 0.1) }},
			{"set noise by decades", func() { _ = g.SetNoise(5, 1e6); _ = g.SetNoise(5, 0.1) }},
			{"set target", func() { _ = g.SetTarget(5, 2) }},
			{"set targets", func() { _ = g.SetTargets(y) }},
			{"set noises", func() { _ = g.SetNoises(noise) }},
			{"predict", func() { g.Predict(mean, variance, x) }},
			{"predict with gradient", func() { g.PredictGrad(x[:3], dm[:3], dv[:3]) }},
			{"predict with gradients", func() { r.PredictGrads(mean, variance, dm, dv, x) }},
			{"log likelihood", func() { _ = g.LogLikelihood() }},
			{"audit", func() { g.Audit() }},
			{"leave one out", func() { g.LeaveOneOut(y, noise) }},
			{"fitted means", func() { g.FittedMeans(y) }},
		} {
			if a := testing.AllocsPerRun(20, op.run); a != 0 {
				t.Errorf("%s: %g allocations", op.name, a)
			}
		}
	})
}
