package gpcore

import "slices"

// watcher is the watches of all terms of an expectation without random coordinates.
type watcher struct {
	s       *setting
	watches []*Watch
	offsets [][]float64 // of each term at the points; nil: it has none
}

func (s *setting) watchable() bool { return len(s.random) == 0 }

// watcher watches points for every process of the terms.
func (s *setting) watcher(x []float64) *watcher {
	w := &watcher{s: s}
	for i, t := range s.terms {
		var have *Watch
		for j := range i {
			if s.terms[j].Process == t.Process {
				have = w.watches[j]
			}
		}
		if have == nil {
			have = t.Process.Watch(x)
		}
		w.watches = append(w.watches, have)
		var offsets []float64
		if t.Offset != nil {
			for k := 0; k < len(x); k += s.d {
				offsets = append(offsets, t.Offset(nil, x[k:k+s.d]))
			}
		}
		w.offsets = append(w.offsets, offsets)
	}
	return w
}

func (w *watcher) sync() {
	for i, v := range w.watches {
		if slices.Index(w.watches, v) == i { // once where terms share a process
			v.sync()
		}
	}
}

func (w *watcher) update(s *expectScratch, from, to int) {
	for i, v := range w.watches {
		if slices.Index(w.watches, v) == i {
			v.update(s.readers[i], &s.watch, from, to)
		}
	}
}

// values sets dst to the sum of the terms at points from..to-1.
func (w *watcher) values(dst []float64, from, to int) {
	clear(dst)
	for i := range w.s.terms {
		t, v := &w.s.terms[i], w.watches[i]
		for k := from; k < to; k++ {
			sd := deviation(v.variance(k), v.prio[k])
			mu := v.mean[k]
			if w.offsets[i] != nil {
				mu += w.offsets[i][k]
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
