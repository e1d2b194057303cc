package cvs

import (
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// Plant is leaf area over five nutrients: the posterior mean of a Gaussian
// process on measurements of a plant factory that Tay et al. published with their
// code, in its own units (Ca, B, NH3 and K in log(micromol/L), pH) and standardised.
// The model of 464 inducing points collapses to 79 distinct ones without loss. drivers/sim
// has the data, with licence. The greatest value found is 2.194.
func Plant() Family {
	mean, err := sim.GrowthMean()
	f := Family{Name: "plant", about: "leaf area over 5 nutrients (posterior mean of a published model)",
		sets:        [][]int{{0, 1}, {2, 3}, {3, 4}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 1, 2, 3, 4}},
		lengthscale: 0.2, budget: 200, screen: 8000, polish: 24}
	if err != nil { // the embedded table is damaged: told when the problem is drawn
		f.truth = func(uint64) (truth, error) { return nil, err }
		return f
	}
	bounds := make([][2]float64, len(mean.Names))
	g := &landscape.Gaussians{Dims: len(mean.Names), Weight: mean.Weights}
	for i := range bounds {
		bounds[i] = [2]float64{mean.Low[i], mean.High[i]}
	}
	for _, point := range mean.Points {
		for i, u := range point {
			g.Centre = append(g.Centre, u)
			g.Precision = append(g.Precision, 1/(2*mean.Scales[i]*mean.Scales[i]))
		}
	}
	f.Variables = experiment.Variables(mean.Names, bounds)
	f.truth = func(uint64) (truth, error) { return g, nil }
	return f
}
