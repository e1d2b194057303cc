package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// entry is a new observation as the factor sees it.
type entry struct {
	k           []float64 // covariances with the observations held, zero-padded to up8
	prior       float64   // k(x, x)
	y, noise    float64
	scratchL, u []float64
}

// append adds an observation as the last row, O(n^2): with l = W k and
// s = k(x,x) + noise - |l|^2, the new row is (-W^T l, 1)/sqrt(s). False: s is not
// positive, nothing has changed.
func (f *factor) append(e entry) bool {
	n := f.n
	q := f.solve(e.k, e.scratchL, e.u)
	d := e.prior + e.noise
	s := d - q
	if !pivotOK(s, e.noise, d, n) {
		return false
	}
	f.commit(e, s)
	return true
}

// commit writes the new last row with pivot s from e.scratchL = W k and
// e.u = W^T W k. alpha changes by the new row times its element of b.
func (f *factor) commit(e entry, s float64) {
	n := f.n
	inv := 1 / math.Sqrt(s)
	bn := (e.y - vec.Dot(e.scratchL[:n], f.b)) * inv
	row := f.w[n*f.ld : n*f.ld+n+1]
	for j, v := range e.u[:n] {
		row[j] = -float64(v * inv)
	}
	row[n] = inv
	vec.Axpy(f.alpha[:n+1], bn, row)
	f.b[n], f.y[n], f.noise[n] = bn, e.y, e.noise
	f.n = n + 1
}
