package sim

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The growth plant: leaf area after one batch, over five nutrients. Its mean is
// the posterior mean of the Gaussian process that Tay et al. (NeurIPS 2023)
// published with their experiments, in the order Ca, B, NH3, K (logarithms of
// micromol/L) and pH:
//
//	m(x) = Σ_j w_j variance exp(-½ Σ_i ((x_i - z_ji)/lengthscale_i)²)
//	area = 107.557 m + 108.590 mm²
//
// Each variable's range is mapped to the model's own range of that nutrient, so a
// linear step in the file's unit is a linear step in the model's logarithm.
//
// The noise is ours: the published file gives the mean only. A batch differs from
// the next by growthSpread of its area (plants differ), and the camera by
// growthCamera, which is the paper's noise of 0.01 standardised units:
//
//	variance = noise² (growthCamera² + growthSpread² area²)
//
// The model's mean falls a little below zero in a corner of its range; a reading
// there says zero.
const (
	growthVariance    = 0.7740745521564083
	growthSlope       = 107.55729094567415 // mm²
	growthOffset      = 108.59035777465141 // mm²
	growthCamera      = 0.01 * growthSlope // mm²
	growthSpread      = 0.02
	growthLagsInBatch = 20 // mixing: a twentieth of a batch to come within 1/e
)

// growthAxes holds the range and the lengthscale of each axis in the model's own
// units: log(micromol/L), and pH.
var growthAxes = [5]struct {
	name                   string
	low, high, lengthscale float64
}{
	{"Ca", 0, 7.7, 0.88916964326936132},
	{"B", 0, 3.5, 0.34337573631803098},
	{"NH3", 0, 10.4, 1.4236501226875462},
	{"K", 8.9, 11.3, 0.29328283036276254},
	{"pH", 2.5, 6.5, 0.5712455450922358},
}

//go:embed data/plant_gp_mean.csv
var growthCSV string

// growth implements model and averager.
type growth struct {
	source
	noise float64
	// levels holds the distinct coordinates of the points on each axis of the unit
	// cube, and scales the lengthscales there.
	levels [5][]float64
	scales [5]float64
	// points refer to levels; a weight holds w_j variance.
	points []growthPoint
}

type growthPoint struct {
	level  [5]uint8
	weight float64
}

// newGrowth reads the model's points.
func newGrowth(noise float64, random source) (*growth, error) {
	g := &growth{source: random, noise: noise}
	r := csv.NewReader(strings.NewReader(growthCSV))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the growth plant's data: %w", err)
	}
	coordinates := make([][6]float64, len(rows)-1)
	for n, row := range rows[1:] {
		for i := range coordinates[n] {
			if coordinates[n][i], err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, fmt.Errorf("read the growth plant's data: point %d: %w", n+1, err)
			}
		}
	}
	for i, axis := range growthAxes {
		g.scales[i] = axis.lengthscale / (axis.high - axis.low)
		for n := range coordinates {
			u := (coordinates[n][i] - axis.low) / (axis.high - axis.low)
			coordinates[n][i] = u
			if !slices.Contains(g.levels[i], u) {
				g.levels[i] = append(g.levels[i], u)
			}
		}
	}
	for _, c := range coordinates {
		p := growthPoint{weight: c[5] * growthVariance}
		for i := range p.level {
			p.level[i] = uint8(slices.Index(g.levels[i], c[i]))
		}
		g.points = append(g.points, p)
	}
	return g, nil
}

func (g *growth) signals() int { return 1 }

// factors holds exp(-½((u_i - level)/scale)²) for every axis and level.
type factors [5][16]float64

func (g *growth) factors(u []float64, f *factors) {
	for i := range f {
		for k, level := range g.levels[i] {
			f[i][k] = gaussian(u[i], level, g.scales[i])
		}
	}
}

// area returns the mean leaf area in mm² from each axis's factors.
func (g *growth) area(f *factors) float64 {
	m := 0.0
	for _, p := range g.points {
		l := p.level
		m += p.weight * f[0][l[0]] * f[1][l[1]] * f[2][l[2]] * f[3][l[3]] * f[4][l[4]]
	}
	return growthSlope*m + growthOffset
}

func (g *growth) moments(_ int, u []float64, _ float64) (mean, variance float64) {
	var f factors
	g.factors(u, &f)
	mean = g.area(&f)
	return mean, g.variance(mean * mean)
}

// variance returns the variance of a shot from the square of its mean.
func (g *growth) variance(square float64) float64 {
	return g.noise * g.noise * (growthCamera*growthCamera + growthSpread*growthSpread*square)
}

func (g *growth) shot(out, u []float64, hours float64, n uint64) {
	mean, variance := g.moments(0, u, hours)
	out[0] = max(0, mean+math.Sqrt(variance)*g.normal(streamShot, n))
}

