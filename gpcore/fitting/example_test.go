package fitting_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/fitting"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Hyperparameters, the mean and the noise from data.
func ExampleWorkspace_Fit() {
	p := fitting.Problem{
		Kernel:      kernels.SquaredExponential(1, []float64{0.5}),
		Variance:    fitting.LogNormal{Mean: 0, SD: 2},
		Lengthscale: fitting.LogNormal{Mean: math.Log(0.3), SD: 0.7},
		Noise:       &fitting.LogNormal{Mean: math.Log(0.01), SD: 2},
		MeanSD:      10,
		Starts:      2,
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		x := rng.Float64()
		p.X, p.Y = append(p.X, x), append(p.Y, 5+math.Sin(8*x)+0.1*rng.NormFloat64())
		p.NoiseVariance = append(p.NoiseVariance, 0)
	}
	var fits fitting.Workspace
	r, err := fits.Fit(context.Background(), p)
	fmt.Printf("noise SD near 0.1: %v, mean near 5: %v, %v\n",
		math.Abs(math.Sqrt(r.NoiseVariance)-0.1) < 0.02, math.Abs(r.Mean-5) < 1, err)
	// Output: noise SD near 0.1: true, mean near 5: true, <nil>
}
