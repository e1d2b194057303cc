package watch

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// rankOne is the change c (v^T k + tau k_gone)^2 of k^T K^-1 k, k_gone the covariance
// with the observation removed.
type rankOne struct {
	v      []float64
	bySlot []float64 // v by the places of the observations in the store
	tau, c float64
}

const maxRankOne = 5

// compare finds the terms between what was held and what is; false: there are too many.
func (w *Watch) compare(x, noise []float64) bool {
	d := w.d
	was, is := len(w.lastNoise), len(noise)
	same := func(i, j int) bool { return slices.Equal(w.lastX[i*d:(i+1)*d], x[j*d:(j+1)*d]) }
	stay := 0
	for stay < min(was, is) && same(stay, stay) {
		stay++
	}
	removed := -1
	kept := stay // how many of the old ones are still there
	if stay < was {
		removed = stay
		for kept+1 < was && kept < is && same(kept+1, kept) {
			kept++
		}
		if kept+1 < was {
			return false
		}
	}
	changed, came := 0, is-kept
	old := func(j int) int { // the position before of the one that is at j now
		if removed >= 0 && j >= removed {
			j++
		}
		return j
	}
	for j := range kept {
		if w.lastNoise[old(j)] != noise[j] {
			changed++
		}
	}
	switch {
	case changed > maxRankOne-1 || came > maxRankOne-1:
		return false
	case changed > 0 && changed+came+min(removed+1, 1) > maxRankOne:
		return false
	}
	// From what was to what is: one is removed, then noises change, then others come.
	if removed >= 0 {
		w.addTerm()
	}
	first := len(w.terms)
	for j := range kept {
		if delta := noise[j] - w.lastNoise[old(j)]; delta != 0 && !w.noiseTerm(j, kept, delta, first) {
			return false
		}
	}
	if removed >= 0 && !w.removalTerm(&w.terms[0], removed, kept, w.terms[first:]) {
		return false
	}
	w.store.update(removed, came)
	for j := kept; j < is; j++ {
		t := w.addTerm()
		copy(t.v, w.m.Factor.Row(j))
		t.c = 1
	}
	return true
}

// addTerm is another term, zero.
func (w *Watch) addTerm() *rankOne {
	w.terms = w.terms[:len(w.terms)+1]
	t := &w.terms[len(w.terms)-1]
	clear(t.v)
	t.tau, t.c = 0, 0
	return t
}

// removalTerm sets t to the term of the old observation i that is no longer there. It is what
// appending it to the kept ones, the first of the factor, would have added: with
// l = W k and s = k(x,x) + noise - |l|^2, v = (-W^T l, 1)/sqrt(s). Noises of the kept ones that have changed
// since are undone: each term c z z^T of K^-1 takes c z (z^T k) from W^T l, and c (z^T k)^2 from |l|^2.
func (w *Watch) removalTerm(t *rankOne, i, kept int, noises []rankOne) bool {
	f, r, d := w.m.Factor, w.reader, w.d
	r.Load(w.lastX[i*d:(i+1)*d], 1)
	w.removed = append(w.removed[:0], r.Point...)
	r.Covariances()
	clear(w.k)
	for j := range kept {
		w.k[j] = r.B[j*vec.Lanes]
	}
	for row := 0; row < kept; row += vec.Rows {
		l := w.l[row : row+vec.Rows]
		vec.Dots8(l, f.W[row*f.Stride:], f.Stride, w.k[:row+vec.Rows])
		if kept-row < vec.Rows { // rows of later observations
			clear(l[kept-row:])
		}
		vec.Axpys8(t.v[:row+vec.Rows], f.W[row*f.Stride:], f.Stride, l)
	}
	s := r.Prior[0] + w.lastNoise[i] - vec.Dot(w.l[:kept], w.l[:kept])
	for q := range noises {
		o := &noises[q]
		part := vec.Dot(o.v[:kept], w.k[:kept])
		vec.Axpy(t.v[:kept], -o.c*part, o.v)
		s += o.c * part * part
	}
	if !(s > 1e-9*r.Prior[0]) {
		return false
	}
	t.tau, t.c = 1/math.Sqrt(s), -1
	for j := range t.v {
		t.v[j] *= -t.tau
	}
	return true
}

// noiseTerm is that of a noise variance that has changed, of observation j of the kept ones: with z = K^-1 e_j of their
// new K, a change by delta is c = -delta/(1 - delta z_j). Several, from term first on, are undone one after the other.
func (w *Watch) noiseTerm(j, kept int, delta float64, first int) bool {
	f, t := w.m.Factor, w.addTerm()
	for row := j &^ (vec.Rows - 1); row < kept; row += vec.Rows {
		l := w.l[:vec.Rows]
		clear(l)
		for q := range min(vec.Rows, kept-row) {
			l[q] = f.W[(row+q)*f.Stride+j]
		}
		vec.Axpys8(t.v[:row+vec.Rows], f.W[row*f.Stride:], f.Stride, l)
	}
	for k := first; k < len(w.terms)-1; k++ {
		o := &w.terms[k]
		vec.Axpy(t.v[:kept], -o.c*o.v[j], o.v)
	}
	s := 1 - delta*t.v[j]
	if !(s > 1e-9) {
		return false
	}
	t.c = -delta / s
	return true
}
