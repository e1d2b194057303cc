package watch

import (
	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Watch keeps the posterior at fixed points up to date while the process changes. Each
// observation that comes, goes or changes its noise changes K^-1 by a term of rank one,
// c v v^T, and so a point's k^T K^-1 k by c (v^T k)^2: O(n) a point instead of O(n^2).
// Means are taken from alpha, also O(n).
//
// After few changes since the last update it takes this way: up to four observations
// appended, at most one removed, up to four noise variances changed, and five of these together where noises are
// among them; targets do not count. After others everything is computed afresh, and so are points that the last update
// did not come to. One panel of 24 points is
// computed afresh at each update in any case, so rounding errors do not pile up.
//
// Covariances of the points with the observations are kept as long as these stay, those of
// the first points up to 32 MiB; the others are evaluated at each update.
type Watch struct {
	m         *model.Model
	d         int
	x         []float64 // m x d
	lane      []float64 // embedded, [panel][width][24]
	size      int       // number of points
	mean      []float64
	q         []float64 // k^T K^-1 k
	prior     []float64 // k(x, x)
	variances []float64 // what Update returns

	syncs       uint64   // how often the process was looked at
	updated     []uint64 // the sync that each panel was last updated after, 0: none
	stale       bool     // everything must be computed afresh
	version     uint64
	nextRefresh int       // panel to compute afresh
	lastX       []float64 // points of the process at the last sync
	lastNoise   []float64
	terms       []rankOne
	removed     []float64 // embedding of the observation removed
	k, l        []float64
	store       covariances
	reader      *model.View
	scratch     Scratch
}

// New makes a watch of g at the rows of x, d coordinates each. It takes 8(d+4) bytes a point
// and some 100 Cap, and, for the first 32 MiB, 8 Cap a point once it is updated; nothing is
// computed before the first Update. x is not copied: from when points are first computed on they must stay.
func New(g *gpcore.GP, x []float64) *Watch { return newWatch(g, x, maxStored) }

// NewLean is New with a quarter of the memory for covariances, 8 MiB. Those of the points that are left are evaluated at
// each update: still O(n) a point, of the kernel's values in place of multiplications.
func NewLean(g *gpcore.GP, x []float64) *Watch { return newWatch(g, x, maxStored/4) }

// newWatch makes a watch that keeps so many covariances.
func newWatch(g *gpcore.GP, x []float64, stored int) *Watch {
	d := g.Dim()
	if len(x)%d != 0 {
		panic("gpcore: a watch needs d coordinates for each point")
	}
	m, n := len(x)/d, vec.Up24(g.Cap())
	w := &Watch{m: g.Model(), d: d, x: x, size: m, reader: model.NewView(g.Model())}
	v := make([]float64, 3*m+(2+2*maxRankOne)*n)
	cut := func(k int) []float64 {
		s := v[:k:k]
		v = v[k:]
		return s
	}
	w.mean, w.q, w.prior, w.k, w.l = cut(m), cut(m), cut(m), cut(n), cut(n)
	w.terms = make([]rankOne, maxRankOne)
	for i := range w.terms {
		w.terms[i].v, w.terms[i].bySlot = cut(n), cut(n)
	}
	w.terms = w.terms[:0]
	panels := (m + vec.Lanes - 1) / vec.Lanes
	w.store, w.updated = newCovariances(panels, g.Cap(), stored), make([]uint64, panels)
	return w
}

// Update takes up the process as it is and returns posterior means and variances of f
// at the points; they are valid until the next Update.
func (w *Watch) Update() (mean, variance []float64) {
	w.Sync()
	w.UpdatePart(w.reader, &w.scratch, 0, w.size)
	w.variances = vec.Grown(w.variances, w.size)
	for i := range w.variances {
		w.variances[i] = w.variance(i)
	}
	return w.mean, w.variances
}

func (w *Watch) variance(i int) float64 { return max(w.prior[i]-w.q[i], 0) }

// Moments are the posterior mean and variance at point i, as last updated, and k(x, x).
func (w *Watch) Moments(i int) (mean, variance, prior float64) {
	return w.mean[i], w.variance(i), w.prior[i]
}

// Sync finds out what has changed and prepares the terms of rank one.
func (w *Watch) Sync() {
	f := w.m.Factor
	n, x := f.N, w.m.Points.X[:f.N*w.d]
	w.reader.Sync()
	w.terms = w.terms[:0]
	if w.syncs == 0 || w.version != w.m.Version {
		w.lane, w.stale = vec.Grown(w.lane, vec.Up24(w.size)*w.reader.Eval.Width), true
	} else {
		w.stale = !w.compare(x, f.Noise[:n])
		w.nextRefresh++
	}
	if w.stale {
		w.store.refill(n)
	}
	w.store.orderBySlot(f.Alpha[:n], w.terms)
	w.syncs, w.version = w.syncs+1, w.m.Version
	w.lastX, w.lastNoise = append(w.lastX[:0], x...), append(w.lastNoise[:0], f.Noise[:n]...)
}
