package drift

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// The hold's box where it goes by the lengthscales: at its corners an objective with
// that lengthscale has lost 3% of its height. minHold and maxHold bound it, in
// fractions of the range: else nothing is seen, or it is no hold.
const (
	holdLengthscales = 0.17
	minHold          = 0.005
	maxHold          = 0.1
)

// stationaryBox is the box of a hold that stays where it was.
func stationaryBox(dims int) []float64 { return slices.Repeat([]float64{minHold}, dims) }

// Region is where a control set is searched for the incumbent of a hold: within reach of
// where the hold has been; of the whole domain when it begins. fixed says that this is
// where the hold stays, because its latest readings are in doubt.
func (t *Tracker) Region(rows []model.Row, d *space.Domain, reach []float64) (r space.Region, fixed bool) {
	anchor := t.Anchor(rows, d)
	switch {
	case anchor == nil:
		r := d.Whole()
		if r.List == nil {
			// The mean falls off to the prior's away from the observations, so its
			// maxima are near the best of them, where the search starts anyway.
			r.Screen, r.Climbs = 48, 4
		}
		return r, false
	case t.doubting():
		return d.Around(anchor, stationaryBox(len(reach))), true
	}
	return d.Around(anchor, reach), false
}

// Anchor is where a hold has been: the mean of the settings of the last steps of this
// control set that were held, nil before the first. The incumbent moves within reach of
// it, so that steps stay small and a run of odd readings takes it nowhere.
func (t *Tracker) Anchor(rows []model.Row, d *space.Domain) []float64 {
	const last = 10
	at, x := make([]float64, d.Size()), make([]float64, d.Size())
	n := 0.0
	for i := len(rows) - 1; i >= 0 && n < last && t.Holding(rows[i].Step); i-- {
		if rows[i].Set != d.Set {
			continue
		}
		n++
		d.Project(x, rows[i].X)
		for j, v := range x {
			at[j] += (v - at[j]) / n
		}
	}
	if n == 0 {
		return nil
	}
	return at
}

// HoldWidths is how far a hold reaches from its centre, per variable, as a fraction of its
// range: Spec.Drift.Hold, or for d variables
//
//	holdLengthscales lengthscale sqrt(2/d),
//
// so that a corner of the box is as far from its centre, in lengthscales, whatever d is.
func (t *Tracker) HoldWidths(v model.View, dims int) []float64 {
	if t.reach > 0 {
		return slices.Repeat([]float64{t.reach}, dims)
	}
	out := slices.Repeat([]float64{maxHold}, dims)
	_, lengthscales := model.DescribeKernel(v.MostProbable().GP.Kernel())
	if len(lengthscales) == dims {
		for i, l := range lengthscales {
			out[i] = min(max(holdLengthscales*math.Sqrt(2/float64(dims))*l, minHold), maxHold)
		}
	}
	return out
}
