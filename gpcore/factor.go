package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// factor is the inverse Cholesky factor W of a covariance matrix with its noise,
// K = L L^T, W = L^-1, beside b = W y and alpha = W^T b = K^-1 y.
//
// W is lower triangular, row-major with stride ld. Every element of its storage
// outside the triangle of the first n rows is zero, and so are b and alpha from
// n on; the vector code reads whole tiles and relies on it. Each update is a
// stream of rotations or rank-one steps over the rows, so rounding errors do not
// pile up with the number of updates (Golub & Van Loan, section 6.5, on
// downdating by rotations).
type factor struct {
	n, ld    int
	w        []float64 // (capacity rounded up + 8) rows of ld
	b, alpha []float64
	y, noise []float64
	inv      []float64 // diagonal of K^-1: the squared norms of the columns of W
	invStale bool
	peak     float64 // largest |alpha_i| since b and alpha were last computed whole
}

// stride is the row length of W: a whole number of tiles plus a pad of 64, so
// that eight rows side by side do not fall on the same cache sets, and never a
// multiple of 4 KiB (512 elements).
func stride(capacity int) int {
	ld := vec.Up8(capacity) + 64
	if ld%512 == 0 {
		ld += 8
	}
	return ld
}

// newFactor allocates everything for capacity observations in one piece.
func newFactor(capacity int) *factor {
	ld, c := stride(capacity), vec.Up8(capacity)+8
	store := make([]float64, c*ld+5*c)
	cut := func(n int) []float64 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	f := &factor{ld: ld}
	f.w, f.b, f.alpha, f.y, f.noise, f.inv = cut(c*ld), cut(c), cut(c), cut(c), cut(c), cut(c)
	return f
}

func (f *factor) copyFrom(g *factor) {
	f.n = g.n
	copy(f.w, g.w)
	copy(f.b, g.b)
	copy(f.alpha, g.alpha)
	copy(f.y, g.y)
	copy(f.noise, g.noise)
	copy(f.inv, g.inv)
	f.invStale, f.peak = g.invStale, g.peak
}

// reset makes f the factor of no observations.
func (f *factor) reset() {
	for k := range f.n {
		clear(f.w[k*f.ld : k*f.ld+k+1])
	}
	clear(f.b[:f.n])
	clear(f.alpha[:f.n])
	f.n, f.invStale, f.peak = 0, false, 0
}

// row is row k of W up to and with its diagonal element.
func (f *factor) row(k int) []float64 { return f.w[k*f.ld : k*f.ld+k+1] }

// solve sets l = W k and u = W^T l = K^-1 k in one pass over W, and returns
// |l|^2 = k^T K^-1 k. k, l and u have vec.Up8(n) elements, k zero from n on.
func (f *factor) solve(k, l, u []float64) float64 {
	clear(u[:vec.Up8(f.n)])
	for r := 0; r < f.n; r += vec.Rows {
		f.fold(r, k, l, u)
	}
	return vec.Dot(l[:f.n], l[:f.n])
}

// fold is the share of rows r..r+7 in solve.
func (f *factor) fold(r int, k, l, u []float64) {
	w := f.w[r*f.ld:]
	vec.Dots8(l[r:r+8], w, f.ld, k[:r+8])
	vec.Axpys8(u[:r+8], w, f.ld, l[r:r+8])
}

// solveMany is [factor.solve] for m vectors that lie one after the other, vec.Up24(cap)
// apart; q[i] is the squared norm of W k_i.
func (f *factor) solveMany(q, k, l, u []float64, m, stride int) {
	for i := range m {
		clear(u[i*stride : i*stride+vec.Up8(f.n)])
	}
	for r := 0; r < f.n; r += vec.Rows {
		for i := range m {
			at := i * stride
			f.fold(r, k[at:at+stride], l[at:at+stride], u[at:at+stride])
		}
	}
	for i := range m {
		v := l[i*stride : i*stride+f.n]
		q[i] = vec.Dot(v, v)
	}
}

// finishAlpha recomputes alpha = W^T b.
func (f *factor) finishAlpha() {
	clear(f.alpha)
	for r := 0; r < f.n; r += vec.Rows {
		vec.Axpys8(f.alpha[:r+8], f.w[r*f.ld:], f.ld, f.b[r:r+8])
	}
}

// addAlpha adds a*z to alpha. Where alpha is now far smaller than it has been, b and
// alpha are recomputed from the targets: a reading that was far off, or readings that
// contradict each other at one point with little noise, make both large for as long as
// they are held, and what is left when they go must not keep that rounding. O(n),
// rarely O(n^2).
func (f *factor) addAlpha(a float64, z []float64) {
	f.peak = max(f.peak, largest(f.alpha[:f.n]))
	vec.Axpy(f.alpha[:f.n], a, z)
	if !(f.peak <= 16*largest(f.alpha[:f.n])) { // NaN, too, must not stay
		f.finishTargets(0)
		f.peak = largest(f.alpha[:f.n])
	}
}

// largest is the largest magnitude, NaN where there is one. The bits of magnitudes are in
// the order of the numbers, NaN above infinity, and integers compare faster.
func largest(v []float64) float64 {
	var m uint64
	for _, x := range v {
		m = max(m, math.Float64bits(x)&^(1<<63))
	}
	return math.Float64frombits(m)
}

// setTarget changes y_i. O(n^2).
func (f *factor) setTarget(i int, y float64) {
	f.y[i] = y
	f.finishTargets(i)
}

// setTargets changes all of y: b = W y, alpha = W^T b. O(n^2).
func (f *factor) setTargets(y []float64) {
	copy(f.y, y)
	f.finishTargets(0)
}

// finishTargets recomputes b from row i on, and alpha.
func (f *factor) finishTargets(i int) {
	for k := i; k < f.n; k++ {
		f.b[k] = vec.Dot(f.row(k), f.y)
	}
	f.finishAlpha()
}

// inverseDiagonal is the diagonal of K^-1. Updates keep it in O(n); it is recomputed,
// O(n^2), after a block append or where an update cancelled most of it.
func (f *factor) inverseDiagonal() []float64 {
	d := f.inv[:f.n]
	if f.invStale {
		clear(d)
		for k := range f.n {
			for j, v := range f.row(k) {
				d[j] = math.FMA(v, v, d[j])
			}
		}
		f.invStale = false
	}
	return d
}

// addInverse adds a*z_j^2 to the diagonal of K^-1.
func (f *factor) addInverse(a float64, z []float64) {
	for j, was := range f.inv[:f.n] {
		v := math.FMA(float64(a*z[j]), z[j], was)
		f.inv[j] = v
		f.invStale = f.invStale || v < was/16
	}
}

// logLikelihood is -|b|^2/2 + sum log W_kk - n/2 log(2 pi). O(n).
func (f *factor) logLikelihood() float64 {
	s := -0.5 * vec.Dot(f.b[:f.n], f.b[:f.n])
	for k := range f.n {
		s += math.Log(f.w[k*f.ld+k])
	}
	return s - 0.5*float64(f.n)*math.Log(2*math.Pi)
}

// pivotOK says whether s, the computed square of a new diagonal element of L, can
// be trusted. Its rounding error is near n*epsilon times the diagonal of K. Exactly,
// s is at least the noise, so noise well above that error vouches for it; with
// less noise, s itself must be ten thousand times the error, else the new row of W
// would be noise and spoil the rows after it.
func pivotOK(s, noise, diagonal float64, n int) bool {
	const epsilon = 0x1p-52
	e := float64(n+1) * epsilon * diagonal
	return s >= 0.5*noise && (noise > 8*e || s > 1e4*e)
}
