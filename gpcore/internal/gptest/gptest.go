package gptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// RunOnTier runs the tests on the tier of vector instructions that TUNER_VEC_TIER names,
// else on the fastest.
func RunOnTier(m *testing.M) {
	if name, ok := os.LookupEnv("TUNER_VEC_TIER"); ok {
		tier, err := vec.Named(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "TUNER_VEC_TIER:", err)
			os.Exit(2)
		}
		vec.Use(tier)
	}
	os.Exit(m.Run())
}

// CheckTier checks that the tests do run on the tier asked for. The question also tells the test cache to keep
// the results of one tier apart from those of another.
func CheckTier(t *testing.T) {
	if name := os.Getenv("TUNER_VEC_TIER"); name != "" && name != vec.Active().String() {
		t.Errorf("the tests run on %v, not on %s", vec.Active(), name)
	}
}

// CustomKernel hides a kernel's own vector code, as a kernel from another package.
type CustomKernel struct{ kernels.Kernel }

// Kernels is every kernel and some compounds, all of three coordinates.
func Kernels() map[string]kernels.Kernel {
	l := []float64{0.3, 0.5, 1.1}
	se, m5 := kernels.SquaredExponential(1.5, l), kernels.Matern52(0.7, l)
	return map[string]kernels.Kernel{
		"squared exponential": se,
		"matern 5/2":          m5,
		"matern 3/2":          kernels.Matern32(1.2, l),
		"rational quadratic":  kernels.RationalQuadratic(0.8, 0.5, l),
		"periodic":            kernels.Periodic(1.3, []float64{0.7, 1.1, 0.4}, []float64{0.8, 1.5, 2}),
		"linear":              kernels.Linear([]float64{0.5, 1, 2}),
		"constant":            kernels.Constant(0.6, 3),
		"sum":                 kernels.Sum(se, kernels.Linear([]float64{0.5, 1, 2}), kernels.Constant(0.6, 3)),
		"product":             kernels.Product(m5, kernels.Periodic(1.3, []float64{0.7, 1.1, 0.4}, []float64{0.8, 1.5, 2})),
		"product with linear": kernels.Product(kernels.Sum(se, kernels.Constant(1, 3)), kernels.Linear([]float64{0.5, 1, 2}), m5),
		"on":                  kernels.Sum(kernels.On(kernels.Matern52(1, []float64{0.4, 0.6}), 3, 2, 0), kernels.On(kernels.Matern32(1, []float64{0.5}), 3, 1)),
		"drifting":            kernels.Drifting(kernels.Matern52(1, []float64{0.4, 0.6}), 0.8),
		"custom":              CustomKernel{kernels.Matern32(1.2, l)},
		"sum with custom":     kernels.Sum(CustomKernel{se}, m5),
		"custom linear":       CustomKernel{kernels.Linear([]float64{0.5, 1, 2})},
	}
}

func ForEachKernel(t *testing.T, f func(t *testing.T, k kernels.Kernel, rng *rand.Rand)) {
	for name, k := range Kernels() {
		t.Run(name, func(t *testing.T) { f(t, k, rand.New(rand.NewPCG(11, 12))) })
	}
}

// Agree reports whether a and b agree to tol relative to the larger of them and one.
func Agree(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*(1+max(math.Abs(a), math.Abs(b)))
}

func Point(rng *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

// ClusteredGP is a process of n points, half of them clustered, with targets drawn from a
// smooth function.
func ClusteredGP(t testing.TB, k kernels.Kernel, n int, noise float64, seed uint64) *gpcore.GP {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 77))
	d := k.Dim()
	g := gpcore.New(k, n+8)
	center := Point(rng, d)
	omega, phase := make([]float64, 40*d), make([]float64, 40)
	for i := range omega {
		omega[i] = 4 * rng.NormFloat64()
	}
	for i := range phase {
		phase[i] = 2 * math.Pi * rng.Float64()
	}
	for i := range n {
		x := Point(rng, d)
		if i%2 == 0 {
			for j := range x {
				x[j] = min(max(center[j]+0.1*rng.NormFloat64(), 0), 1)
			}
		}
		y := math.Sqrt(noise) * rng.NormFloat64()
		for r, p := range phase {
			for j, v := range x {
				p += omega[r*d+j] * v
			}
			y += math.Cos(p) * math.Sqrt(2.0/40)
		}
		if err := g.Append(x, y, noise); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func Lengthscales(d int, l float64) []float64 {
	out := make([]float64, d)
	for i := range out {
		out[i] = l * (1 + 0.1*float64(i))
	}
	return out
}

// PaperMarginal is the distribution of experiment 1.2: variance about 0.02 on [0, 1].
func PaperMarginal() quadrature.Marginal { return quadrature.TruncatedNormal(0.5, 0.141821, 0, 1) }

func Cube() kernels.Kernel { return kernels.SquaredExponential(1, []float64{0.3, 0.3, 0.3}) }

func SameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
