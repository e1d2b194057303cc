package watch

import (
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Scratch is one worker's.
type Scratch struct {
	mean, sum, q [vec.Lanes]float64
	dots         [maxRankOne][vec.Lanes]float64
	job          panels.Panel
}

// watchRows is how many observations are taken at a time, so that their covariances with
// a panel stay in the first cache for all sums.
const watchRows = 64

// UpdatePart computes the points from..to-1, from a multiple of 24, by means of a reader: by terms of rank one
// those that were computed after the Sync before the last, the others afresh. Calls for different points may overlap.
func (w *Watch) UpdatePart(r *model.View, s *Scratch, from, to int) {
	r.Sync()
	for base := from; base < to; base += vec.Lanes {
		panel := base / vec.Lanes
		switch before := w.updated[panel]; {
		case before == w.syncs: // already
		case w.stale || before+1 != w.syncs || panel == w.nextRefresh%len(w.updated):
			w.recompute(r, s, base)
		default:
			w.updateRankOne(r, s, base)
		}
		w.updated[panel] = w.syncs
	}
}

// recompute computes a panel afresh, its embedding too: the kernel may be another.
func (w *Watch) recompute(r *model.View, s *Scratch, base int) {
	width, k := r.Eval.Width, min(vec.Lanes, w.size-base)
	r.Load(w.x[base*w.d:], k)
	copy(w.lane[base*width:(base+vec.Lanes)*width], r.Lane)
	copy(w.prior[base:base+k], r.Prior[:k])
	r.Covariances()
	w.m.Factor.Squares(s.q[:], r.B)
	copy(w.mean[base:base+k], r.Sum[:])
	copy(w.q[base:base+k], s.q[:k])
	w.store.set(base/vec.Lanes, r.B)
}

// updateRankOne updates a panel by the terms of rank one.
func (w *Watch) updateRankOne(r *model.View, s *Scratch, base int) {
	width := r.Eval.Width
	lane, k := w.lane[base*width:(base+vec.Lanes)*width], min(vec.Lanes, w.size-base)
	s.mean = [vec.Lanes]float64{}
	s.dots = [maxRankOne][vec.Lanes]float64{}
	if len(w.terms) > 0 && w.terms[0].tau != 0 {
		s.job = panels.Panel{Rows: w.removed, RowCap: 1, Lane: lane, N: 1, Out: r.B}
		r.Eval.Fill(&s.job)
		for l := range vec.Lanes {
			s.dots[0][l] = w.terms[0].tau * r.B[l]
		}
	}
	if b := w.store.kept(base / vec.Lanes); b != nil {
		w.combineStored(r, s, b, lane)
	} else {
		w.combineEvaluated(r, s, lane)
	}
	copy(w.mean[base:base+k], s.mean[:])
	for i := range w.terms {
		for l, v := range s.dots[i][:k] {
			w.q[base+l] += w.terms[i].c * v * v
		}
	}
}

// combineStored adds up the means and the terms' products with the covariances in the
// store, after those of new observations have come in.
func (w *Watch) combineStored(r *model.View, s *Scratch, all []float64, lane []float64) {
	st, c := &w.store, w.m.Points
	for i, at := range st.added {
		j := w.m.Factor.N - len(st.added) + i
		s.job = panels.Panel{Rows: c.Rows, RowCap: c.Cap, First: j, Lane: lane, N: 1, Out: all[at*vec.Lanes : (at+1)*vec.Lanes]}
		r.Eval.Fill(&s.job)
	}
	for first := 0; first < st.used; first += watchRows {
		last := min(first+watchRows, st.used)
		b := all[first*vec.Lanes : last*vec.Lanes]
		addCombined(&s.mean, s, st.alpha[first:last], b)
		for i := range w.terms {
			addCombined(&s.dots[i], s, w.terms[i].bySlot[first:last], b)
		}
	}
}

// combineEvaluated does the same where nothing is kept.
func (w *Watch) combineEvaluated(r *model.View, s *Scratch, lane []float64) {
	c, n := w.m.Points, w.m.Factor.N
	for first := 0; first < n; first += watchRows {
		last := min(first+watchRows, n)
		s.job = panels.Panel{Rows: c.Rows, RowCap: c.Cap, First: first, Lane: lane, N: last - first, Out: r.B}
		r.Eval.Fill(&s.job)
		addCombined(&s.mean, s, w.m.Factor.Alpha[first:last], r.B)
		for i := range w.terms {
			addCombined(&s.dots[i], s, w.terms[i].v[first:last], r.B)
		}
	}
}

// addCombined adds the weighted sum of the rows of a panel to 24 sums.
func addCombined(to *[vec.Lanes]float64, s *Scratch, weights, b []float64) {
	vec.Combine(s.sum[:], weights, b)
	for l, v := range &s.sum {
		to[l] += v
	}
}
