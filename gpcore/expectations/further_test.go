package expectations

import (
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// A term with further observations is the sum over processes that have each of them: so also at an observed
// point, and where the kernel has no lengthscales.
func TestFurtherIsAnotherObservation(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		const noise = 1e-4
		g := gptest.ClusteredGP(t, k, 40, 1e-2, 7)
		d := g.Dim()
		of := func(mu, sigma float64) (value, byMu, bySigma float64) { return mu*mu + sigma, 2 * mu, 1 }
		points := append(gptest.Point(rng, 3*d), g.X(5)...)
		y := []float64{0.5, -1, 2, 0.1}
		var f Further
		f.Of = func(_ int, mu, sigma float64) (value, byMu, bySigma float64) { return of(mu, sigma) }
		if err := f.Observe(g, points, y, noise); err != nil {
			t.Fatal(err)
		}
		in := Inputs{Controlled: []int{0, 1, 2}}
		e, err := New([]Term{{Process: g, Further: &f}}, in)
		if err != nil {
			t.Fatal(err)
		}
		e.Prepare()
		x := append(gptest.Point(rng, 30*d), points...)
		got, want := make([]float64, len(x)/d), make([]float64, len(x)/d)
		e.Values(got, x)
		for i := range y {
			more := gpcore.New(g.Kernel(), g.Len()+1)
			for j := range g.Len() {
				if err := more.Append(g.X(j), g.Target(j), g.NoiseVariance(j)); err != nil {
					t.Fatal(err)
				}
			}
			if err := more.Append(points[i*d:(i+1)*d], y[i], noise); err != nil {
				t.Fatal(err)
			}
			o, err := New([]Term{{Process: more, Of: of}}, in)
			if err != nil {
				t.Fatal(err)
			}
			o.Prepare()
			one := make([]float64, len(want))
			o.Values(one, x)
			vec.Axpy(want, 1, one)
		}
		for j := range got {
			if !gptest.Agree(got[j], want[j], 1e-6) { // a deviation of 1e-2 has lost half of its digits
				t.Errorf("point %d: %.12g, by processes that have the observations %.12g", j, got[j], want[j])
			}
		}
	})
}

func TestFurtherRefuses(t *testing.T) {
	g := gptest.ClusteredGP(t, gptest.Cube(), 10, 1e-2, 7)
	var f Further
	for _, c := range []struct{ values, coordinates int }{{0, 0}, {MostFurther + 1, 3 * (MostFurther + 1)}, {2, 3}} {
		if f.Observe(g, make([]float64, c.coordinates), make([]float64, c.values), 1e-3) == nil {
			t.Errorf("%d values with %d coordinates are accepted", c.values, c.coordinates)
		}
	}
}
