package space

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
)

// Region is where the settings of one control set may be in a decision.
type Region struct {
	Axes   []search.Axis // nil for a list
	List   []float64
	Screen int       // points to screen, 0: as many as the search likes
	Climbs int       // likewise
	Centre []float64 // of a hold; nil: none
}

// Problem is the search for an objective's maximum in the region.
func (r Region) Problem(o search.Objective) search.Problem {
	return search.Problem{Objective: o, Axes: r.Axes, List: r.List, Screen: r.Screen, Climbs: r.Climbs}
}

// Whole is the region that is a whole domain.
func (d *Domain) Whole() Region { return Region{Axes: d.ProblemAxes(), List: d.List} }

// Around is the part of a domain within reach of a centre, in each coordinate, and at
// least the centre's next neighbours on both sides where values are discrete; of a list
// at least the 2c+1 settings nearest to the centre, for c coordinates. A centre outside of
// the domain, such as a setting that was measured before the ranges were narrowed, counts as
// the nearest one inside.
func (d *Domain) Around(centre, reach []float64) Region {
	r := Region{Centre: slices.Clone(centre)}
	for j, x := range r.Centre {
		r.Centre[j] = min(max(x, 0), 1)
	}
	if d.Listed() > 0 {
		r.List = d.listAround(r.Centre, reach)
		return r
	}
	r.Screen, r.Climbs = 24*d.Size(), 2
	r.Axes = slices.Clone(d.ProblemAxes())
	for j, i := range d.Coords {
		a, x, w := &r.Axes[j], r.Centre[j], reach[i]
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
func (d *Domain) listAround(centre, reach []float64) []float64 {
	size := d.Size()
	type near struct {
		k        int
		distance float64 // in units of the reach
		inside   bool
	}
	all := make([]near, d.Listed())
	for k := range all {
		all[k] = near{k: k, inside: true}
		for j, i := range d.Coords {
			z := (d.Row(k)[j] - centre[j]) / reach[i]
			all[k].distance += z * z
			all[k].inside = all[k].inside && math.Abs(z) <= 1+1e-9
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []float64
	for rank, n := range all {
		if rank <= 2*size || n.inside {
			out = append(out, d.Row(n.k)...)
		}
	}
	return out
}
