package model

import (
	"errors"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// fieldNoiseRule says how the objective's process follows the process of the noise: not at all
// while all variances are within 10 % of what that says, which leaves the posterior standard
// deviation within 5 % of what it would be. So most observations change the objective's process
// by a term of rank one, and what is known at a search's points can follow. Else exactly while a
// refactorisation, and computing those points anew, is a small part of a decision; above that by the three largest
// changes, which they follow beside one observation that comes and one that goes.
func fieldNoiseRule() gpcore.NoiseRule {
	return gpcore.NoiseRule{Exact: surelyFitted, Tau: 0.1, Max: 3}
}

// errUnfollowed: an observation cannot be taken up by itself.
var errUnfollowed = errors.New("a row without a sample variance")

// canFollow reports whether each further observation can be taken up by itself: every row says of
// the noise what its own sample variance does, so that rows and what they teach go together.
func (m *Model) canFollow() bool {
	return m.Loaded && m.Fitted != nil && m.Noise != nil && len(m.Data.Rows) == m.Data.VarianceRows()
}

// follow takes up the newest row, after row left has gone (-1: none), where the noise is learnt:
// the noise's process learns one target, and the objective's follows what it says now at every
// row. O(n^2); where variances are moved, O(n^3/3) up to 64 rows.
func (m *Model) follow(left int) error {
	h, rows := m.Active, m.Data.Rows
	r := &rows[len(rows)-1]
	if !r.hasVariance() {
		return errUnfollowed
	}
	y, variance := m.Noise.Hyper.link.target(r.Variance/(h.Scale*h.Scale), r.Shots)
	if err := exchange(m.Noise.GP, left, r.X, y-m.Noise.Hyper.Mean, variance+m.Noise.Hyper.extra); err != nil {
		return err
	}
	estimates := m.Memory.Floats(len(rows))
	for i := range rows {
		estimates[i] = rows[i].Variance
	}
	m.Noise.limit(estimates, h.Scale)
	noise := m.Memory.Floats(len(rows))
	m.Noise.ofLearnt(m.Memory, noise, rows, m.Beta)
	if err := exchange(m.GP, left, r.X, (r.Mean-h.Center)/h.Scale, noise[len(noise)-1]); err != nil {
		return err
	}
	_, err := m.GP.TrackNoises(noise, fieldNoiseRule())
	return err
}

// exchange appends an observation, in the place of the one at left where that is not negative.
func exchange(g *gpcore.GP, left int, x []float64, y, noise float64) error {
	if left >= 0 {
		return g.Replace(left, x, y, noise)
	}
	return g.Append(x, y, noise)
}

// ofLearnt is OfMeans of the rows that the process has learnt, one for one.
func (v *NoiseField) ofLearnt(memory *num.Memory, dst []float64, rows []Row, beta float64) {
	mean, variance := memory.Floats(len(rows)), memory.Floats(len(rows))
	v.learntMoments(mean, variance)
	v.boundMeans(dst, mean, variance, rows, beta)
}
