package gpcore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
)

// The moments of a weighted sum are those of the joint posterior.
func TestPredictSumAgainstJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 66))
	for _, n := range []int{0, 1, 13, 30} {
		g := gpcore.New(kernels.Sum(gptest.Cube(), kernels.Constant(0.5, 3)), 40)
		for range n {
			if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
				t.Fatal(err)
			}
		}
		const m = 11
		var x, w []float64
		for range m {
			x, w = append(x, gptest.Point(rng, 3)...), append(w, rng.NormFloat64())
		}
		joint, err := sampling.NewJoint(g, x)
		if err != nil {
			t.Fatal(err)
		}
		each, covariance := make([]float64, m), make([]float64, m*m)
		g.Predict(each, nil, x)
		joint.Covariance(covariance)
		mean, variance := 0.0, 0.0
		for i := range m {
			mean += w[i] * each[i]
			for j := range m {
				variance += w[i] * w[j] * covariance[i*m+j]
			}
		}
		gotMean, gotVariance := g.Reader().PredictSum(w, x)
		if math.Abs(gotMean-mean) > 1e-10 || math.Abs(gotVariance-variance) > 1e-9*(1+variance) { // some hundred roundings
			t.Errorf("%d observations: %g, %g; the joint posterior says %g, %g", n, gotMean, gotVariance, mean, variance)
		}
	}
}

// Means at the observations, of which some have left and others come, and at other points are those of Predict.
func TestMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 68))
	g, x := learned(t, kernels.Matern52(1, []float64{0.3, 0.3, 0.3}), 40, 40)
	for range 7 {
		if err := g.Replace(rng.IntN(g.Len()), gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
			t.Fatal(err)
		}
	}
	var own []float64
	for i := range g.Len() {
		own = append(own, g.X(i)...)
	}
	exchanged := slices.Concat(own[3:6], own[:3], own[6:])
	for name, x := range map[string][]float64{"own": own, "exchanged": exchanged, "other": x, "fewer": own[:60]} {
		if g.Holds(x) != (name == "own") {
			t.Errorf("%s points: held %v", name, g.Holds(x))
		}
		means, want := make([]float64, len(x)/3), make([]float64, len(x)/3)
		g.Means(means, x)
		g.Predict(want, nil, x)
		for i := range want {
			if math.Abs(means[i]-want[i]) > 1e-11 { // condition 1e3, sums of 40
				t.Errorf("%s points: mean %d is %g, predicted %g", name, i, means[i], want[i])
			}
		}
	}
}

// Several readers at once see what one sees.
func TestReadersRunConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	g := gpcore.New(kernels.Sum(gptest.Cube(), kernels.Constant(0.5, 3)), 50)
	for range 50 {
		if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
			t.Fatal(err)
		}
	}
	x := make([]float64, 0, 300)
	for range 100 {
		x = append(x, gptest.Point(rng, 3)...)
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
				if !gptest.SameBits(a, mean) || !gptest.SameBits(b, variance) || !gptest.SameBits(c, dm) || !gptest.SameBits(d, dv) {
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
