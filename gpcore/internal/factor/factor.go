package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Factor is the inverse Cholesky factor W of a covariance matrix with its noise,
// K = L L^T, W = L^-1, beside b = W y and alpha = W^T b = K^-1 y.
//
// W is lower triangular, row-major with stride ld. Every element of its storage
// outside the triangle of the first n rows is zero, and so are b and alpha from
// n on; the vector code reads whole tiles and relies on it. Each update is a
// stream of rotations or rank-one steps over the rows, so rounding errors do not
// pile up with the number of updates (Golub & Van Loan, section 6.5, on
// downdating by rotations).
type Factor struct {
	N, Stride    int
	rows, most   int       // observations that there is memory for, now and at most
	W            []float64 // (rows rounded up + 8) rows of ld
	B, Alpha     []float64
	Y, Noise     []float64
	Inv          []float64 // diagonal of K^-1: the squared norms of the columns of W
	invStale     bool
	largestAlpha float64 // largest |alpha_i| since b and alpha were last computed whole
}

// Stride is the row length of W: a whole number of tiles plus a pad of 64, so
// that eight rows side by side do not fall on the same cache sets, and never a
// multiple of 4 KiB (512 elements).
func Stride(capacity int) int {
	ld := vec.Up8(capacity) + 64
	if ld%512 == 0 {
		ld += 8
	}
	return ld
}

// firstRows is for how many observations a factor takes memory first.
const firstRows = 128

// New makes the factor of no observations and at most capacity. It takes memory for 128 with the first
// one; that doubles when they are more.
func New(capacity int) *Factor {
	f := &Factor{most: capacity}
	f.allocate(0)
	return f
}

// allocate makes room for everything for rows observations in one piece.
func (f *Factor) allocate(rows int) {
	ld, c := Stride(rows), vec.Up8(rows)+8
	store := make([]float64, c*ld+5*c)
	cut := func(n int) []float64 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	f.rows, f.Stride = rows, ld
	f.W, f.B, f.Alpha, f.Y, f.Noise, f.Inv = cut(c*ld), cut(c), cut(c), cut(c), cut(c), cut(c)
}

// Reserve makes room for n observations, O(n^2) each time that they double.
func (f *Factor) Reserve(n int) {
	if n <= f.rows {
		return
	}
	rows := max(f.rows, firstRows)
	for rows < n {
		rows *= 2
	}
	old := *f
	f.allocate(min(rows, f.most))
	for k := range f.N {
		copy(f.W[k*f.Stride:], old.Row(k))
	}
	copy(f.B, old.B)
	copy(f.Alpha, old.Alpha)
	copy(f.Y, old.Y)
	copy(f.Noise, old.Noise)
	copy(f.Inv, old.Inv)
}

func (f *Factor) CopyFrom(g *Factor) {
	if f.rows != g.rows {
		f.allocate(g.rows)
	}
	f.N = g.N
	copy(f.W, g.W)
	copy(f.B, g.B)
	copy(f.Alpha, g.Alpha)
	copy(f.Y, g.Y)
	copy(f.Noise, g.Noise)
	copy(f.Inv, g.Inv)
	f.invStale, f.largestAlpha = g.invStale, g.largestAlpha
}

// Reset makes f the factor of no observations.
func (f *Factor) Reset() {
	for k := range f.N {
		clear(f.W[k*f.Stride : k*f.Stride+k+1])
	}
	clear(f.B[:f.N])
	clear(f.Alpha[:f.N])
	f.N, f.invStale, f.largestAlpha = 0, false, 0
}

// Row is row k of W up to and with its diagonal element.
func (f *Factor) Row(k int) []float64 { return f.W[k*f.Stride : k*f.Stride+k+1] }

// Solve sets l = W k and u = W^T l = K^-1 k in one pass over W, and returns
// |l|^2 = k^T K^-1 k. k, l and u have vec.Up8(n) elements, k zero from n on.
func (f *Factor) Solve(k, l, u []float64) float64 {
	clear(u[:vec.Up8(f.N)])
	for r := 0; r < f.N; r += vec.Rows {
		f.solveRows(r, k, l, u)
	}
	return vec.Dot(l[:f.N], l[:f.N])
}

// solveRows is the share of rows r..r+7 in solve.
func (f *Factor) solveRows(r int, k, l, u []float64) {
	w := f.W[r*f.Stride:]
	vec.Dots8(l[r:r+8], w, f.Stride, k[:r+8])
	vec.Axpys8(u[:r+8], w, f.Stride, l[r:r+8])
}

