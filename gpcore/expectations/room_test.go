package expectations

import (
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// TestMemoryGrowsUnderReaders: whoever reads a process from when it held few observations gives what a new
// reader gives, to the last bit, however many have come since: predictions, slopes, sums,
// expectations with their bounds, and forks of them.
func TestMemoryGrowsUnderReaders(t *testing.T) {
	for name, k := range map[string]kernels.Kernel{"squared exponential": gptest.Cube(), "matern": kernels.Matern52(1, gptest.Lengthscales(3, 0.3)),
		"a sum": kernels.Sum(kernels.Matern52(1, gptest.Lengthscales(3, 0.3)), kernels.SquaredExponential(0.5, gptest.Lengthscales(3, 0.8)))} {
		g := gpcore.New(k, 300)
		rng := rand.New(rand.NewPCG(5, 6))
		m := gptest.PaperMarginal()
		terms, in := []Term{{Process: g, Mean: 1, SD: 2}}, Inputs{Controlled: []int{0, 2}, Random: []quadrature.Marginal{m}}
		old, err := New(terms, in)
		if err != nil {
			t.Fatal(err)
		}
		fork, reader := old.Fork().(*Expected), g.Reader()
		read := func(r *gpcore.Reader, e, f *Expected) (out []float64) {
			e.Prepare()
			x := gptest.Point(rand.New(rand.NewPCG(7, 8)), 3*30)
			mean, variance, dm, dv := make([]float64, 30), make([]float64, 30), make([]float64, 90), make([]float64, 90)
			r.PredictGrads(mean, variance, dm, dv, x)
			sum, of := r.PredictSum([]float64{0.5, 0.5}, x[:6])
			out = append(append(append(append(append(out, mean...), variance...), dm...), dv...), sum, of)
			for _, w := range []*Expected{e, f} {
				for _, points := range []int{2, 30} { // one by one, and in panels
					v, grad := make([]float64, points), make([]float64, 2*points)
					w.Values(v, x[:2*points])
					out = append(out, v...)
					w.Gradients(v, grad, x[:2*points])
					out = append(append(out, v...), grad...)
					w.SurrogateGradients(v, grad, x[:2*points])
					out = append(append(out, v...), grad...)
				}
			}
			return out
		}
		for n := 1; n <= 300; n++ {
			if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.05); err != nil {
				t.Fatal(err)
			}
			switch n {
			case 1, 127, 128, 129, 200, 256, 257, 300:
			default:
				continue
			}
			made, err := New(terms, in)
			if err != nil {
				t.Fatal(err)
			}
			want := read(g.Reader(), made, made.Fork().(*Expected))
			if got := read(reader, old, fork); !gptest.SameBits(got, want) {
				t.Errorf("%s, %d observations: it differs from what is read anew", name, n)
			}
		}
	}
}
