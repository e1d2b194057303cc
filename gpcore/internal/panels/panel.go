package panels

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Evaluator is a kernel, or a part of one, prepared for panels of 24. Each leaf
// embeds a point into its own coordinates (scaled by its lengthscales, say),
// at its own offset in the point's whole embedding. Evaluators hold scratch
// and are not safe for concurrent use.
type Evaluator interface {
	// Embed writes its coordinates of x into the whole embedding dst.
	Embed(dst, x []float64)
	// Prior is k(x, x) of the point with the whole embedding e.
	Prior(e []float64) float64
	// Stationary reports whether Prior is the same for all points.
	Stationary() bool
	// Fill fills p.Out, and p.Sum where p.Weights is not nil.
	Fill(p *Panel)
	// LaneGradient adds to g (width x 24) the derivatives of
	// sum over rows k of w[k*24+j]*k(row k, lane j) by the embedding of lane j.
	LaneGradient(p *Panel, w, g []float64)
	// RowGradient adds to g (width) the derivatives of
	// sum over lanes of w[j]*k(row 0, lane j) by the embedding of the row, of a panel of one row. p.Lane is as many
	// blocks of width x 24 as w has of 24.
	RowGradient(p *Panel, w, g []float64)
	// HyperGradient adds to g the derivatives of sum over k, j of w[k*24+j]*k(row k, lane j)
	// by the logarithms of the hyperparameters.
	HyperGradient(p *Panel, w, g []float64)
	// Pullback adds to dst (d x 24) the derivatives g by embedded coordinates of the
	// lanes, taken back to the coordinates of the points.
	Pullback(dst, g, lane []float64)
}

// Panel is one job of an evaluator: n points as rows against 24 lanes. Rows are
// stored leaf after leaf: the leaf whose coordinates start at o has its n rows
// from rows[o*rowCap] on, and the job starts at row first. lane is width x 24.
type Panel struct {
	Rows    []float64
	RowCap  int
	First   int
	Lane    []float64
	N       int
	Out     []float64 // n x 24
	Weights []float64 // n, or nil
	Sum     []float64 // 24: weights . out
}

// Leaf is the rows of the leaf at this offset with w coordinates.
func (p *Panel) Leaf(offset, w int) []float64 {
	return p.Rows[offset*p.RowCap+p.First*w:]
}

// Block is block b of the lanes, where there are as many as w has weights for, and its weights.
func (p *Panel) Block(b int, w []float64) (lane, weights []float64) {
	width := len(p.Lane) / (len(w) / vec.Lanes)
	return p.Lane[b*width : (b+1)*width], w[b*vec.Lanes : (b+1)*vec.Lanes]
}

// Combine sums the lanes for evaluators that do not do it while they fill.
func (p *Panel) Combine() {
	if p.Weights != nil {
		vec.Combine(p.Sum, p.Weights[:p.N], p.Out)
	}
}

// Feature is a random function of embedded points e whose covariance, on average
// over features, is the kernel:
//
//	amplitude * (product of e[i] over linear) * (w1 cos(omega . e) + w2 sin(omega . e)),
//
// with w1, w2 independent standard normals (Rahimi & Recht 2007).
type Feature struct {
	Amplitude float64
	Omega     []float64
	Linear    []int
}

// Spectral is an evaluator that can draw a feature. stratum numbers the feature; a part
// that has c alternatives takes stratum mod c and hands on stratum / c, so that all
// combinations come up equally often.
type Spectral interface {
	SampleFeature(w *Feature, rng *rand.Rand, stratum int) (rest int)
}

// SampleFeature draws from any evaluator; one without a spectrum makes the amplitude NaN.
func SampleFeature(e Evaluator, w *Feature, rng *rand.Rand, stratum int) int {
	if s, ok := e.(Spectral); ok {
		return s.SampleFeature(w, rng, stratum)
	}
	w.Amplitude = math.NaN()
	return stratum
}
