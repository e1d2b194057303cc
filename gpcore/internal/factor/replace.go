package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// safeNoise is the noise, relative to the prior variance, above which a pivot
// cannot lose its sign to rounding: the error of k^T K^-1 k is a small multiple of
// n*epsilon/sqrt(noise), 1e-10 at n = 1024 and this noise.
const safeNoise = 1e-7

// Replaceable reports whether e can replace observation i, and a lower bound or
// estimate s of its pivot. e.K are the covariances with all n observations held.
// O(n^2) where the noise is tiny, else O(1). The factor is not changed.
func (f *Factor) Replaceable(i int, e Entry) (s float64, ok bool) {
	if e.Noise >= safeNoise*e.Prior {
		return e.Noise, true
	}
	s = f.pivotWithout(i, e)
	return s, pivotOK(s, e.Noise, e.Prior+e.Noise, f.N)
}

// Replace takes observation i out and appends e, in one pass over W: rows that
// are final after their rotation are folded into the new row at once, while they
// are in cache. e and s are as for and from Replaceable; e.K is changed to the
// observations that stay, in their new order.
func (f *Factor) Replace(r *Removal, i int, e Entry, s float64) {
	n := f.N
	f.plan(r, i)
	copy(e.K[i:n-1], e.K[i+1:n])
	e.K[n-1] = 0
	clear(e.U[:vec.Up8(n)])
	done := 0
	fold := func(upto int) {
		for ; done+vec.Rows <= upto; done += vec.Rows {
			f.solveRows(done, e.K, e.ScratchL, e.U)
		}
	}
	fold(i)
	for k := i + 1; k < n; k += 4 {
		m := min(4, n-k)
		f.rotate(r, k, m)
		fold(k + m - 1)
	}
	f.shrink(r)
	fold(vec.Up8(n - 1))
	l := e.ScratchL[:n-1]
	d := e.Prior + e.Noise
	if p := d - vec.Dot(l, l); pivotOK(p, e.Noise, d, n) {
		s = p
	}
	f.Commit(e, s)
}

// pivotWithout is the pivot of e in the factor without observation i, found
// without changing W: with v = W k, the pivot with i in place plus what leaving i
// out adds to the variance, (K^-1 k)_i^2/(K^-1)_ii. Neither term cancels. O(n^2).
func (f *Factor) pivotWithout(i int, e Entry) float64 {
	n, v := f.N, e.ScratchL
	for r := 0; r < n; r += vec.Rows {
		vec.Dots8(v[r:r+8], f.W[r*f.Stride:], f.Stride, e.K[:r+8])
	}
	var dot, norm float64
	for j := i; j < n; j++ {
		c := f.W[j*f.Stride+i]
		dot = math.FMA(c, v[j], dot)
		norm = math.FMA(c, c, norm)
	}
	return e.Prior + e.Noise - vec.Dot(v[:n], v[:n]) + dot*dot/norm
}
