package gpcore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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
