package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// setNoise adds delta to the i-th diagonal element of K, O(n^2 - i^2). With w the
// column i of W and s_0 = 1, s_(k+1) = s_k + delta*w_k^2, the rows become
//
//	W'_k = sqrt(s_k/s_(k+1)) (W_k - delta*w_k/s_k * z_k),   z_(k+1) = z_k + w_k W_k,
//
// and z ends as K^-1 e_i, from which alpha' = alpha - delta*alpha_i/(1+delta*z_i) z
// (Sherman & Morrison). False: K would not be positive definite, nothing has
// changed. abg has room for 3 values a row, z for up8(n).
func (f *factor) setNoise(i int, noise float64, abg, z []float64) bool {
	n, ld := f.n, f.ld
	delta := noise - f.noise[i]
	s := 1.0
	for k := i; k < n; k++ {
		w := f.w[k*ld+i]
		next := math.FMA(float64(delta*w), w, s)
		if !(next > 0x1p-40) {
			return false
		}
		a := math.Sqrt(s / next)
		o := abg[3*(k-i) : 3*(k-i)+3]
		o[0], o[1], o[2] = a, -float64(a*delta)*w/s, w
		s = next
	}
	clear(z[:up8(n)])
	for k := i; k < n; k += 4 {
		m := min(4, n-k)
		vec.RankOne(z[:k+m], f.w[k*ld:], ld, abg[3*(k-i):3*(k-i+m)])
	}
	zb := 0.0
	for k := i; k < n; k++ {
		o := abg[3*(k-i) : 3*(k-i)+3]
		bk := f.b[k]
		f.b[k] = math.FMA(o[0], bk, float64(o[1]*zb))
		zb = math.FMA(o[2], bk, zb)
	}
	vec.Axpy(f.alpha[:n], -delta*f.alpha[i]/(1+float64(delta*z[i])), z)
	f.noise[i] = noise
	return true
}
