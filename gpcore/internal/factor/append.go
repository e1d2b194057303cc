package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Entry is a new observation as the factor sees it.
type Entry struct {
	K           []float64 // covariances with the observations held, zero-padded to up8
	Prior       float64   // k(x, x)
	Y, Noise    float64
	ScratchL, U []float64
}

// Pivot sets e.ScratchL = W k and e.U = W^T W k, O(n^2), and returns the square of
// the new diagonal element of L, s = k(x,x) + noise - |W k|^2. False: it is not
// positive. The factor is not changed.
func (f *Factor) Pivot(e Entry) (s float64, ok bool) {
	d := e.Prior + e.Noise
	s = d - f.Solve(e.K, e.ScratchL, e.U)
	return s, pivotOK(s, e.Noise, d, f.N)
}

// Commit appends the observation as the last row, (-W^T l, 1)/sqrt(s), with pivot
// s, l = e.ScratchL = W k and e.U = W^T l. alpha changes by the new row times its
// element of b. O(n).
func (f *Factor) Commit(e Entry, s float64) {
	n := f.N
	f.Reserve(n + 1)
	inv := 1 / math.Sqrt(s)
	bn := (e.Y - vec.Dot(e.ScratchL[:n], f.B)) * inv
	row := f.W[n*f.Stride : n*f.Stride+n+1]
	for j, v := range e.U[:n] {
		row[j] = -float64(v * inv)
	}
	row[n] = inv
	vec.Axpy(f.Alpha[:n+1], bn, row)
	for j, v := range row[:n] {
		f.Inv[j] = math.FMA(v, v, f.Inv[j])
	}
	f.Inv[n] = inv * inv
	f.B[n], f.Y[n], f.Noise[n] = bn, e.Y, e.Noise
	f.N = n + 1
}
