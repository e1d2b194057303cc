package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// NoiseStep bounds the factor by which one rank-one change may scale the
// determinant of K. The change loses about as many digits as this factor has.
const NoiseStep = 64

// Ratio is det(K + delta e_i e_i^T)/det(K) = 1 + delta*(K^-1)_ii. O(n).
func (f *Factor) Ratio(i int, delta float64) float64 {
	q := 0.0
	for k := i; k < f.N; k++ {
		w := f.W[k*f.Stride+i]
		q = math.FMA(w, w, q)
	}
	return math.FMA(delta, q, 1)
}

// ShiftNoise adds noise - noise_i to the i-th diagonal element of K, O(n^2 - i^2).
// With delta the difference, w the column i of W, s_0 = 1 and
// s_(k+1) = s_k + delta*w_k^2, the rows become
//
//	W'_k = sqrt(s_k/s_(k+1)) (W_k - delta*w_k/s_k * z_k),   z_(k+1) = z_k + w_k W_k,
//
// and z ends as K^-1 e_i, from which alpha' = alpha - delta*alpha_i/(1+delta*z_i) z
// (Sherman & Morrison). The ratio must be within NoiseStep. abg has room for 3
// values a row, z for vec.Up8(n).
func (f *Factor) ShiftNoise(i int, noise float64, abg, z []float64) {
	n, ld := f.N, f.Stride
	delta := noise - f.Noise[i]
	s := 1.0
	for k := i; k < n; k++ {
		w := f.W[k*ld+i]
		next := math.FMA(float64(delta*w), w, s)
		a := math.Sqrt(s / next)
		o := abg[3*(k-i) : 3*(k-i)+3]
		o[0], o[1], o[2] = a, -float64(float64(a*delta)*w)/s, w
		s = next
	}
	clear(z[:vec.Up8(n)])
	for k := i; k < n; k += 4 {
		m := min(4, n-k)
		vec.RankOne(z[:k+m], f.W[k*ld:], ld, abg[3*(k-i):3*(k-i+m)])
	}
	zb := 0.0
	for k := i; k < n; k++ {
		o := abg[3*(k-i) : 3*(k-i)+3]
		bk := f.B[k]
		f.B[k] = math.FMA(o[0], bk, float64(o[1]*zb))
		zb = math.FMA(o[2], bk, zb)
	}
	f.Noise[i] = noise
	g := -delta / math.FMA(delta, z[i], 1)
	f.addAlpha(g*f.Alpha[i], z)
	f.addInverse(g, z)
}

// ReplaceInPlace takes observation i out and puts e in at the same place: the way to
// change a noise by orders of magnitude, where a rank-one change would cancel.
// Arguments as for replace, at about twice its cost.
func (f *Factor) ReplaceInPlace(r *Removal, i int, e Entry, s float64) {
	f.Replace(r, i, e, s)
	f.moveLast(i, r.T)
}

// moveLast makes the last observation the i-th: the rows from i on move down and
// right by one, each rotated with the former last row, the carried row t, so that
// its element above the new diagonal vanishes. O(n^2 - i^2).
func (f *Factor) moveLast(i int, t []float64) {
	n, ld := f.N, f.Stride
	last := n - 1
	copy(t[:n], f.Row(last))
	tb := f.B[last]
	for k := last - 1; k >= i; k-- {
		src, dst := f.W[k*ld:], f.W[(k+1)*ld:(k+1)*ld+k+2]
		rho := math.Hypot(t[k], src[k])
		cs := [2]float64{-t[k] / rho, src[k] / rho}
		// The new row k+1 in old column order, then its columns from i on move
		// right, and the carried observation's own column, which row k did not
		// have, comes in at i.
		fill := -float64(cs[0] * t[last])
		vec.Rotate(t[:k+1], dst, src, ld, cs[:])
		copy(dst[i+1:], dst[i:k+1])
		dst[i] = fill
		t[last] *= cs[1]
		bk := f.B[k]
		f.B[k+1] = math.FMA(-cs[0], tb, float64(cs[1]*bk))
		tb = math.FMA(cs[1], tb, float64(cs[0]*bk))
	}
	row := f.W[i*ld : i*ld+i+1]
	copy(row[:i], t)
	row[i] = t[last]
	f.B[i] = tb
	for _, s := range [][]float64{f.Alpha, f.Y, f.Noise, f.Inv} {
		v := s[last]
		copy(s[i+1:n], s[i:last])
		s[i] = v
	}
}
