package gpcore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// learned is a process of three coordinates with n random observations, and some points beside them.
func learned(tb testing.TB, k kernels.Kernel, n, points int) (*gpcore.GP, []float64) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	some := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.Float64()
		}
		return x
	}
	g := gpcore.New(k, max(n, 8))
	for range n {
		if err := g.Append(some(3), rng.NormFloat64(), 0.01); err != nil {
			tb.Fatal(err)
		}
	}
	return g, some(3 * points)
}

// TestFewPointsTogether: points that are solved for together have the values and gradients that each has alone, to
// the last bit, whatever was solved for before.
func TestFewPointsTogether(t *testing.T) {
	lengths := []float64{0.3, 0.5, 0.2}
	for name, k := range map[string]kernels.Kernel{"matern52": kernels.Matern52(1.5, lengths), "squared-exponential": kernels.SquaredExponential(1.5, lengths)} {
		for _, n := range []int{1, 7, 40, 130} {
			g, x := learned(t, k, n, model.BatchMin-1)
			together, alone := model.NewView(g.Model()), model.NewView(g.Model())
			for _, m := range []int{model.BatchMin - 1, 1, 3, 2, 6} {
				together.SolveFew(x[:3*m], m)
				mean, variance := make([]float64, m), make([]float64, m)
				g.Predict(mean, variance, x[:3*m])
				for l := range m {
					at, got, want := x[3*l:3*l+3], make([]float64, 8), make([]float64, 8)
					got[0], got[1] = together.FewMoments(l, at)
					together.FewSlopes(l, got[2:5], 1, 0)
					together.FewSlopes(l, got[5:], 0, 1)
					want[0], want[1] = alone.PredictGrad(at, want[2:5], want[5:])
					if !slices.Equal(got, want) || mean[l] != want[0] || variance[l] != want[1] {
						t.Errorf("%s, %d observations, point %d of %d: %v, alone %v; predicted %v, %v", name, n, l, m, got, want, mean[l], variance[l])
					}
					both := make([]float64, 3)
					together.FewSlopes(l, both, 0.7, -1.3)
					for i, v := range both {
						// Sums of n terms, most of which cancel.
						sum, size := 0.7*got[2+i]-1.3*got[5+i], 1+math.Abs(got[2+i])+math.Abs(got[5+i])
						if math.Abs(v-sum) > 1e-10*size {
							t.Errorf("%s, %d observations, point %d of %d: both slopes at once %v, one by one %v", name, n, l, m, v, sum)
						}
					}
				}
			}
		}
	}
}

// BenchmarkFewPoints measures how many times as long points with gradients take one by one as together.
func BenchmarkFewPoints(b *testing.B) {
	for _, n := range []int{100, 256, 500, 1000} {
		for _, m := range []int{2, 4, 7} {
			b.Run(fmt.Sprintf("n=%d/points=%d", n, m), func(b *testing.B) {
				g, x := learned(b, kernels.Matern52(1, []float64{0.3, 0.3, 0.3}), n, m)
				v, dMean, dVariance := model.NewView(g.Model()), make([]float64, 3), make([]float64, 3)
				var alone, together []time.Duration
				for b.Loop() {
					begun := time.Now()
					for l := range m {
						v.PredictGrad(x[3*l:3*l+3], dMean, dVariance)
					}
					alone = append(alone, time.Since(begun))
					begun = time.Now()
					v.SolveFew(x, m)
					for l := range m {
						v.FewMoments(l, x[3*l:3*l+3])
						v.FewSlopes(l, dMean, 1, 0)
						v.FewSlopes(l, dVariance, 0, 1)
					}
					together = append(together, time.Since(begun))
				}
				slices.Sort(alone)
				slices.Sort(together)
				b.ReportMetric(float64(alone[len(alone)/2])/float64(together[len(together)/2]), "times")
			})
		}
	}
}
