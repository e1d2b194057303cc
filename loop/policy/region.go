package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// region is where the settings of one control set may be in a decision.
type region struct {
	axes   []gpcore.Axis // nil for a list
	list   []float64
	screen int       // points to screen, 0: as many as the search likes
	climbs int       // likewise
	centre []float64 // of a hold; nil: none
}

// problem is the search for an objective's maximum in the region.
func (r region) problem(o gpcore.Objective) gpcore.Problem {
	return gpcore.Problem{Objective: o, Axes: r.axes, List: r.list, Screen: r.screen, Climbs: r.climbs}
}

// whole is the region that is a whole domain.
func (d *domain) whole() region { return region{axes: d.problemAxes(), list: d.list} }

// around is the part of a domain within reach of a centre, in each coordinate, and at
// least the centre's next neighbours on both sides where values are discrete; of a list
// at least the 2c+1 settings nearest to the centre, for c coordinates.
func (d *domain) around(centre, reach []float64) region {
	r := region{centre: slices.Clone(centre)}
	if d.listed() > 0 {
		r.list = d.listAround(centre, reach)
		return r
	}
	r.screen, r.climbs = 24*d.size(), 2
	r.axes = d.problemAxes()
	for j, i := range d.coords {
		a, x, w := &r.axes[j], centre[j], reach[i]
		low, high := max(x-w, 0), min(x+w, 1)
		switch {
		case len(a.Levels) > 0:
			from, to := 0, len(a.Levels)
			for from+1 < to && a.Levels[from+1] < x && a.Levels[from] < low {
				from++
			}
			for to-1 > from && a.Levels[to-2] > x && a.Levels[to-1] > high {
				to--
			}
			a.Levels = a.Levels[from:to]
		case a.Step > 0: // low and high on the grid, a step off at least
			n := math.Round((x - a.Low) / a.Step)
			m := max(1, math.Floor(w/a.Step+1e-9))
			last := math.Round((a.High - a.Low) / a.Step)
			a.Low, a.High = a.Low+max(n-m, 0)*a.Step, a.Low+min(n+m, last)*a.Step
		default:
			a.Low, a.High = max(low, a.Low), min(high, a.High)
		}
	}
	return r
}

// listAround lists the settings of a finite domain within reach.
func (d *domain) listAround(centre, reach []float64) []float64 {
	size := d.size()
	type near struct {
		k        int
		distance float64 // in units of the reach
		inside   bool
	}
	all := make([]near, d.listed())
	for k := range all {
		all[k] = near{k: k, inside: true}
		for j, i := range d.coords {
			z := (d.row(k)[j] - centre[j]) / reach[i]
			all[k].distance += z * z
			all[k].inside = all[k].inside && math.Abs(z) <= 1+1e-9
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []float64
	for rank, n := range all {
		if rank <= 2*size || n.inside {
			out = append(out, d.row(n.k)...)
		}
	}
	return out
}
