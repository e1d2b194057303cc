package sampling_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
)

// Thompson sampling over a function's whole domain: a draw that can be evaluated
// and differentiated anywhere.
func ExamplePath() {
	g := gpcore.New(kernels.Matern52(1, []float64{0.3}), 10)
	_ = g.Append([]float64{0.5}, 2, 1e-6)
	p, err := sampling.NewPath(g, rand.New(rand.NewPCG(1, 2)), 500)
	if err != nil {
		fmt.Println(err)
		return
	}
	var v [1]float64
	p.Values(v[:], []float64{0.5})
	fmt.Printf("%.2f at the datum\n", v[0])
	// Output: 2.00 at the datum
}

// Draws on a fixed set of candidates.
func ExampleFinite() {
	k := kernels.SquaredExponential(1, []float64{0.3})
	x := []float64{0, 0.25, 0.5, 0.75, 1}
	f, err := sampling.NewFinite(k, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := gpcore.New(k, 10)
	_ = g.Append(x[2:3], 1.5, 1e-8)
	draw := make([]float64, f.Len())
	err = f.Draw(rand.New(rand.NewPCG(1, 2)), draw, g, []int{2})
	fmt.Printf("%.3f %v\n", draw[2], err)
	// Output: 1.500 <nil>
}
