package gpcore_test

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Three readings of a function, each with its own noise, and what they say about
// a point between them and one beside them.
func Example() {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3}), 100)
	for _, o := range []struct{ x, y, noise float64 }{{0.1, 0.5, 0.01}, {0.3, 0.9, 0.01}, {0.5, 0.7, 0.04}} {
		if err := g.Append([]float64{o.x}, o.y, o.noise); err != nil {
			fmt.Println(err)
			return
		}
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	g.Predict(mean, variance, []float64{0.4, 1})
	for j := range mean {
		fmt.Printf("%.3f +- %.3f\n", mean[j], math.Sqrt(variance[j]))
	}
	// Output:
	// 0.867 +- 0.120
	// -0.008 +- 0.939
}

// At capacity, a new observation takes the place of an old one in one pass.
func ExampleGP_Replace() {
	g := gpcore.New(kernels.Matern52(1, []float64{0.5}), 2)
	fmt.Println(g.Append([]float64{0}, 1, 0.1))
	fmt.Println(g.Append([]float64{1}, 2, 0.1))
	fmt.Println(g.Append([]float64{2}, 3, 0.1))
	fmt.Println(g.Replace(0, []float64{2}, 3, 0.1), g.X(0), g.X(1))
	// Output:
	// <nil>
	// <nil>
	// gpcore: capacity reached; remove or replace an observation first
	// <nil> [1] [2]
}

// A gradient step uphill on the posterior mean.
func ExampleGP_PredictGrad() {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{1, 1}), 10)
	_ = g.Append([]float64{0, 0}, 1, 0.01)
	dMean, dVariance := make([]float64, 2), make([]float64, 2)
	mean, _ := g.PredictGrad([]float64{0.5, 0}, dMean, dVariance)
	fmt.Printf("mean %.3f, slope %.3f, %.3f\n", mean, dMean[0], dMean[1])
	// Output: mean 0.874, slope -0.437, 0.000
}

// Noises that are re-estimated at every step, followed within a certificate.
func ExampleGP_TrackNoises() {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3}), 10)
	for i := range 5 {
		_ = g.Append([]float64{float64(i) / 5}, 1, 0.10)
	}
	want := []float64{0.20, 0.104, 0.10, 0.097, 0.05}
	r, err := g.TrackNoises(want, gpcore.NoiseRule{Tau: 0.05, Max: 2})
	fmt.Printf("%d updates, SD within [%.3f, %.3f], %v\n", r.Updated, r.SDLow, r.SDHigh, err)
	// Output: 2 updates, SD within [0.985, 1.020], <nil>
}

// Two hypotheses about the lengthscale, weighted by how well they predicted.
func ExamplePriorSet() {
	s := gpcore.NewPriorSet([]gpcore.Prior{
		{Kernel: kernels.Matern52(1, []float64{0.1}), NoiseVariance: 0.01},
		{Kernel: kernels.Matern52(1, []float64{1}), NoiseVariance: 0.01},
	}, 100)
	for i := range 10 {
		x := float64(i) / 10
		_ = s.Append([]float64{x}, x, 0)
	}
	p := make([]float64, 2)
	s.Probabilities(p)
	fmt.Printf("best %d, probability of the other below 1%%: %v\n", s.Best(), p[0] < 0.01)
	// Output: best 1, probability of the other below 1%: true
}
