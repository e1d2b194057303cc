package expectations

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/gpcore/watch"
)

// watcher is the watches of all terms of an expectation without random coordinates.
type watcher struct {
	s         *controlSet
	processes []*gpcore.GP // of the terms
	watches   []*watch.Watch
	number    int // of different ones
	idle      []idleWatch
	x         []float64
	offsets   [][]float64 // of each term at the points, NaN before it is known; nil: it has none
}

// Watch keeps what it knows of points from one search to the next, for an
// expectation that controls every coordinate, without further observations; nil for others.
func (e *Expected) Watch(of search.Watching) search.Watched {
	s := e.controlSet
	if len(s.random) > 0 || slices.ContainsFunc(s.terms, func(t Term) bool { return t.Further != nil }) {
		return nil
	}
	before, _ := of.Before.(*watcher)
	if before != nil && !sameMemory(before.x, of.X) {
		before = nil
	}
	if before != nil && before.number <= of.Processes && slices.EqualFunc(before.processes, s.terms, func(p *gpcore.GP, t Term) bool { return p == t.Process }) {
		before.goOn(s)
		return before
	}
	w := &watcher{s: s, x: of.X}
	for _, t := range s.terms {
		if !slices.Contains(w.processes, t.Process) {
			w.number++
		}
		w.processes = append(w.processes, t.Process)
	}
	if w.number > of.Processes {
		return nil
	}
	for i, t := range s.terms {
		have := w.of(t.Process)
		if have == nil && before != nil {
			have = before.of(t.Process)
		}
		switch {
		case have != nil:
		case of.Lean:
			have = watch.NewLean(t.Process, of.X)
		default:
			have = watch.New(t.Process, of.X)
		}
		w.watches, w.offsets = append(w.watches, have), append(w.offsets, nil)
		w.forgetOffsets(i)
	}
	if before != nil {
		w.lay(before)
	}
	return w
}

// goOn has w watch for another expectation of the same processes.
func (w *watcher) goOn(s *controlSet) {
	w.s = s
	for i := range w.offsets {
		w.forgetOffsets(i)
	}
	w.idle = slices.DeleteFunc(w.idle, func(v idleWatch) bool { return v.searches >= mostIdleSearches })
	for i := range w.idle {
		w.idle[i].searches++
	}
}

// forgetOffsets makes term i's offsets unknown.
func (w *watcher) forgetOffsets(i int) {
	switch n := len(w.x) / w.s.d; {
	case w.s.terms[i].Offset == nil:
		w.offsets[i] = nil
	case len(w.offsets[i]) != n:
		w.offsets[i] = vec.Constant(n, math.NaN())
	default:
		for k := range w.offsets[i] {
			w.offsets[i][k] = math.NaN()
		}
	}
}

// idleWatch is the watch of a process that the terms have left.
type idleWatch struct {
	process *gpcore.GP
	*watch.Watch
	searches int // since then
}

// mostIdleSearches is for how many searches a watch is kept that the terms have left: priors come and go where their weight
// is about the least that counts. After more observations everything is computed afresh.
const mostIdleSearches = 3

// lay takes over the watches of before that are not used now.
func (w *watcher) lay(before *watcher) {
	for i, p := range before.processes {
		if w.of(p) == nil && slices.Index(before.processes, p) == i {
			w.idle = append(w.idle, idleWatch{p, before.watches[i], 1})
		}
	}
	for _, v := range before.idle {
		if v.searches++; v.searches <= mostIdleSearches && w.of(v.process) == nil {
			w.idle = append(w.idle, v)
		}
	}
}

// sameMemory reports whether two lists of points are one.
func sameMemory(a, b []float64) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// of is the watch of a process, nil where there is none yet.
func (w *watcher) of(p *gpcore.GP) *watch.Watch {
	for i, v := range w.watches {
		if w.processes[i] == p {
			return v
		}
	}
	for _, v := range w.idle {
		if v.process == p {
			return v.Watch
		}
	}
	return nil
}

// Processes implements [search.Watched].
func (w *watcher) Processes() int { return w.number }

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
		for base := from; base < to; base += vec.Lanes {
			w.addTerm(s, i, dst[base-from:min(base+vec.Lanes, to)-from], base)
		}
	}
}

// addTerm adds term i at a panel of points, from base on.
func (w *watcher) addTerm(s *scratch, i int, dst []float64, base int) {
	t, v, n := &w.s.terms[i], w.watches[i], len(dst)
	mu, sd := s.mean[:n], s.variance[:n]
	for l := range mu {
		mean, variance, prior := v.Moments(base + l)
		mu[l], sd[l] = mean, deviation(variance, prior)
		if w.offsets[i] != nil {
			mu[l] += w.offset(i, base+l)
		}
	}
	switch {
	case t.linear():
		for l := range dst {
			dst[l] += float64(t.Mean*mu[l]) + float64(t.SD*sd[l])
		}
	case t.Values != nil:
		value := s.sum[:n]
		t.Values(value, mu, sd)
		for l, v := range value {
			dst[l] += v
		}
	default:
		for l := range dst {
			value, _, _ := t.Of(mu[l], sd[l])
			dst[l] += value
		}
	}
}
