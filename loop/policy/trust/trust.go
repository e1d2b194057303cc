// Package trust keeps the search among many variables near the best setting that is known, in a box that grows
// with success and shrinks without: a trust region (Eriksson et al., NeurIPS 2019, TuRBO). In many dimensions nearly
// all of a domain is far from every reading, and what is optimistic there is optimistic everywhere.
//
// Where the region is follows from the readings alone, in their order, judged by the present model: nothing is
// remembered, so a run that is taken up again has the same region.
package trust

import (
	"math"
	"slices"
)

// The constants of the paper, but for the gain, which there is a share of the best value: that depends on where the
// objective has its zero.
const (
	firstLength = 0.8 // of each variable's range, on average
	most        = 1.6
	least       = 1.0 / 128 // below it the search begins anew
	successes   = 3         // in a row double the region
	fewFailures = 4         // in a row, or as many as there are variables where those are more, halve it
	gain        = 1e-3      // of the readings' standard deviation: what counts as a success
)

// Region is a box around a setting.
type Region struct {
	// Best is the row that the box is around: the best since the search began anew. -1: the search is to begin anew
	// with the next step, elsewhere.
	Best int
	// Length is the box's mean side as a share of the ranges.
	Length float64
}

// After is the region after readings of so many variables. worth is what the model says of each reading's setting, in the
// order in which they were taken and in standard deviations of the readings; the first so many are of the design, which
// is neither success nor failure.
func After(worth []float64, design, variables int) Region {
	r := Region{Best: -1, Length: firstLength}
	won, lost := 0, 0
	for i, w := range worth {
		better := r.Best < 0 || w > worth[r.Best]
		if i < design {
			if better {
				r.Best = i
			}
			continue
		}
		if r.Best < 0 { // the first of a search that began anew
			r.Best = i
			continue
		}
		if w > worth[r.Best]+gain {
			won, lost = won+1, 0
		} else {
			won, lost = 0, lost+1
		}
		if better {
			r.Best = i
		}
		switch {
		case won == successes:
			r.Length, won = min(2*r.Length, most), 0
		case lost == max(fewFailures, variables):
			r.Length, lost = r.Length/2, 0
		}
		if r.Length < least {
			r, won, lost = Region{Best: -1, Length: firstLength}, 0, 0
		}
	}
	return r
}

// Reach is how far the region goes from its centre in each variable, as a share of its range: in proportion to
// the lengthscales, whose geometric mean goes half of Length far. Without lengthscales all go as far.
func (r Region) Reach(lengthscales []float64, variables int) []float64 {
	out := slices.Repeat([]float64{r.Length / 2}, variables)
	if len(lengthscales) != variables {
		return out
	}
	logs := 0.0
	for _, l := range lengthscales {
		logs += math.Log(l)
	}
	mean := math.Exp(logs / float64(variables))
	for i, l := range lengthscales {
		out[i] *= l / mean
	}
	return out
}
