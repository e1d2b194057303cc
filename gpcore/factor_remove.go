package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// removal are the rotations that take observation i out of the factor. The
// carried row starts as row i of W and ends as t = K^-1 e_i / sqrt((K^-1)_ii);
// the rows below move up by one, each rotated with the carried row so that their
// column i vanishes. All coefficients follow from column i alone.
type removal struct {
	i  int
	cs []float64 // 2 per row below i
	t  []float64 // carried row, without column i
}

// plan computes the coefficients for removing i. It reads W and writes only r.
func (f *factor) plan(r *removal, i int) {
	r.i = i
	tau := f.w[i*f.ld+i]
	q := tau * tau
	for k := i + 1; k < f.n; k++ {
		v := f.w[k*f.ld+i]
		q = math.FMA(v, v, q)
		rho := math.Sqrt(q)
		inv := 1 / rho
		r.cs[2*(k-i-1)] = v * inv
		r.cs[2*(k-i-1)+1] = tau * inv
		tau = rho
	}
	clear(r.t[:vec.Up8(f.n)])
	copy(r.t[:i], f.w[i*f.ld:i*f.ld+i])
}

// rotate moves rows k..k+m-1 up by one, rotated with the carried row.
func (f *factor) rotate(r *removal, k, m int) {
	i, ld := r.i, f.ld
	cs := r.cs[2*(k-i-1) : 2*(k-i-1+m)]
	// Columns before i keep their place; columns after i move left by one.
	vec.Rotate(r.t[:i], f.w[(k-1)*ld:], f.w[k*ld:], ld, cs)
	last := k + m - 1
	vec.Rotate(r.t[i:last], f.w[(k-1)*ld+i:], f.w[k*ld+i+1:], ld, cs)
}

// shrink closes the gap in b, alpha, y and noise after all rows have been
// rotated, and clears the last row.
func (f *factor) shrink(r *removal) {
	i, n := r.i, f.n
	tb := f.b[i]
	for k := i + 1; k < n; k++ {
		c, s := r.cs[2*(k-i-1)], r.cs[2*(k-i-1)+1]
		bk := f.b[k]
		f.b[k-1] = math.FMA(-c, tb, float64(s*bk))
		tb = math.FMA(s, tb, float64(c*bk))
	}
	f.b[n-1] = 0
	clear(f.w[(n-1)*f.ld : (n-1)*f.ld+n])
	copy(f.alpha[i:n-1], f.alpha[i+1:n])
	f.alpha[n-1] = 0
	copy(f.y[i:n-1], f.y[i+1:n])
	copy(f.noise[i:n-1], f.noise[i+1:n])
	f.n = n - 1
	copy(f.inv[i:n-1], f.inv[i+1:n])
	f.addAlpha(-tb, r.t)
	f.addInverse(-1, r.t)
}

// remove takes observation i out, O(n^2 - i^2).
func (f *factor) remove(r *removal, i int) {
	f.plan(r, i)
	for k := i + 1; k < f.n; k += 4 {
		f.rotate(r, k, min(4, f.n-k))
	}
	f.shrink(r)
}
