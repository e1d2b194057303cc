package safety

import "math"

// safeSettingsMax is how many settings are remembered as safe. Not fewer: a run of days has
// hundreds. Not more: the nearest of them is looked for in every decision.
const safeSettingsMax = 256

// ViolationsMax steps in a row that break a constraint are too many. Not fewer: noise
// breaks one now and then. Not more: what three corrections do not mend is not
// understood.
const ViolationsMax = 3

// ProvenSettings is what a run has found to be safe by measuring: the settings whose steps broke
// no constraint, and the one that it started from. It is advice inside the hard bounds:
// it counts violations, and promises nothing. When it is full the oldest goes, except
// the first.
type ProvenSettings struct {
	settings [][]float64
	next     int
}

// Add remembers a setting; NaN marks a variable whose value is unknown.
func (k *ProvenSettings) Add(x []float64) {
	mine := make([]float64, len(x))
	copy(mine, x)
	if len(k.settings) < safeSettingsMax {
		k.settings = append(k.settings, mine)
		return
	}
	k.next = k.next%(safeSettingsMax-1) + 1
	k.settings[k.next] = mine
}

// Shrink brings x, in place, within reach (a fraction of each variable's span) of the
// nearest setting that is known to be safe, and reports which variables that changed.
// NaN is left alone, and nothing happens while nothing is known.
func (k *ProvenSettings) Shrink(x, span []float64, reach float64) (changed []bool) {
	changed = make([]bool, len(x))
	var nearest []float64
	best := math.Inf(1)
	for _, s := range k.settings {
		if d := farthest(x, s, span); d < best {
			best, nearest = d, s
		}
	}
	if nearest == nil {
		return changed
	}
	for i := range x {
		if c := clamp(x[i], nearest[i]-reach*span[i], nearest[i]+reach*span[i]); finite(nearest[i]) && c != x[i] && finite(x[i]) {
			x[i], changed[i] = c, true
		}
	}
	return changed
}

// farthest is the largest distance in any variable, as a fraction of its span.
func farthest(x, s, span []float64) (d float64) {
	for i := range x {
		if v := math.Abs(x[i]-s[i]) / span[i]; v > d {
			d = v
		}
	}
	return d
}
