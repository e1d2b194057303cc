package gpcore_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/gpcore/watch"
)

// Nothing that a control loop does every step may allocate, with any kernel of this
// package.
func TestNoAllocations(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		const n = 50
		g := gpcore.New(k, n)
		for range n {
			if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float64, 0, 3*30)
		for range 30 {
			x = append(x, gptest.Point(rng, 3)...)
		}
		mean, variance := make([]float64, 30), make([]float64, 30)
		dm, dv := make([]float64, 90), make([]float64, 90)
		y := make([]float64, n) // scratch
		noise := vec.Constant(n, 0.1)
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

// Another kernel of the same form works in the memory of the one before: what is taken anew is small, whatever the capacity.
func TestKernelsShareMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(97, 98))
	const n, capacity = 50, 1000
	g := gpcore.New(gptest.Cube(), capacity)
	x, y := make([]float64, 3*n), make([]float64, n)
	for i := range n {
		copy(x[3*i:], gptest.Point(rng, 3))
		y[i] = rng.NormFloat64()
	}
	if err := g.Load(x, y, vec.Constant(n, 0.1)); err != nil {
		t.Fatal(err)
	}
	r, mean, variance, dm, dv := g.Reader(), make([]float64, n), make([]float64, n), make([]float64, 3*n), make([]float64, 3*n)
	change := func() {
		if err := g.SetKernel(gptest.Cube()); err != nil {
			t.Fatal(err)
		}
		r.PredictGrads(mean, variance, dm, dv, x)
		g.PredictGrad(x[:3], dm[:3], dv[:3])
	}
	for range 3 {
		change()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const changes = 20
	for range changes {
		change()
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / changes; bytes > 8<<10 {
		t.Errorf("another kernel takes %d bytes", bytes)
	}
}

// Nor may what is built on a process.
func TestNoAllocationsAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(95, 96))
	const n = 50
	priors := []gpcore.Prior{{Kernel: gptest.Cube(), NoiseVariance: 1e-2}, {Kernel: kernels.Matern52(1, []float64{0.3, 0.3, 0.3}), NoiseVariance: 1e-2}}
	s := gpcore.NewPriorSet(priors, n)
	for range n {
		if err := s.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
			t.Fatal(err)
		}
	}
	g := gptest.ClusteredGP(t, gptest.Cube(), n, 1e-2, 1)
	path, err := sampling.NewPath(g, rng, 100)
	if err != nil {
		t.Fatal(err)
	}
	list, err := sampling.NewFinite(gptest.Cube(), g.Model().Points.X[:3*n])
	if err != nil {
		t.Fatal(err)
	}
	w := watch.New(g, gptest.Point(rng, 300))
	w.Update()
	x, v, grad, noise, at := gptest.Point(rng, 30), make([]float64, 10), make([]float64, 3), vec.Constant(n, 1e-2), make([]int, n)
	for i := range at {
		at[i] = i
	}
	draw, p := make([]float64, n), make([]float64, 2)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range []struct {
		name string
		run  func()
	}{
		{"draw from a list", func() { must(list.Draw(rng, draw, g, at)) }},
		{"prior set: replace", func() { must(s.Replace(7, x[:3], 1, 0.1)) }},
		{"prior set: remove and append", func() { must(s.Remove(7)); must(s.Append(x[:3], 1, 0.1)) }},
		{"prior set: probabilities", func() { s.Probabilities(p); s.Draw(rng) }},
		{"noises by the tau rule", func() {
			noise[3] += 1e-3
			_, err := g.TrackNoises(noise, gpcore.NoiseRule{Tau: 0.02, Max: 3})
			must(err)
		}},
		{"watch", func() { must(g.Replace(7, x[:3], 1, 1e-2)); w.Update() }},
		{"path", func() { path.Values(v, x); path.Gradients(v[:1], grad, x[:3]) }},
	} {
		if a := testing.AllocsPerRun(20, op.run); a != 0 {
			t.Errorf("%s: %g allocations", op.name, a)
		}
	}
}