// SolveMany is [Factor.Solve] for m vectors that lie one after the other, vec.Up24(cap)
// apart; q[i] is the squared norm of W k_i.
func (f *Factor) SolveMany(q, k, l, u []float64, m, stride int) {
	for i := range m {
		clear(u[i*stride : i*stride+vec.Up8(f.N)])
	}
	for r := 0; r < f.N; r += vec.Rows {
		for i := range m {
			at := i * stride
			f.solveRows(r, k[at:at+stride], l[at:at+stride], u[at:at+stride])
		}
	}
	for i := range m {
		v := l[i*stride : i*stride+f.N]
		q[i] = vec.Dot(v, v)
	}
}

// SquaresMany sets q[i] to the squared norm of l_i = W k_i for m vectors that lie as in [Factor.SolveMany].
func (f *Factor) SquaresMany(q, k, l []float64, m, stride int) {
	for r := 0; r < f.N; r += vec.Rows {
		for at := 0; at < m*stride; at += stride {
			vec.Dots8(l[at+r:at+r+8], f.W[r*f.Stride:], f.Stride, k[at:at+r+8])
		}
	}
	for i := range m {
		v := l[i*stride : i*stride+f.N]
		q[i] = vec.Dot(v, v)
	}
}

// FinishAlpha recomputes alpha = W^T b.
func (f *Factor) FinishAlpha() {
	clear(f.Alpha)
	for r := 0; r < f.N; r += vec.Rows {
		vec.Axpys8(f.Alpha[:r+8], f.W[r*f.Stride:], f.Stride, f.B[r:r+8])
	}
}

// addAlpha adds a*z to alpha. Where alpha is now far smaller than it has been, b and
// alpha are recomputed from the targets: a reading that was far off, or readings that
// contradict each other at one point with little noise, make both large for as long as
// they are held, and what is left when they go must not keep that rounding. O(n),
// rarely O(n^2).
func (f *Factor) addAlpha(a float64, z []float64) {
	f.largestAlpha = max(f.largestAlpha, largest(f.Alpha[:f.N]))
	vec.Axpy(f.Alpha[:f.N], a, z)
	if !(f.largestAlpha <= 16*largest(f.Alpha[:f.N])) { // NaN, too, must not stay
		f.FinishTargets(0)
		f.largestAlpha = largest(f.Alpha[:f.N])
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

// SetTarget changes y_i. O(n^2).
func (f *Factor) SetTarget(i int, y float64) {
	f.Y[i] = y
	f.FinishTargets(i)
}

// SetTargets changes all of y: b = W y, alpha = W^T b. O(n^2).
func (f *Factor) SetTargets(y []float64) {
	copy(f.Y, y)
	f.FinishTargets(0)
}

// FinishTargets recomputes b from row i on, and alpha.
func (f *Factor) FinishTargets(i int) {
	for k := i; k < f.N; k++ {
		f.B[k] = vec.Dot(f.Row(k), f.Y)
	}
	f.FinishAlpha()
}

// InverseDiagonal is the diagonal of K^-1. Updates keep it in O(n); it is recomputed,
// O(n^2), after a block append or where an update cancelled most of it.
func (f *Factor) InverseDiagonal() []float64 {
	d := f.Inv[:f.N]
	if f.invStale {
		clear(d)
		for k := range f.N {
			for j, v := range f.Row(k) {
				d[j] = math.FMA(v, v, d[j])
			}
		}
		f.invStale = false
	}
	return d
}

// addInverse adds a*z_j^2 to the diagonal of K^-1.
func (f *Factor) addInverse(a float64, z []float64) {
	for j, was := range f.Inv[:f.N] {
		v := math.FMA(float64(a*z[j]), z[j], was)
		f.Inv[j] = v
		f.invStale = f.invStale || v < was/16
	}
}

// LogLikelihood is -|b|^2/2 + sum log W_kk - n/2 log(2 pi). O(n).
func (f *Factor) LogLikelihood() float64 {
	s := -0.5 * vec.Dot(f.B[:f.N], f.B[:f.N])
	for k := range f.N {
		s += math.Log(f.W[k*f.Stride+k])
	}
	return s - 0.5*float64(f.N)*math.Log(2*math.Pi)
}

// pivotOK reports whether s, the computed square of a new diagonal element of L, can
// be trusted. Its rounding error is near n*epsilon times the diagonal of K. Exactly,
// s is at least the noise, so noise well above that error vouches for it; with
// less noise, s itself must be ten thousand times the error, else the new row of W
// would be noise and spoil the rows after it.
func pivotOK(s, noise, diagonal float64, n int) bool {
	const epsilon = 0x1p-52
	e := float64(n+1) * epsilon * diagonal
	return s >= 0.5*noise && (noise > 8*e || s > 1e4*e)
}
