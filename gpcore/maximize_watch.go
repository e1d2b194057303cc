package gpcore

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Watch keeps the posterior at fixed points up to date while the process changes. Each
// observation that comes, goes or changes its noise changes K^-1 by a term of rank one,
// c v v^T, and so a point's k^T K^-1 k by c (v^T k)^2: O(n) a point instead of O(n^2).
// Means are taken from alpha, also O(n).
//
// After few changes since the last update it takes this way: up to four observations
// appended and at most one removed, or up to four noise variances changed; targets do
// not count. After others everything is computed afresh. One panel of 24 points is
// computed afresh at each update in any case, so rounding errors do not pile up.
//
// Covariances of the points with the observations are kept as long as these stay, where
// they take no more than 64 MiB; else they are evaluated at each update.
type Watch struct {
	m    *model.Model
	d    int
	x    []float64 // m x d
	lane []float64 // embedded, [panel][width][24]
	size int       // number of points
	mean []float64
	q    []float64 // k^T K^-1 k
	prio []float64 // k(x, x)
	vari []float64 // what Update returns

	ready   bool
	fresh   bool // everything must be computed afresh
	version uint64
	turn    int       // panel to compute afresh
	held    []float64 // points of the process at the last sync
	noise   []float64
	terms   []rankOne
	gone    []float64 // embedding of the observation removed
	k, l    []float64
	store   covariances
	reader  *model.View
	own     watchScratch
}

// watchScratch is one worker's.
type watchScratch struct {
	mean, sum, q [vec.Lanes]float64
	dots         [maxRankOne][vec.Lanes]float64
	job          panels.Panel
}

// rankOne is the change c (v^T k + tau k_gone)^2 of k^T K^-1 k, k_gone the covariance
// with the observation removed.
type rankOne struct {
	v      []float64
	placed []float64 // v by the places of the observations in the store
	tau, c float64
}

const maxRankOne = 5

// NewWatch makes a watch of g at the rows of x, d coordinates each. It takes 8(d+4) bytes a point
// and some 100 Cap, and, where that is no more than 64 MiB, 8 Cap a point; nothing is
// computed before the first Update.
func NewWatch(g *GP, x []float64) *Watch {
	d := g.Dim()
	if len(x)%d != 0 {
		panic("gpcore: a watch needs d coordinates for each point")
	}
	m, n := len(x)/d, vec.Up24(g.Cap())
	w := &Watch{m: g.m, d: d, x: slices.Clone(x), size: m, reader: model.NewView(g.m)}
	v := make([]float64, 3*m+(2+2*maxRankOne)*n)
	cut := func(k int) []float64 {
		s := v[:k:k]
		v = v[k:]
		return s
	}
	w.mean, w.q, w.prio, w.k, w.l = cut(m), cut(m), cut(m), cut(n), cut(n)
	w.terms = make([]rankOne, maxRankOne)
	for i := range w.terms {
		w.terms[i].v, w.terms[i].placed = cut(n), cut(n)
	}
	w.terms = w.terms[:0]
	w.store = newCovariances((m+vec.Lanes-1)/vec.Lanes, g.Cap())
	return w
}

// Update takes up the process as it is and returns posterior means and variances of f
// at the points; they are valid until the next Update.
func (w *Watch) Update() (mean, variance []float64) {
	w.sync()
	w.update(w.reader, &w.own, 0, w.size)
	w.vari = vec.Grown(w.vari, w.size)
	for i := range w.vari {
		w.vari[i] = w.variance(i)
	}
	return w.mean, w.vari
}

func (w *Watch) variance(i int) float64 { return max(w.prio[i]-w.q[i], 0) }

// sync finds out what has changed and prepares the terms of rank one.
func (w *Watch) sync() {
	f := w.m.Factor
	n, x := f.N, w.m.Points.X[:f.N*w.d]
	w.reader.Follow()
	w.terms = w.terms[:0]
	if !w.ready || w.version != w.m.Version {
		w.embed()
		w.fresh = true
	} else {
		w.fresh = !w.compare(x, f.Noise[:n])
		w.turn++
	}
	if w.fresh {
		w.store.refill(n)
	}
	w.store.place(f.Alpha[:n], w.terms)
	w.ready, w.version = true, w.m.Version
	w.held, w.noise = append(w.held[:0], x...), append(w.noise[:0], f.Noise[:n]...)
}

// embed makes the lanes for a new kernel.
func (w *Watch) embed() {
	r, d := w.reader, w.d
	width := r.Eval.Width
	w.lane = vec.Grown(w.lane, vec.Up24(w.size)*width)
	for base := 0; base < w.size; base += vec.Lanes {
		k := min(vec.Lanes, w.size-base)
		r.Load(w.x[base*d:], k)
		copy(w.lane[base*width:(base+vec.Lanes)*width], r.Lane)
		copy(w.prio[base:base+k], r.Prior[:k])
	}
}

