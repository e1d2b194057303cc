package factor

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Block are up to 24 new observations and the scratch to append them.
type Block struct {
	M     int       // how many, 1..24
	Cross []float64 // n x 24 covariances with the observations held, rows padded to vec.Up8(n) with zeros
	Self  []float64 // 24 x 24 covariances among the new ones, without noise
	Y     []float64
	Noise []float64
	Prior [vec.Lanes]float64 // k(x, x)

	v, u []float64                      // up8(n) x 24 scratch
	inv  [vec.Lanes * vec.Lanes]float64 // transpose of L^-1, L the factor of self
	rows [vec.Lanes * vec.Lanes]float64 // L^-1
	tile [vec.Rows * vec.Lanes]float64
}

func NewBlock(capacity int) *Block {
	c := vec.Up24(capacity) * vec.Lanes
	return &Block{
		Cross: make([]float64, c), Self: make([]float64, vec.Lanes*vec.Lanes),
		v: make([]float64, c), u: make([]float64, c),
	}
}

// AppendBlock adds a block: with V = W C, S = self + noise - V^T V and
// Li = chol(S)^-1, the new rows are (-Li V^T W, Li). False: S is not positive
// definite, nothing has changed. alpha is left stale: call FinishAlpha when all
// blocks are in. 2*24*n^2 operations and O(n).
func (f *Factor) AppendBlock(p *Block) bool {
	n := f.N
	f.MulW(p.v, p.Cross, n)
	f.MulWT(p.u, p.v, n)
	for c := 0; c < p.M; c += vec.Rows {
		vec.TileT(p.tile[:], p.v[c:], vec.Lanes, p.v, n)
		for i := range min(vec.Rows, p.M-c) {
			s := p.Self[(c+i)*vec.Lanes : (c+i)*vec.Lanes+p.M]
			for j := range s {
				s[j] -= p.tile[i*vec.Lanes+j]
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
func (p *Block) invert(n int) bool {
	s, m := p.Self, p.M
	for i := range m {
		row := s[i*vec.Lanes : i*vec.Lanes+m]
		d := row[i] + p.Noise[i]
		if !pivotOK(d, p.Noise[i], p.Prior[i]+p.Noise[i], n+i) {
			return false
		}
		scale := 1 / math.Sqrt(d)
		for j := i; j < m; j++ {
			row[j] *= scale
		}
		row[i] = math.Sqrt(d)
		for k := i + 1; k < m; k++ {
			subtract(s[k*vec.Lanes+k:k*vec.Lanes+m], row[k], row[k:])
		}
	}
	p.invertTriangle()
	return true
}

// invertTriangle sets inv from the factor in self, by forward substitution of the identity:
// row i of L^-1 is e_i less the sum of L_ip times row p over p < i, divided by L_ii. Of
// that sum, rows of earlier tiles are one product.
func (p *Block) invertTriangle() {
	s, m := p.Self, p.M
	clear(p.rows[:])
	for c := 0; c < m; c += vec.Rows {
		vec.TileT(p.tile[:], s[c:], vec.Lanes, p.rows[:], c)
		for i := c; i < min(c+vec.Rows, m); i++ {
			row := p.rows[i*vec.Lanes : i*vec.Lanes+i+1]
			for j := range c {
				row[j] = 0 - p.tile[(i-c)*vec.Lanes+j] // zero stays positive
			}
			for q := c; q < i; q++ {
				subtract(row[:q+1], s[q*vec.Lanes+i], p.rows[q*vec.Lanes:])
			}
			row[i] = 1
			for j := range row {
				row[j] /= s[i*vec.Lanes+i]
			}
		}
	}
	clear(p.inv[:])
	for i := range m {
		for j, v := range p.rows[i*vec.Lanes : i*vec.Lanes+i+1] {
			p.inv[j*vec.Lanes+i] = v
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
func (f *Factor) writeBlock(p *Block) {
	n := f.N
	f.Reserve(n + p.M)
	ld := f.Stride
	for r := 0; r < n; r += vec.Rows {
		// Rows of u times Li^T: element (q, i) is (Li V^T W)[i][r+q].
		vec.Tile(p.tile[:], p.u[r*vec.Lanes:], vec.Lanes, p.inv[:], vec.Lanes)
		for i := range p.M {
			if r+vec.Rows <= n {
				dst, t := (*[vec.Rows]float64)(f.W[(n+i)*ld+r:]), p.tile[i:]
				dst[0], dst[1], dst[2], dst[3] = -t[0], -t[vec.Lanes], -t[2*vec.Lanes], -t[3*vec.Lanes]
				dst[4], dst[5], dst[6], dst[7] = -t[4*vec.Lanes], -t[5*vec.Lanes], -t[6*vec.Lanes], -t[7*vec.Lanes]
				continue
			}
			dst := f.W[(n+i)*ld+r : (n+i)*ld+n]
			for q := range dst {
				dst[q] = -p.tile[q*vec.Lanes+i]
			}
		}
	}
	copy(f.Y[n:], p.Y[:p.M])
	copy(f.Noise[n:], p.Noise[:p.M])
	for i := range p.M {
		row := f.W[(n+i)*ld : (n+i)*ld+n+i+1]
		for j := range i + 1 {
			row[n+j] = p.inv[j*vec.Lanes+i]
		}
		f.B[n+i] = vec.Dot(row, f.Y)
	}
	f.N = n + p.M
	f.invStale = true
}

// MulW sets v = W c for the first n rows (a multiple of 8 is computed), c with
// zeros in rows n..vec.Up8(n)-1.
func (f *Factor) MulW(v, c []float64, n int) {
	for r := 0; r < n; r += vec.Rows {
		vec.Tile(v[r*vec.Lanes:], f.W[r*f.Stride:], f.Stride, c, r+vec.Rows)
	}
}

// MulWT sets u = W^T v for the first n rows.
func (f *Factor) MulWT(u, v []float64, n int) {
	for r := 0; r < n; r += vec.Rows {
		vec.TileT(u[r*vec.Lanes:], f.W[r*f.Stride+r:], f.Stride, v[r*vec.Lanes:], vec.Up8(n)-r)
	}
}

// Squares sets q[j] to the squared norm of column j of W c.
func (f *Factor) Squares(q, c []float64) {
	clear(q[:vec.Lanes])
	for r := 0; r < f.N; r += vec.Rows {
		vec.TileSquares(q, f.W[r*f.Stride:], f.Stride, c, r+vec.Rows)
	}
}
