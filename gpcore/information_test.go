package gpcore_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Against a dense determinant of I + S^-1/2 K_0 S^-1/2, through appends, a removal and
// a change of one noise.
func TestInformationGain(t *testing.T) {
	const seed, n = 11, 30
	rng := rand.New(rand.NewPCG(seed, 0))
	kernel := kernels.Matern52(1.7, []float64{0.3, 0.6})
	g := gpcore.New(kernel, n)
	if got := g.InformationGain(); got != 0 {
		t.Errorf("without observations: %g", got)
	}
	var x [][]float64
	var noise []float64
	check := func(what string) {
		a := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range i + 1 {
				v := kernel.Cov(x[i], x[j]) / math.Sqrt(noise[i]*noise[j])
				if i == j {
					v++
				}
				a.SetSym(i, j, v)
			}
		}
		want, _ := mat.LogDet(a)
		// The condition number is near 1e4: rounding is near 1e-12.
		if got := g.InformationGain(); math.Abs(got-want/2) > 1e-10*(1+want) {
			t.Errorf("seed %d, %s: %.12f, want %.12f", seed, what, got, want/2)
		}
	}
	for i := range n {
		p := []float64{rng.Float64(), rng.Float64()}
		x, noise = append(x, p), append(noise, 0.01+rng.Float64())
		if err := g.Append(p, rng.NormFloat64(), noise[i]); err != nil {
			t.Fatal(err)
		}
	}
	check("appended")
	if err := g.Remove(4); err != nil {
		t.Fatal(err)
	}
	x, noise = append(x[:4], x[5:]...), append(noise[:4], noise[5:]...)
	check("one removed")
	noise[7] = 0.3
	if err := g.SetNoise(7, 0.3); err != nil {
		t.Fatal(err)
	}
	check("one noise changed")
	if err := g.SetNoise(7, 0); err == nil && !math.IsInf(g.InformationGain(), 1) {
		t.Errorf("a noiseless reading: %g nats, want infinitely many", g.InformationGain())
	}
}