// compare finds the terms between what was held and what is; false: there are too many.
func (w *Watch) compare(x, noise []float64) bool {
	d := w.d
	was, is := len(w.noise), len(noise)
	same := func(i, j int) bool { return slices.Equal(w.held[i*d:(i+1)*d], x[j*d:(j+1)*d]) }
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
		if w.noise[i] != noise[j] {
			changed++
		}
	}
	switch {
	case changed > 0 && (removed >= 0 || is > kept || changed > maxRankOne-1):
		return false
	case is-kept > maxRankOne-1:
		return false
	case changed > 0:
		w.store.follow(-1, 0)
		return w.noiseTerms(noise)
	}
	if removed >= 0 && !w.removalTerm(removed, kept) {
		return false
	}
	w.store.follow(removed, is-kept)
	for j := kept; j < is; j++ {
		t := w.next()
		copy(t.v, w.m.Factor.Row(j))
		t.c = 1
	}
	return true
}

// next is another term, zero.
func (w *Watch) next() *rankOne {
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
	r.Load(w.held[i*d:(i+1)*d], 1)
	w.gone = append(w.gone[:0], r.Point...)
	r.Covariances()
	clear(w.k)
	for j := range kept {
		w.k[j] = r.B[j*vec.Lanes]
	}
	t := w.next()
	for row := 0; row < kept; row += vec.Rows {
		l := w.l[row : row+vec.Rows]
		vec.Dots8(l, f.W[row*f.Stride:], f.Stride, w.k[:row+vec.Rows])
		if kept-row < vec.Rows { // rows of later observations
			clear(l[kept-row:])
		}
		vec.Axpys8(t.v[:row+vec.Rows], f.W[row*f.Stride:], f.Stride, l)
	}
	s := r.Prior[0] + w.noise[i] - vec.Dot(w.l[:kept], w.l[:kept])
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
		delta := v - w.noise[i]
		if delta == 0 {
			continue
		}
		t := w.next()
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

// watchRows is how many observations are taken at a time, so that their covariances with
// a panel stay in the first cache for all sums.
const watchRows = 64

// update computes the points from..to-1, from a multiple of 24, by means of a reader.
func (w *Watch) update(r *model.View, s *watchScratch, from, to int) {
	r.Follow()
	panels := (w.size + vec.Lanes - 1) / vec.Lanes
	for base := from; base < to; base += vec.Lanes {
		if w.fresh || base/vec.Lanes == w.turn%panels {
			w.afresh(r, s, base)
			continue
		}
		w.follow(r, s, base)
	}
}

func (w *Watch) afresh(r *model.View, s *watchScratch, base int) {
	width, k := r.Eval.Width, min(vec.Lanes, w.size-base)
	copy(r.Lane, w.lane[base*width:(base+vec.Lanes)*width])
	r.Covariances()
	w.m.Factor.Squares(s.q[:], r.B)
	copy(w.mean[base:base+k], r.Sum[:])
	copy(w.q[base:base+k], s.q[:k])
	w.store.take(base/vec.Lanes, r.B)
}

// follow updates a panel by the terms of rank one.
func (w *Watch) follow(r *model.View, s *watchScratch, base int) {
	width := r.Eval.Width
	lane, k := w.lane[base*width:(base+vec.Lanes)*width], min(vec.Lanes, w.size-base)
	s.mean = [vec.Lanes]float64{}
	s.dots = [maxRankOne][vec.Lanes]float64{}
	if len(w.terms) > 0 && w.terms[0].tau != 0 {
		s.job = panels.Panel{Rows: w.gone, RowCap: 1, Lane: lane, N: 1, Out: r.B}
		r.Eval.Fill(&s.job)
		for l := range vec.Lanes {
			s.dots[0][l] = w.terms[0].tau * r.B[l]
		}
	}
	if w.store.kept != nil {
		w.combineKept(r, s, base, lane)
	} else {
		w.combineAnew(r, s, lane)
	}
	copy(w.mean[base:base+k], s.mean[:])
	for i := range w.terms {
		for l, v := range s.dots[i][:k] {
			w.q[base+l] += w.terms[i].c * v * v
		}
	}
}

// combineKept adds up the means and the terms' products with the covariances in the
// store, after those of new observations have come in.
func (w *Watch) combineKept(r *model.View, s *watchScratch, base int, lane []float64) {
	st, c := &w.store, w.m.Points
	all := st.panel(base / vec.Lanes)
	for i, at := range st.newcomers {
		j := w.m.Factor.N - len(st.newcomers) + i
		s.job = panels.Panel{Rows: c.Rows, RowCap: c.Cap, First: j, Lane: lane, N: 1, Out: all[at*vec.Lanes : (at+1)*vec.Lanes]}
		r.Eval.Fill(&s.job)
	}
	for first := 0; first < st.used; first += watchRows {
		last := min(first+watchRows, st.used)
		b := all[first*vec.Lanes : last*vec.Lanes]
		addCombined(&s.mean, s, st.alpha[first:last], b)
		for i := range w.terms {
			addCombined(&s.dots[i], s, w.terms[i].placed[first:last], b)
		}
	}
}

// combineAnew does the same where nothing is kept.
func (w *Watch) combineAnew(r *model.View, s *watchScratch, lane []float64) {
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
func addCombined(to *[vec.Lanes]float64, s *watchScratch, weights, b []float64) {
	vec.Combine(s.sum[:], weights, b)
	for l, v := range &s.sum {
		to[l] += v
	}
}
