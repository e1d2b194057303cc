package expectations

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// sharedTerm is what the control sets of one criterion share about one process: the
// closed-form factors of its points and, as scratch of one decision, the inverse of
// its covariance matrix.
type sharedTerm struct {
	m           *model.Model
	gaussian    bool    // the kernel is a squared exponential
	variance    float64 // k(x, x), and the lengthscales, where it is
	lengthscale []float64
	version     uint64
	ready       bool
	n           int

	x, noise, alpha []float64 // as at the last sync
	source          []int     // where point i was before the last sync; -1: it is new
	factors         []*coordFactor

	inverse  []float64 // tiles of K^-1, see invert
	inverted bool
	columns  []float64 // scratch, n x 24
}

// coordFactor is E[exp(-(R-x_ij)^2/(2 l_j^2))] of one coordinate j for every point i.
type coordFactor struct {
	coord  int
	m      quadrature.Marginal
	v, old []float64
}

// shareTerms are the shared parts of terms.
func shareTerms(terms []Term) []*sharedTerm {
	out := make([]*sharedTerm, len(terms))
	for i, t := range terms {
		out[i] = &sharedTerm{m: t.Process.Model()}
	}
	return out
}

// require asks for the factors of a coordinate.
func (t *sharedTerm) require(coord int, m quadrature.Marginal) {
	if t.factor(coord, m) == nil {
		t.factors = append(t.factors, &coordFactor{coord: coord, m: m})
		t.ready = false // the next sync computes all factors of all points
	}
}

func (t *sharedTerm) factor(coord int, m quadrature.Marginal) *coordFactor {
	for _, f := range t.factors {
		if f.coord == coord && f.m == m {
			return f
		}
	}
	return nil
}

// sync takes up the process as it is. Nothing is done where it is as it was at the
// last sync. O(n d) comparisons, and the factors of new points.
func (t *sharedTerm) sync() {
	m, f := t.m, t.m.Factor
	n, d := f.N, m.Points.D
	x, noise, alpha := m.Points.X[:n*d], f.Noise[:n], f.Alpha[:n]
	sameKernel := t.ready && t.version == m.Version
	if sameKernel && t.n == n && slices.Equal(t.x, x) && slices.Equal(t.noise, noise) && slices.Equal(t.alpha, alpha) {
		return
	}
	if t.gaussian = kernels.IsSquaredExponential(m.Kernel); t.gaussian {
		t.variance = m.Kernel.Variance(nil)
		t.lengthscale, _ = kernels.Lengthscales(m.Kernel)
	}
	t.matchPoints(x, d, sameKernel)
	t.x, t.noise, t.alpha = append(t.x[:0], x...), append(t.noise[:0], noise...), append(t.alpha[:0], alpha...)
	t.version, t.n, t.ready, t.inverted = m.Version, n, true, false
	if !t.gaussian {
		return
	}
	for _, c := range t.factors {
		c.sync(t, d)
	}
}

// matchPoints finds for each point where it was before: points keep their order while others
// leave and new ones come at the end.
func (t *sharedTerm) matchPoints(x []float64, d int, sameKernel bool) {
	t.source = t.source[:0]
	was := 0
	for i := 0; i < len(x); i += d {
		from := -1
		for j := was; sameKernel && j < t.n; j++ {
			if slices.Equal(t.x[j*d:(j+1)*d], x[i:i+d]) {
				from, was = j, j+1
				break
			}
			if j-was >= 8 { // a point that is new in the middle must not cost O(n)
				break
			}
		}
		t.source = append(t.source, from)
	}
}

func (c *coordFactor) sync(t *sharedTerm, d int) {
	c.old, c.v = c.v, c.old[:0]
	for i, from := range t.source {
		if from >= 0 && from < len(c.old) {
			c.v = append(c.v, c.old[from])
			continue
		}
		c.v = append(c.v, c.m.GaussianFactor(t.x[i*d+c.coord], t.lengthscale[c.coord]))
	}
}

// invert computes the lower triangle of K^-1 = W^T W in tiles of 8 x 24, row of tiles
// after row of tiles, each from column 0 to the diagonal. It is scratch of one
// decision, made afresh from W and used only for bounds. n^3/3 multiplications.
func (t *sharedTerm) invert() {
	if t.inverted {
		return
	}
	f, n := t.m.Factor, t.n
	rows := vec.Up8(n)
	if need := tilesBefore(rows) * tileSize; len(t.inverse) < need {
		t.inverse = make([]float64, need+need/4)
		t.columns = make([]float64, (rows+rows/4+vec.Lanes)*vec.Lanes)
	}
	for c := 0; c < n; c += vec.Lanes {
		// Columns c..c+23 of W, from row c on: above it they are zero.
		for k := c; k < rows; k++ {
			copy(t.columns[k*vec.Lanes:(k+1)*vec.Lanes], f.W[k*f.Stride+c:k*f.Stride+c+vec.Lanes])
		}
		for r := c; r < rows; r += vec.Rows {
			at := (tilesBefore(r) + c/vec.Lanes) * tileSize
			vec.TileT(t.inverse[at:at+tileSize], f.W[r*f.Stride+r:], f.Stride, t.columns[r*vec.Lanes:], rows-r)
		}
	}
	t.inverted = true
}

const tileSize = vec.Rows * vec.Lanes

// tilesBefore is the number of tiles in the rows of tiles above row r, a multiple of 8.
func tilesBefore(r int) int {
	full := r / vec.Lanes // whole blocks of 24 rows: three rows of b+1 tiles for block b
	rest := (r - full*vec.Lanes) / vec.Rows
	return 3*full*(full+1)/2 + rest*(full+1)
}

// gaussianScale is by what a coordinate is multiplied so that the squared exponential is
// 2^(-squared distance).
func (t *sharedTerm) gaussianScale(coord int) float64 {
	return vec.GaussianScale / t.lengthscale[coord]
}
