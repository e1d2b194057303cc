package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

const lanes = vec.Lanes

// block are up to 24 new observations and the scratch to append them.
type block struct {
	m     int       // how many, 1..24
	cross []float64 // n x 24 covariances with the observations held, rows padded to vec.Up8(n) with zeros
	self  []float64 // 24 x 24 covariances among the new ones, without noise
	y     []float64
	noise []float64
	prior [lanes]float64 // k(x, x)

	v, u []float64              // up8(n) x 24 scratch
	inv  [lanes * lanes]float64 // transpose of L^-1, L the factor of self
	rows [lanes * lanes]float64 // L^-1
	tile [vec.Rows * lanes]float64
}

func newBlock(capacity int) *block {
	c := vec.Up24(capacity) * lanes
	return &block{
		cross: make([]float64, c), self: make([]float64, lanes*lanes),
		v: make([]float64, c), u: make([]float64, c),
	}
}

// appendBlock adds a block: with V = W C, S = self + noise - V^T V and
// Li = chol(S)^-1, the new rows are (-Li V^T W, Li). False: S is not positive
// definite, nothing has changed. alpha is left stale: call finishAlpha when all
// blocks are in. 2*24*n^2 operations and O(n).
func (f *factor) appendBlock(p *block) bool {
	n := f.n
	f.mulW(p.v, p.cross, n)
	f.mulWT(p.u, p.v, n)
	for c := 0; c < p.m; c += vec.Rows {
		vec.TileT(p.tile[:], p.v[c:], lanes, p.v, n)
		for i := range min(vec.Rows, p.m-c) {
			s := p.self[(c+i)*lanes : (c+i)*lanes+p.m]
			for j := range s {
				s[j] -= p.tile[i*lanes+j]
			}
		}
	}
	if !p.invert(n) {
		return false
	}
	f.writeBlock(p)
	return true
}

// invert replaces the upper triangle of self by the transpose of its Cholesky factor L
// and sets inv to that of L^-1, zero beyond m. Row after row is subtracted from the later
// ones (Golub & Van Loan, section 4.2.5), so that the inner loops are vectors.
func (p *block) invert(n int) bool {
	s, m := p.self, p.m
	for i := range m {
		row := s[i*lanes : i*lanes+m]
		d := row[i] + p.noise[i]
		if !pivotOK(d, p.noise[i], p.prior[i]+p.noise[i], n+i) {
			return false
		}
		scale := 1 / math.Sqrt(d)
		for j := i; j < m; j++ {
			row[j] *= scale
		}
		row[i] = math.Sqrt(d)
		for k := i + 1; k < m; k++ {
			subtract(s[k*lanes+k:k*lanes+m], row[k], row[k:])
		}
	}
	p.invertTriangle()
	return true
}

// invertTriangle sets inv from the factor in self, by forward substitution of the identity:
// row i of L^-1 is e_i less the sum of L_ip times row p over p < i, divided by L_ii. Of
// that sum, rows of earlier tiles are one product.
func (p *block) invertTriangle() {
	s, m := p.self, p.m
	clear(p.rows[:])
	for c := 0; c < m; c += vec.Rows {
		vec.TileT(p.tile[:], s[c:], lanes, p.rows[:], c)
		for i := c; i < min(c+vec.Rows, m); i++ {
			row := p.rows[i*lanes : i*lanes+i+1]
			for j := range c {
				row[j] = 0 - p.tile[(i-c)*lanes+j] // zero stays positive
			}
			for q := c; q < i; q++ {
				subtract(row[:q+1], s[q*lanes+i], p.rows[q*lanes:])
			}
			row[i] = 1
			for j := range row {
				row[j] /= s[i*lanes+i]
			}
		}
	}
	clear(p.inv[:])
	for i := range m {
		for j, v := range p.rows[i*lanes : i*lanes+i+1] {
			p.inv[j*lanes+i] = v
		}
	}
}

// subtract takes a*x off y. A call of a vector kernel costs as much as eight numbers one
// by one, and half of the rows of a triangle are no longer.
func subtract(y []float64, a float64, x []float64) {
	if len(y) > 8 {
		vec.Axpy(y, -a, x)
		return
	}
	x = x[:len(y)]
	for j, v := range x {
		y[j] = math.FMA(-a, v, y[j])
	}
}

// writeBlock writes the rows of an inverted block and their elements of b.
func (f *factor) writeBlock(p *block) {
	n, ld := f.n, f.ld
	for r := 0; r < n; r += vec.Rows {
		// Rows of u times Li^T: element (q, i) is (Li V^T W)[i][r+q].
		vec.Tile(p.tile[:], p.u[r*lanes:], lanes, p.inv[:], lanes)
		for i := range p.m {
			if r+vec.Rows <= n {
				dst, t := (*[vec.Rows]float64)(f.w[(n+i)*ld+r:]), p.tile[i:]
				dst[0], dst[1], dst[2], dst[3] = -t[0], -t[lanes], -t[2*lanes], -t[3*lanes]
				dst[4], dst[5], dst[6], dst[7] = -t[4*lanes], -t[5*lanes], -t[6*lanes], -t[7*lanes]
				continue
			}
			dst := f.w[(n+i)*ld+r : (n+i)*ld+n]
			for q := range dst {
				dst[q] = -p.tile[q*lanes+i]
			}
		}
	}
	copy(f.y[n:], p.y[:p.m])
	copy(f.noise[n:], p.noise[:p.m])
	for i := range p.m {
		row := f.w[(n+i)*ld : (n+i)*ld+n+i+1]
		for j := range i + 1 {
			row[n+j] = p.inv[j*lanes+i]
		}
		f.b[n+i] = vec.Dot(row, f.y)
	}
	f.n = n + p.m
	f.invStale = true
}

// mulW sets v = W c for the first n rows (a multiple of 8 is computed), c with
// zeros in rows n..vec.Up8(n)-1.
func (f *factor) mulW(v, c []float64, n int) {
	for r := 0; r < n; r += vec.Rows {
		vec.Tile(v[r*lanes:], f.w[r*f.ld:], f.ld, c, r+vec.Rows)
	}
}

// mulWT sets u = W^T v for the first n rows.
func (f *factor) mulWT(u, v []float64, n int) {
	for r := 0; r < n; r += vec.Rows {
		vec.TileT(u[r*lanes:], f.w[r*f.ld+r:], f.ld, v[r*lanes:], vec.Up8(n)-r)
	}
}

// squares sets q[j] to the squared norm of column j of W c.
func (f *factor) squares(q, c []float64) {
	clear(q[:lanes])
	for r := 0; r < f.n; r += vec.Rows {
		vec.TileSquares(q, f.w[r*f.ld:], f.ld, c, r+vec.Rows)
	}
}
