package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Removal are the rotations that take observation i out of the factor. The
// carried row starts as row i of W and ends as t = K^-1 e_i / sqrt((K^-1)_ii);
// the rows below move up by one, each rotated with the carried row so that their
// column i vanishes. All coefficients follow from column i alone.
type Removal struct {
	i  int
	CS []float64 // 2 per row below i
	T  []float64 // carried row, without column i
}

// plan computes the coefficients for removing i. It reads W and writes only r.
func (f *Factor) plan(r *Removal, i int) {
	r.i = i
	tau := f.W[i*f.Stride+i]
	q := tau * tau
	for k := i + 1; k < f.N; k++ {
		v := f.W[k*f.Stride+i]
		q = math.FMA(v, v, q)
		rho := math.Sqrt(q)
		inv := 1 / rho
		r.CS[2*(k-i-1)] = v * inv
		r.CS[2*(k-i-1)+1] = tau * inv
		tau = rho
	}
	clear(r.T[:vec.Up8(f.N)])
	copy(r.T[:i], f.W[i*f.Stride:i*f.Stride+i])
}

// rotate moves rows k..k+m-1 up by one, rotated with the carried row.
func (f *Factor) rotate(r *Removal, k, m int) {
	i, ld := r.i, f.Stride
	cs := r.CS[2*(k-i-1) : 2*(k-i-1+m)]
	// Columns before i keep their place; columns after i move left by one.
	vec.Rotate(r.T[:i], f.W[(k-1)*ld:], f.W[k*ld:], ld, cs)
	last := k + m - 1
	vec.Rotate(r.T[i:last], f.W[(k-1)*ld+i:], f.W[k*ld+i+1:], ld, cs)
}

// shrink closes the gap in b, alpha, y and noise after all rows have been
// rotated, and clears the last row.
func (f *Factor) shrink(r *Removal) {
	i, n := r.i, f.N
	tb := f.B[i]
	for k := i + 1; k < n; k++ {
		c, s := r.CS[2*(k-i-1)], r.CS[2*(k-i-1)+1]
		bk := f.B[k]
		f.B[k-1] = math.FMA(-c, tb, float64(s*bk))
		tb = math.FMA(s, tb, float64(c*bk))
	}
	f.B[n-1] = 0
	clear(f.W[(n-1)*f.Stride : (n-1)*f.Stride+n])
	copy(f.Alpha[i:n-1], f.Alpha[i+1:n])
	f.Alpha[n-1] = 0
	copy(f.Y[i:n-1], f.Y[i+1:n])
	copy(f.Noise[i:n-1], f.Noise[i+1:n])
	f.N = n - 1
	copy(f.Inv[i:n-1], f.Inv[i+1:n])
	f.addAlpha(-tb, r.T)
	f.addInverse(-1, r.T)
}

// Remove takes observation i out, O(n^2 - i^2).
func (f *Factor) Remove(r *Removal, i int) {
	f.plan(r, i)
	for k := i + 1; k < f.N; k += 4 {
		f.rotate(r, k, min(4, f.N-k))
	}
	f.shrink(r)
}
