package gpcore_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
)

// givens is the textbook's way to hold the same process in plain Go, the comparator of
// the fused replacement: the Cholesky factor L itself, by columns (element (r, c) at
// l[c*ld+r]) so that every inner loop has unit stride and no chain of dependences;
// removal by Givens rotations, append by forward substitution, alpha by backward
// substitution (Golub & Van Loan, sections 3.1 and 6.5).
type givens struct {
	n, ld       int
	l           []float64
	x, y        []float64
	b, alpha    []float64 // L^-1 y and L^-T b
	k, carry    []float64
	lengthscale float64
}

func newGivens(capacity int) *givens {
	v := func(n int) []float64 { return make([]float64, n) }
	ld := factor.Stride(capacity)
	return &givens{ld: ld, l: v(ld * ld), x: v(3 * capacity), y: v(capacity), b: v(capacity),
		alpha: v(capacity), k: v(capacity), carry: v(capacity), lengthscale: 0.3}
}

// remove takes observation i out. With column i of L below the diagonal as the carried
// column, each later column is rotated with it and moves up and left by one.
func (f *givens) remove(i int) {
	n, ld := f.n, f.ld
	carry := f.carry[:n]
	copy(carry[i+1:], f.l[i*ld+i+1:i*ld+n])
	for c := range i { // the rows of earlier columns close up
		col := f.l[c*ld : c*ld+n]
		copy(col[i:], col[i+1:])
	}
	lost := f.b[i]
	for c := i + 1; c < n; c++ {
		from, to := f.l[c*ld+c:c*ld+n], f.l[(c-1)*ld+c-1:(c-1)*ld+n-1]
		below := carry[c:n]
		r := math.Hypot(from[0], below[0])
		cos, sin := from[0]/r, below[0]/r
		to = to[:len(from)]
		below = below[:len(from)]
		for j, v := range from {
			w := below[j]
			to[j] = cos*v + sin*w
			below[j] = cos*w - sin*v
		}
		f.b[c-1], lost = cos*f.b[c]+sin*lost, cos*lost-sin*f.b[c]
	}
	copy(f.x[3*i:], f.x[3*i+3:3*n])
	copy(f.y[i:], f.y[i+1:n])
	f.n--
}

// extend appends a row with covariances k and k(x, x) plus noise d.
func (f *givens) extend(k []float64, d float64) bool {
	n, ld := f.n, f.ld
	for c := range n {
		col := f.l[c*ld+c : c*ld+n]
		v := k[c] / col[0]
		rest := k[c : c+len(col)]
		for j := 1; j < len(col); j++ {
			rest[j] -= v * col[j]
		}
		f.l[c*ld+n] = v
		k[c] = v
		d -= v * v
	}
	if !(d > 0) {
		return false
	}
	f.l[n*ld+n] = math.Sqrt(d)
	f.n++
	return true
}

// append adds an observation with its covariances, b and alpha.
func (f *givens) append(x []float64, y, noise float64) bool {
	n := f.n
	k := f.k[:n]
	h := -0.5 / (f.lengthscale * f.lengthscale)
	for i := range k {
		p := f.x[3*i : 3*i+3]
		a, b, c := p[0]-x[0], p[1]-x[1], p[2]-x[2]
		k[i] = math.Exp(h * (a*a + b*b + c*c))
	}
	if !f.extend(k, 1+noise) {
		return false
	}
	copy(f.x[3*n:], x)
	s := y
	for i, v := range k {
		s -= v * f.b[i]
	}
	f.y[n], f.b[n] = y, s/f.l[n*f.ld+n]
	f.finish()
	return true
}

// finish is alpha = L^-T b, with four partial sums.
func (f *givens) finish() {
	n, ld := f.n, f.ld
	for c := n - 1; c >= 0; c-- {
		col, a := f.l[c*ld+c+1:c*ld+n], f.alpha[c+1:n]
		var p, q, r, s float64
		for len(col) >= 4 && len(a) >= 4 {
			p += col[0] * a[0]
			q += col[1] * a[1]
			r += col[2] * a[2]
			s += col[3] * a[3]
			col, a = col[4:], a[4:]
		}
		for j, v := range col {
			p += v * a[j]
		}
		f.alpha[c] = (f.b[c] - (p + q + r + s)) / f.l[c*ld+c]
	}
}

// fullGivens is the process of full in this form.
func fullGivens(b testing.TB, n int) (*givens, *rand.Rand) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	f := newGivens(n)
	for i := range n {
		x := gptest.Point(rng, 3)
		if i < n-1 { // the last append alone needs alpha
			if !f.append(x, math.Sin(3*x[0])+0.1*rng.NormFloat64(), 0.01) {
				b.Fatal("not positive definite")
			}
			continue
		}
		if !f.append(x, 1, 0.01) {
			b.Fatal("not positive definite")
		}
	}
	return f, rng
}

// The comparator computes what the package computes.
func TestGivensIsTheSameProcess(t *testing.T) {
	const n = 60
	f, rng := fullGivens(t, n)
	g := gpcore.New(gptest.Cube(), n)
	for i := range n {
		if err := g.Append(f.x[3*i:3*i+3], f.y[i], 0.01); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 * n {
		i, x, y := rng.IntN(n), gptest.Point(rng, 3), rng.NormFloat64()
		f.remove(i)
		if !f.append(x, y, 0.01) {
			t.Fatal("not positive definite")
		}
		if err := g.Replace(i, x, y, 0.01); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		// Both are exact but for rounding, some 1e-16 times the condition 1e3.
		if d := math.Abs(f.alpha[i] - g.Model().Factor.Alpha[i]); d > 1e-10*(1+math.Abs(f.alpha[i])) {
			t.Errorf("alpha[%d] is %g, the package's %g", i, f.alpha[i], g.Model().Factor.Alpha[i])
		}
	}
}

// The whole of a replacement: covariances, factor, b and alpha.
func besideGivens(b *testing.B, n int) {
	f, rng := fullGivens(b, n)
	x := gptest.Point(rng, 3)
	inMicroseconds(b, task{run: func() {
		x[0] = math.Mod(x[0]+0.618, 1)
		f.remove(0)
		if !f.append(x, 1, 0.01) {
			b.Fatal("not positive definite")
		}
	}})
}

// The factor alone: covariances for nothing, no alpha.
func besideGivensFactor(b *testing.B, n int) {
	f, _ := fullGivens(b, n)
	s := besideCovariance(n)
	rows := make([][]float64, n)
	for i := range rows {
		for j := range n - 1 {
			rows[i] = append(rows[i], s.At(i, (i+1+j)%n))
		}
	}
	f.n = 0
	for i := range n { // L of the same points
		k := make([]float64, i)
		for j := range k {
			k[j] = s.At(i, j)
		}
		if !f.extend(k, s.At(i, i)) {
			b.Fatal("not positive definite")
		}
	}
	// The oldest leaves and comes back as the newest, round and round.
	at := 0
	inMicroseconds(b, task{func() { copy(f.k, rows[at]) }, func() {
		f.remove(0)
		if !f.extend(f.k[:n-1], 1.01) {
			b.Fatal("not positive definite")
		}
		at = (at + 1) % n
	}})
}
