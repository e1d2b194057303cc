package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// Bounds at the rows that a process has learnt, in their order, come from its factor; in another order they are predicted.
func TestBoundsOfLearntRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	rows := make([]Row, 60)
	for i := range rows {
		rows[i] = Row{X: []float64{rng.Float64(), rng.Float64()}, Variance: math.Exp(rng.NormFloat64()), Shots: 2 + rng.IntN(9)}
	}
	field := newNoiseField(&noiseHyper{link: logLink{}, kernel: kernels.Matern52(1, []float64{0.3, 0.3})}, len(rows))
	var l lessons
	for _, r := range rows {
		y, variance := field.Hyper.link.target(r.Variance, r.Shots)
		l.x, l.y, l.variance = append(l.x, r.X...), append(l.y, y), append(l.variance, variance)
		l.estimates = append(l.estimates, r.Variance)
	}
	if err := field.learn(field.Hyper, l); err != nil {
		t.Fatal(err)
	}
	field.limit(l.estimates, 1)
	learnt, predicted := make([]float64, len(rows)), make([]float64, len(rows))
	field.OfMeans(learnt, rows, 2)
	slices.Reverse(rows)
	field.OfMeans(predicted, rows, 2)
	slices.Reverse(predicted)
	for i := range learnt {
		// A target's noise is of the order of the process's variance, so that neither way cancels.
		if math.Abs(learnt[i]-predicted[i]) > 1e-9*predicted[i] {
			t.Errorf("row %d: the bound is %g by the factor, %g as predicted", i, learnt[i], predicted[i])
		}
	}
}
