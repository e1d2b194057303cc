package optimum

import (
	"cmp"
	"math"
	"slices"
)

// The search for the greatest value over a box: a lattice of starts beside the
// model's landmarks, a local search from the best of them, and for expectations a
// second one, with all nodes, from the best of those.
const (
	searchStarts    = 4096 // a power of two, as the lattice wants
	searchCoarse    = 512  // where a value is an average over nodes
	searchPolish    = 16
	searchFinal     = 3
	searchFinalists = 48 // of a list of points
	searchApart     = 0.1
	searchStep      = 0.1
	searchNear      = 1e-3 // where a likeness is polished no further
	searchEnd       = 1e-5
)

// start is a point and its value.
type start struct {
	u     []float64
	value float64
}

// best returns the best point of a control set's domain and its value; nil if it
// has a value nowhere. Coordinates of random variables mean nothing.
func (j *judge) best(set int) ([]float64, float64) {
	var axes []int
	random := false
	for i, controlled := range j.sets[set] {
		switch {
		case j.plant.Axes[i].Idle:
		case controlled:
			axes = append(axes, i)
		default:
			random = random || j.plant.Axes[i].Quantile != nil
		}
	}
	fine := j.fine[set]()
	if !random {
		return j.alongEdge(axes, fine)(j.search(axes, searchStarts, fine, nil))
	}
	coarse := fine
	starts := searchStarts
	if j.plant.Average == nil || j.query.Formula != nil || len(j.query.Bounds) > 0 {
		coarse, starts = j.expectation(set, coarseNodes), searchCoarse
	}
	return j.alongEdge(axes, fine)(j.search(axes, starts, coarse, fine))
}

// span returns the greatest minus the least value over the whole domain.
func (j *judge) span() float64 {
	var axes []int
	for i, a := range j.plant.Axes {
		if !a.Idle {
			axes = append(axes, i)
		}
	}
	value := func(u []float64) float64 {
		w := slices.Clone(u)
		j.roundToDevice(w)
		return j.point(w)
	}
	_, high := j.search(axes, searchStarts, value, nil)
	_, low := j.search(axes, searchStarts, func(u []float64) float64 { return -value(u) }, nil)
	return high + low
}

// search returns the best point over the given axes and its value, nil if no
// point has one. If fine is not nil, value is a cheap likeness of it, and the
// point is the best by fine.
func (j *judge) search(axes []int, count int, value, fine func(u []float64) float64) ([]float64, float64) {
	found := j.rank(j.starts(axes, count), value)
	if j.finite() {
		if fine != nil {
			found = j.rank(found[:min(len(found), searchFinalists)], fine)
		}
	} else if fine == nil {
		found = j.climb(spread(found, searchPolish), axes, value, [2]float64{searchStep, searchEnd})
	} else {
		found = j.climb(spread(found, searchPolish), axes, value, [2]float64{searchStep, searchNear})
		found = j.climb(j.rank(spread(found, searchFinal), fine), axes, fine, [2]float64{10 * searchNear, searchEnd})
	}
	if len(found) == 0 {
		return nil, math.Inf(-1)
	}
	return found[0].u, found[0].value
}

// finite reports whether the domain is a list of points: candidates, or all that the plant knows.
func (j *judge) finite() bool { return len(j.candidates) > 0 || j.plant.Snap != nil }

// starts returns the points to begin from: the whole domain if it is finite, else
// a lattice of count points over the axes, and the model's landmarks.
func (j *judge) starts(axes []int, count int) []start {
	if len(j.candidates) > 0 {
		return points(j.candidates)
	}
	marks := points(j.plant.Landmarks())
	if j.finite() {
		return marks
	}
	for _, m := range marks {
		for i := range m.u {
			m.u[i] = min(max(m.u[i], 0), 1)
		}
	}
	if len(axes) == 0 {
		count = 1
	}
	for _, on := range spreadOut(count, len(axes)) {
		u := slices.Repeat([]float64{0.5}, j.dim())
		for k, i := range axes {
			u[i] = on[k]
		}
		marks = append(marks, start{u: u})
	}
	return marks
}

func points(rows [][]float64) []start {
	starts := make([]start, len(rows))
	for i, row := range rows {
		starts[i].u = slices.Clone(row)
	}
	return starts
}

// rank values the points and returns those that have one, best first.
func (j *judge) rank(starts []start, value func(u []float64) float64) []start {
	kept := make([]start, 0, len(starts))
	for _, s := range starts {
		if j.ctx.Err() != nil {
			return nil
		}
		if s.value = value(s.u); !math.IsNaN(s.value) {
			kept = append(kept, s)
		}
	}
	sortStarts(kept)
	return kept
}

func sortStarts(s []start) {
	slices.SortStableFunc(s, func(a, b start) int { return cmp.Compare(b.value, a.value) })
}

// spread returns the best n of ranked points of which no two are within
// searchApart of each other on every axis.
func spread(ranked []start, n int) []start {
	var kept []start
	for _, s := range ranked {
		if len(kept) == n {
			break
		}
		if !slices.ContainsFunc(kept, func(k start) bool { return near(k.u, s.u) }) {
			kept = append(kept, s)
		}
	}
	return kept
}

func near(a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > searchApart {
			return false
		}
	}
	return true
}

// climb improves every point by itself, with steps from the first to the second,
// and ranks them anew.
func (j *judge) climb(from []start, axes []int, value func(u []float64) float64, steps [2]float64) []start {
	for i := range from {
		j.polish(&from[i], axes, value, steps)
	}
	sortStarts(from)
	return from
}

// polish climbs from s by pattern search (Hooke and Jeeves, J. ACM 8, 212, 1961):
// probe each axis both ways, then repeat the joint move while it pays, and halve
// the step where nothing does.
func (j *judge) polish(s *start, axes []int, value func(u []float64) float64, steps [2]float64) {
	try := func(u []float64) bool {
		if v := value(u); v > s.value {
			s.u, s.value = u, v
			return true
		}
		return false
	}
	for step := steps[0]; step > steps[1]; {
		before := s.u
		if j.ctx.Err() != nil {
			return
		}
		for _, i := range axes {
			for _, way := range []float64{1, -1} {
				u := slices.Clone(s.u)
				u[i] = min(max(u[i]+way*max(step, j.plant.Axes[i].Gap), 0), 1)
				if try(u) {
					break
				}
			}
		}
		if &before[0] == &s.u[0] { // nothing paid
			step /= 2
			continue
		}
		from := s.u
		for joint := true; joint; {
			u := slices.Clone(s.u)
			for i := range u {
				u[i] = min(max(u[i]+from[i]-before[i], 0), 1)
			}
			joint = try(u)
		}
	}
}
