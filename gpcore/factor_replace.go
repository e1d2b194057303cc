package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// safeNoise is the noise, relative to the prior variance, above which a pivot
// cannot lose its sign to rounding: the error of k^T K^-1 k is a small multiple of
// n*epsilon/sqrt(noise), 1e-10 at n = 1024 and this noise.
const safeNoise = 1e-7

// replace takes observation i out and appends e, in one pass over W: rows that
// are final after their rotation are folded into the new row at once, while they
// are in cache. e.k are the covariances with the observations that stay, in
// their new order. False: not positive definite, nothing has changed.
func (f *factor) replace(r *removal, i int, e entry) bool {
	n := f.n
	f.plan(r, i)
	s := 0.0
	checked := e.noise < safeNoise*e.prior
	if checked {
		s = f.pivotWithout(i, e)
		if !pivotOK(s, e.noise, e.prior+e.noise, n) {
			return false
		}
	}
	clear(e.u[:up8(n)])
	done := 0
	fold := func(upto int) {
		for ; done+vec.Rows <= upto; done += vec.Rows {
			f.fold(done, e.k, e.scratchL, e.u)
		}
	}
	fold(i)
	for k := i + 1; k < n; k += 4 {
		m := min(4, n-k)
		f.rotate(r, k, m)
		fold(k + m - 1)
	}
	f.shrink(r)
	fold(up8(n - 1))
	if !checked {
		l := e.scratchL[:n-1]
		s = max(e.prior+e.noise-vec.Dot(l, l), e.noise)
	}
	f.commit(e, s)
	return true
}

// pivotWithout is the pivot of e in the factor without observation i, found
// without changing W: with k extended by zero at i and v = W k, it is
// d - |v|^2 + (W_i . v)^2/|W_i|^2, W_i the column i. O(n^2).
func (f *factor) pivotWithout(i int, e entry) float64 {
	n := f.n
	// u serves as the extended k; it is overwritten by the caller afterwards.
	k, v := e.u, e.scratchL
	copy(k[:i], e.k[:i])
	k[i] = 0
	copy(k[i+1:n], e.k[i:n-1])
	clear(k[n:up8(n)])
	for r := 0; r < n; r += vec.Rows {
		vec.Dots8(v[r:r+8], f.w[r*f.ld:], f.ld, k[:r+8])
	}
	var dot, norm float64
	for j := i; j < n; j++ {
		c := f.w[j*f.ld+i]
		dot += float64(c * v[j])
		norm += float64(c * c)
	}
	return e.prior + e.noise - vec.Dot(v[:n], v[:n]) + dot*dot/norm
}
