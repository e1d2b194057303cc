package cvs

import (
	"slices"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// Hartmann is Hartmann's function in three dimensions on [0, 1]^3, to be
// maximised:
//
//	f(x) = sum over j of c_j exp(-sum over i of A_ji (x_i - P_ji)^2)
//
// Its maximum is 3.86278 at (0.114614, 0.555649, 0.852547) (Dixon and Szego 1978; Tay
// et al. take it from botorch).
func Hartmann() Family {
	return Family{Name: "hartmann", about: "Hartmann's function in 3 dimensions",
		Variables: experiment.Variables([]string{"x1", "x2", "x3"}, [][2]float64{{0, 1}, {0, 1}, {0, 1}}),
		sets:      subsets, lengthscale: 0.1, budget: 50, screen: 4000, polish: 16,
		truth: func(uint64) (truth, error) { return Hartmann3(), nil }}
}

func Hartmann3() *landscape.Gaussians {
	a := []float64{3, 10, 30, 0.1, 10, 35}
	return &landscape.Gaussians{Dims: 3, Weight: []float64{1, 1.2, 3, 3.2},
		Precision: slices.Concat(a, a),
		Centre: []float64{
			0.3689, 0.1170, 0.2673,
			0.4699, 0.4387, 0.7470,
			0.1091, 0.8732, 0.5547,
			0.0381, 0.5743, 0.8828,
		}}
}
