package policy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// The hold's box where it goes by the lengthscales: at its corners an objective with
// that lengthscale has lost 3% of its height. leastHold and mostHold bound it, in
// fractions of the range: else nothing is seen, or it is no hold.
const (
	holdLengthscales = 0.17
	leastHold        = 0.005
	mostHold         = 0.1
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

// region is where a control set is searched.
func (d *decision) region(set int) region {
	if r, restricted := d.regions[set]; restricted {
		return r
	}
	return d.domains[set].whole()
}

// holdRegions restricts the decision to boxes around the incumbents: for each control
// set the setting with the greatest
//
//	E[ mean - alpha * noise variance ]
//
// at the present, within reach of where the hold has been (of the whole domain when it
// begins). Where the latest readings are in doubt, the hold stays where it was.
func (d *decision) holdRegions() error {
	reach := d.track.widths(d.model)
	terms := append(d.model.belief().linear(1, 0), d.riskTerms(0)...)
	objectives, err := d.expectations(terms)
	if err != nil {
		return err
	}
	var moving []option
	for i, set := range d.sets {
		dom, anchor := d.domains[set], d.anchor(set)
		switch {
		case anchor == nil:
			r := dom.whole()
			if r.list == nil {
				// The mean falls off to the prior's away from the observations, so its
				// maxima are near the best of them, where the search starts anyway.
				r.screen, r.climbs = 48, 4
			}
			d.regions[set] = r
		case d.track.doubting():
			d.regions[set] = dom.around(anchor, slices.Repeat([]float64{leastHold}, len(reach)))
			continue
		default:
			d.regions[set] = dom.around(anchor, reach)
		}
		moving = append(moving, option{set: set, objective: d.lessKnownRisk(objectives[i], set)})
	}
	if len(moving) == 0 {
		return nil
	}
	found, err := d.search(moving, math.Inf(1))
	if err != nil {
		return err
	}
	for i, o := range moving {
		d.regions[o.set] = d.domains[o.set].around(found[i].X, reach)
	}
	return nil
}

// heldPoint is, while a control set is held, the setting within the hold's reach with the
// greatest lower bound, by which recommendations are ranked; nil while it is not, and
// where steps failed there. The readings surround it, so it is known better than where
// they were taken.
func (e *engine) heldPoint(set int) ([]float64, error) {
	if !e.track.holding(e.seen + 1) {
		return nil, nil
	}
	anchor := e.anchor(set)
	if anchor == nil {
		return nil, nil
	}
	d := e.domains[set]
	terms := append(e.model.belief().linear(1, -e.spec.Beta), e.riskTerms(-e.spec.Beta)...)
	c, err := gpcore.NewExpected(terms, e.around.inputs(d, e.seen+1))
	if err != nil {
		return nil, err
	}
	r := d.around(anchor, e.track.widths(e.model))
	m, err := gpcore.Maximize(context.Background(), r.problem(e.lessKnownRisk(c, set)),
		gpcore.Options{Seed: stream(e.spec.Seed, forScreening, e.seen+1).Uint64()})
	if err != nil || e.votes[set].unreliable(m.X) {
		return nil, err
	}
	d.settle(m.X)
	return m.X, nil
}

// anchor is where a hold has been: the mean of the settings of the last steps of this
// control set that were held, nil before the first. The incumbent moves within reach of
// it, so that steps stay small and a run of odd readings takes it nowhere.
func (e *engine) anchor(set int) []float64 {
	const last = 10
	d := e.domains[set]
	at, x := make([]float64, d.size()), make([]float64, d.size())
	n := 0.0
	rows := e.model.data.rows
	for i := len(rows) - 1; i >= 0 && n < last && e.track.holding(rows[i].step); i-- {
		if rows[i].set != set {
			continue
		}
		n++
		d.project(x, rows[i].x)
		for j, v := range x {
			at[j] += (v - at[j]) / n
		}
	}
	if n == 0 {
		return nil
	}
	return at
}

// widths is how far a hold reaches from its centre, per variable, as a fraction of its
// range: Spec.Drift.Hold, or for d variables
//
//	holdLengthscales lengthscale sqrt(2/d),
//
// so that a corner of the box is as far from its centre, in lengthscales, whatever d is.
func (t *tracker) widths(m *model) []float64 {
	if t.reach > 0 {
		return slices.Repeat([]float64{t.reach}, m.dims)
	}
	out := slices.Repeat([]float64{mostHold}, m.dims)
	_, lengthscales := describeKernel(m.belief().likeliest().gp.Kernel())
	if len(lengthscales) == m.dims {
		for i, l := range lengthscales {
			out[i] = min(max(holdLengthscales*math.Sqrt(2/float64(m.dims))*l, leastHold), mostHold)
		}
	}
	return out
}

// likeliest is the component with the greatest weight.
func (v view) likeliest() component {
	return slices.MaxFunc(v, func(a, b component) int { return cmp.Compare(a.weight, b.weight) })
}

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
