package expectations

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/gpcore/watch"
)

// watcher is the watches of all terms of an expectation without random coordinates.
type watcher struct {
	s       *controlSet
	watches []*watch.Watch
	x       []float64
	offsets [][]float64 // of each term at the points, NaN before it is known; nil: it has none
}

// Watch keeps what it knows of the rows of x from one search to the next, for an
// expectation that controls every coordinate, without further observations; nil for others.
func (e *Expected) Watch(x []float64) search.Watched {
	s := e.controlSet
	if len(s.random) > 0 || slices.ContainsFunc(s.terms, func(t Term) bool { return t.Further != nil }) {
		return nil
	}
	w := &watcher{s: s, x: x}
	for i, t := range s.terms {
		var have *watch.Watch
		for j := range i {
			if s.terms[j].Process == t.Process {
				have = w.watches[j]
			}
		}
		if have == nil {
			have = watch.New(t.Process, x)
		}
		w.watches = append(w.watches, have)
		var offsets []float64
		if t.Offset != nil {
			offsets = vec.Constant(len(x)/s.d, math.NaN())
		}
		w.offsets = append(w.offsets, offsets)
	}
	return w
}

// offset is term i's at point k.
func (w *watcher) offset(i, k int) float64 {
	known := &w.offsets[i][k]
	if math.IsNaN(*known) {
		*known = w.s.terms[i].Offset(nil, w.x[k*w.s.d:(k+1)*w.s.d])
	}
	return *known
}

// Sync takes up what has changed in the processes.
func (w *watcher) Sync() {
	for i, v := range w.watches {
		if slices.Index(w.watches, v) == i { // once where terms share a process
			v.Sync()
		}
	}
}

// Values sets dst to the sum of the terms at points from..to-1.
func (w *watcher) Values(dst []float64, fork search.Objective, from, to int) {
	s := fork.(*Expected).s
	for i, v := range w.watches {
		if slices.Index(w.watches, v) == i { // once where terms share a process
			v.UpdatePart(s.readers[i], &s.watch, from, to)
		}
	}
	clear(dst)
	for i := range w.s.terms {
		t, v := &w.s.terms[i], w.watches[i]
		for k := from; k < to; k++ {
			mu, variance, prior := v.Moments(k)
			sd := deviation(variance, prior)
			if w.offsets[i] != nil {
				mu += w.offset(i, k)
			}
			if t.Of != nil {
				value, _, _ := t.Of(mu, sd)
				dst[k-from] += value
				continue
			}
			dst[k-from] += float64(t.Mean*mu) + float64(t.SD*sd)
		}
	}
}
