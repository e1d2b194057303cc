package watch_test

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/watch"
)

// A process of two coordinates has seen a hill near (0.6, 0.3): its posterior at two
// settings, brought up to date after a reading at O(n) each.
func ExampleWatch() {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 100)
	for i := range 36 {
		x := []float64{float64(i%6) / 5, float64(i/6) / 5}
		a, b := (x[0]-0.6)/0.3, (x[1]-0.3)/0.3
		if err := g.Append(x, math.Exp(-(a*a+b*b)/2), 1e-4); err != nil {
			panic(err)
		}
	}
	w := watch.New(g, []float64{0.6, 0.3, 0.1, 0.9})
	w.Update()
	if err := g.Append([]float64{0.1, 0.9}, 0.2, 1e-4); err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := w.Update()
	fmt.Printf("%.2f +- %.3f\n", mean[1], math.Sqrt(variance[1]))
	// Output: 0.19 +- 0.010
}
