package cvs

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// Airfoil is the self-noise of an airfoil in a wind tunnel over frequency, angle,
// chord, speed and thickness, all scaled to [0, 1]: the posterior mean of a Gaussian
// process (Matern 5/2, ARD) on the 1503 standardised measurements of Brooks, Pope and
// Marcolini, with the hyperparameters that Tay et al. published. Their noise variance
// is large (0.695), so the objective is much smoother than the data.
//
// data/ has the measurements (UCI Machine Learning Repository, Airfoil Self-Noise, CC
// BY 4.0) as Tay et al. scaled them (MIT, data/bocvs.LICENSE).
func Airfoil() Family {
	load := sync.OnceValues(loadAirfoil)
	return Family{Name: "airfoil", about: "an airfoil's self-noise over 5 variables (posterior mean of a published model)",
		Variables: experiment.Variables([]string{"frequency", "angle", "chord", "speed", "thickness"},
			[][2]float64{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}),
		sets:        [][]int{{3, 4}, {1, 4}, {0, 3}, {1, 2}, {2, 4}, {0, 1}, {2, 3}},
		lengthscale: 0.2, budget: 50, coarse: 64, screen: 300, polish: 6,
		truth: func(uint64) (truth, error) {
			model, err := load()
			if err != nil {
				return nil, err
			}
			return &airfoil{mean: model.mean, reader: model.gp.Reader()}, nil
		}}
}

//go:embed data/airfoil_xy.csv
var airfoilCSV string

//go:embed data/airfoil_gp.json
var airfoilJSON []byte

// airfoilModel is the process with all measurements.
type airfoilModel struct {
	mean float64
	gp   *gpcore.GP
}

// loadAirfoil reads the measurements and factorises their covariance. O(1503^3/3).
func loadAirfoil() (airfoilModel, error) {
	var hyper struct {
		NoiseVariance float64   `json:"noise_var"`
		Mean          float64   `json:"mean"`
		Outputscale   float64   `json:"outputscale"`
		Lengthscale   []float64 `json:"lengthscale"`
	}
	if err := json.Unmarshal(airfoilJSON, &hyper); err != nil {
		return airfoilModel{}, fmt.Errorf("airfoil: hyperparameters: %w", err)
	}
	r := csv.NewReader(strings.NewReader(airfoilCSV))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return airfoilModel{}, fmt.Errorf("airfoil: measurements: %w", err)
	}
	var x, y, noise []float64
	for n, row := range rows {
		for i, text := range row {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return airfoilModel{}, fmt.Errorf("airfoil: measurement %d: %w", n+1, err)
			}
			if i < len(row)-1 {
				x = append(x, v)
			} else {
				y, noise = append(y, v-hyper.Mean), append(noise, hyper.NoiseVariance)
			}
		}
	}
	g := gpcore.New(kernels.Matern52(hyper.Outputscale, hyper.Lengthscale), len(y))
	if err := g.Load(x, y, noise); err != nil {
		return airfoilModel{}, fmt.Errorf("airfoil: %w", err)
	}
	return airfoilModel{mean: hyper.Mean, gp: g}, nil
}

// airfoil implements truth. It is used from one goroutine at a time.
type airfoil struct {
	mean   float64
	reader *gpcore.Reader
}

func (a *airfoil) At(u []float64) float64 {
	var mean [1]float64
	a.reader.Predict(mean[:], nil, u)
	return a.mean + mean[0]
}

func (a *airfoil) Expectation(controlled []bool, draws [][]float64) func(u []float64) float64 {
	x := make([]float64, 0, len(draws)*len(controlled))
	for _, u := range draws {
		x = append(x, u...)
	}
	means := make([]float64, len(draws))
	return func(u []float64) float64 {
		for i, c := range controlled {
			if c {
				for k := range means {
					x[k*len(controlled)+i] = u[i]
				}
			}
		}
		a.reader.Predict(means, nil, x)
		sum := 0.0
		for _, m := range means {
			sum += m
		}
		return a.mean + sum/float64(len(means))
	}
}

// Marks is nil: the objective is smooth enough for the lattice.
func (a *airfoil) Marks() [][]float64 { return nil }