func (g *growth) outcomes(u []float64, hours float64, visit func([]float64, float64)) {
	mean, variance := g.moments(0, u, hours)
	sd := math.Sqrt(variance)
	for _, node := range hermite {
		visit([]float64{mean + sd*node[0]}, node[1])
	}
}

// landmarks returns the points of the model: its extremes lie near some of them.
func (g *growth) landmarks(float64) [][]float64 {
	marks := make([][]float64, len(g.points))
	for n, p := range g.points {
		marks[n] = make([]float64, 5)
		for i, l := range p.level {
			marks[n][i] = g.levels[i][l]
		}
	}
	return marks
}

// average returns the exact expectations. Every term of the mean is a product
// over the axes, so its expectation is a product of expectations; the variance
// needs the mean's square, a sum over pairs of points, where the product of two
// Gaussians on one axis is a Gaussian about their middle:
//
//	k(x,z) k(x,z') = exp(-(z-z')²/(4l²)) exp(-(x-(z+z')/2)²/l²)
//
// A call takes 79² products.
func (g *growth) average(controlled []bool, axes []dist) func(u []float64) (mean, variance, spread float64) {
	var fixed factors // expectations on the random axes
	for i := range fixed {
		for k, level := range g.levels[i] {
			fixed[i][k] = axes[i].gaussian(level, g.scales[i])
		}
	}
	pairs := g.pairs(controlled, axes)
	return func(u []float64) (mean, variance, spread float64) {
		held := make([]float64, len(g.points))
		var f factors
		g.factors(u, &f)
		for j, p := range g.points {
			held[j] = p.weight
			for i, l := range p.level {
				if controlled[i] {
					held[j] *= f[i][l]
				}
			}
		}
		for i := range f {
			if !controlled[i] {
				f[i] = fixed[i]
			}
		}
		square := 0.0
		for j, row := range pairs {
			sum := 0.0
			for k, v := range row {
				sum += v * held[k]
			}
			square += held[j] * sum
		}
		area := g.area(&f)
		// E area² = slope² E m² + 2 slope offset E m + offset²
		m := (area - growthOffset) / growthSlope
		square = growthSlope*growthSlope*square + 2*growthSlope*growthOffset*m + growthOffset*growthOffset
		return area, g.variance(square), max(square-area*area, 0)
	}
}

// pairs returns, for every pair of points, the product over the random axes of
// the expectation of the product of their factors.
func (g *growth) pairs(controlled []bool, axes []dist) [][]float64 {
	pairs := make([][]float64, len(g.points))
	for j, p := range g.points {
		pairs[j] = make([]float64, len(g.points))
		for k, q := range g.points {
			product := 1.0
			for i := range p.level {
				if controlled[i] {
					continue
				}
				a, b := g.levels[i][p.level[i]], g.levels[i][q.level[i]]
				product *= gaussian(a, b, math.Sqrt2*g.scales[i]) *
					axes[i].gaussian((a+b)/2, g.scales[i]/math.Sqrt2)
			}
			pairs[j][k] = product
		}
	}
	return pairs
}

// growthNames returns the axes' names in the order that variables must have.
func growthNames() string {
	names := make([]string, len(growthAxes))
	for i, axis := range growthAxes {
		names[i] = axis.name
	}
	return strings.Join(names, ", ")
}

// errFiveVariables is the growth plant's refusal of another number of variables.
var errFiveVariables = errors.New("plant \"growth\" has five nutrients")

// growthMixing is the time constant of the mixing tank.
func growthMixing(batch time.Duration) time.Duration { return batch / growthLagsInBatch }

// Mixture is a sum of Gaussians on the unit cube, one width per axis:
//
//	m(u) = Σ_j Weights[j] exp(-½ Σ_i ((u_i - Points[j][i])/Scales[i])²)
type Mixture struct {
	// Names of the axes, and what 0 and 1 are in the model's own units.
	Names     []string
	Low, High []float64
	// Points and Weights of the terms; Scales is the width on each axis.
	Points  [][]float64
	Weights []float64
	Scales  []float64
}

// GrowthMean returns the law behind the growth plant as Tay et al. (NeurIPS 2023)
// use it: standardised leaf area (no unit, 107.557 mm² a unit from 108.590 mm²) over
// the logarithms of four concentrations in micromol/L, and pH. The slices are the
// caller's.
func GrowthMean() (Mixture, error) {
	g, err := newGrowth(0, source{})
	if err != nil {
		return Mixture{}, err
	}
	m := Mixture{Points: g.landmarks(0), Scales: slices.Clone(g.scales[:])}
	for _, a := range growthAxes {
		m.Names = append(m.Names, a.name)
		m.Low = append(m.Low, a.low)
		m.High = append(m.High, a.high)
	}
	for _, p := range g.points {
		m.Weights = append(m.Weights, p.weight)
	}
	return m, nil
}
