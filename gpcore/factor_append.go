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

// pivot sets e.scratchL = W k and e.u = W^T W k, O(n^2), and returns the square of
// the new diagonal element of L, s = k(x,x) + noise - |W k|^2. False: it is not
// positive. The factor is not changed.
func (f *factor) pivot(e entry) (s float64, ok bool) {
	d := e.prior + e.noise
	s = d - f.solve(e.k, e.scratchL, e.u)
	return s, pivotOK(s, e.noise, d, f.n)
}

// commit appends the observation as the last row, (-W^T l, 1)/sqrt(s), with pivot
// s, l = e.scratchL = W k and e.u = W^T l. alpha changes by the new row times its
// element of b. O(n).
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
	for j, v := range row[:n] {
		f.inv[j] = math.FMA(v, v, f.inv[j])
	}
	f.inv[n] = inv * inv
	f.b[n], f.y[n], f.noise[n] = bn, e.y, e.noise
	f.n = n + 1
}
