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
	changed := 0
	for j := range kept {
		i := j
		if removed >= 0 && j >= removed {
			i++
		}
		if w.lastNoise[i] != noise[j] {
			changed++
		}
	}
	switch {
	case changed > 0 && (removed >= 0 || is > kept || changed > maxRankOne-1):
		return false
	case is-kept > maxRankOne-1:
		return false
	case changed > 0:
		w.store.update(-1, 0)
		return w.noiseTerms(noise)
	}
	if removed >= 0 && !w.removalTerm(removed, kept) {
		return false
	}
	w.store.update(removed, is-kept)
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

// removalTerm is the term of the old observation i that is no longer there. It is what
// appending it to the kept ones, the first of the factor, would have added: with
// l = W k and s = k(x,x) + noise - |l|^2, v = (-W^T l, 1)/sqrt(s).
func (w *Watch) removalTerm(i, kept int) bool {
	f, r, d := w.m.Factor, w.reader, w.d
	r.Load(w.lastX[i*d:(i+1)*d], 1)
	w.removed = append(w.removed[:0], r.Point...)
	r.Covariances()
	clear(w.k)
	for j := range kept {
		w.k[j] = r.B[j*vec.Lanes]
	}
	t := w.addTerm()
	for row := 0; row < kept; row += vec.Rows {
		l := w.l[row : row+vec.Rows]
		vec.Dots8(l, f.W[row*f.Stride:], f.Stride, w.k[:row+vec.Rows])
		if kept-row < vec.Rows { // rows of later observations
			clear(l[kept-row:])
		}
		vec.Axpys8(t.v[:row+vec.Rows], f.W[row*f.Stride:], f.Stride, l)
	}
	s := r.Prior[0] + w.lastNoise[i] - vec.Dot(w.l[:kept], w.l[:kept])
	if !(s > 1e-9*r.Prior[0]) {
		return false
	}
	t.tau, t.c = 1/math.Sqrt(s), -1
	for j := range t.v {
		t.v[j] *= -t.tau
	}
	return true
}

// noiseTerms are those of changed noise variances: with z = K^-1 e_i of the new K, a
// change by delta is c = -delta/(1 - delta z_i). Several are undone one after the other.
func (w *Watch) noiseTerms(noise []float64) bool {
	f := w.m.Factor
	for i, v := range noise {
		delta := v - w.lastNoise[i]
		if delta == 0 {
			continue
		}
		t := w.addTerm()
		for row := i &^ (vec.Rows - 1); row < f.N; row += vec.Rows {
			l := w.l[:vec.Rows]
			for q := range l {
				l[q] = f.W[(row+q)*f.Stride+i]
			}
			vec.Axpys8(t.v[:row+vec.Rows], f.W[row*f.Stride:], f.Stride, l)
		}
		for k := range w.terms[:len(w.terms)-1] {
			o := &w.terms[k]
			vec.Axpy(t.v[:f.N], -o.c*o.v[i], o.v)
		}
		s := 1 - delta*t.v[i]
		if !(s > 1e-9) {
			return false
		}
		t.c = -delta / s
	}
	return true
}
