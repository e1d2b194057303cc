package gpcore

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var driftSteps = flag.Int("gpcore.steps", 4000, "steps of TestErrorsDoNotGrow; nightly 1000000")

// After many steps, each a replacement and a change of noise, predictions are at
// most 20 times as wrong as those of a fresh factorisation, against 160 bits.
func TestErrorsDoNotGrow(t *testing.T) {
	for _, noise := range []float64{1e-2, 1e-6} {
		for _, mode := range []string{"oldest", "random", "clustered"} {
			t.Run(fmt.Sprintf("noise=%g/%s", noise, mode), func(t *testing.T) {
				const n = 96
				rng := rand.New(rand.NewPCG(61, 62))
				next := func(step int) []float64 {
					x := point(rng, 3)
					if mode == "clustered" && step%2 == 0 {
						for i := range x {
							x[i] = 0.5 + 0.02*rng.NormFloat64()
						}
					}
					return x
				}
				// Targets that the model can believe: a smooth function and its noise.
				target := func(x []float64) float64 {
					return math.Sin(3*x[0]) + math.Sqrt(noise)*rng.NormFloat64()
				}
				g := New(cube(), n)
				for step := range n {
					x := next(step)
					if err := g.Append(x, target(x), noise); err != nil {
						t.Fatal(err)
					}
				}
				for step := range *driftSteps {
					i := 0
					if mode == "random" {
						i = rng.IntN(n)
					}
					x := next(step)
					if err := g.Replace(i, x, target(x), noise); err != nil {
						t.Fatal(err)
					}
					if err := g.SetNoise(rng.IntN(n), noise*(0.5+rng.Float64())); err != nil {
						t.Fatal(err)
					}
				}
				checkPadding(t, g.f)
				var x []float64
				for i := range n {
					p := point(rng, 3)
					if i%2 == 0 { // near the data, where variances are small
						copy(p, g.X(i))
						p[0] += 0.01
					}
					x = append(x, p...)
				}
				fresh := g.Clone()
				if err := fresh.Refresh(); err != nil {
					t.Fatal(err)
				}
				o := newOracle(g)
				mean, variance := o.worst(g, x)
				freshMean, freshVariance := o.worst(fresh, x)
				t.Logf("after %d steps: mean %.1e (fresh %.1e), variance %.1e (fresh %.1e)",
					*driftSteps, mean, freshMean, variance, freshVariance)
				// The floor is for a fresh factorisation that happens to be exact.
				if mean > 20*freshMean+1e-12 || variance > 20*freshVariance+1e-12 {
					t.Errorf("more than 20 times the error of a fresh factorisation")
				}
			})
		}
	}
}

// Several readers at once see what one sees.
func TestReadersRunConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	g := New(Sum(cube(), Constant(0.5, 3)), 50)
	for range 50 {
		if err := g.Append(point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
			t.Fatal(err)
		}
	}
	x := make([]float64, 0, 300)
	for range 100 {
		x = append(x, point(rng, 3)...)
	}
	mean, variance := make([]float64, 100), make([]float64, 100)
	dm, dv := make([]float64, 300), make([]float64, 300)
	g.Reader().PredictGrads(mean, variance, dm, dv, x)
	done := make(chan error)
	for range 4 {
		r := g.Reader()
		go func() {
			a, b, c, d := make([]float64, 100), make([]float64, 100), make([]float64, 300), make([]float64, 300)
			for range 20 {
				r.PredictGrads(a, b, c, d, x)
				if !sameBits(a, mean) || !sameBits(b, variance) || !sameBits(c, dm) || !sameBits(d, dv) {
					done <- fmt.Errorf("a concurrent reader saw something else")
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
