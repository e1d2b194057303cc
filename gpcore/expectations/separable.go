package expectations

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// separable is one control set's view of one process with a squared exponential kernel:
//
//	k(x_j, (c, r)) = variance * c_j(c) * s_j(r),
//
// c_j the factor of the controlled coordinates and s_j that of the random ones.
type separable struct {
	gaussian bool // the process has such a kernel; else nothing else is filled
	closed   bool // the term is linear, E[mu] = sum over j of mean_j c_j: taken beforehand
	n, dc    int
	variance float64
	scale    []float64 // of the controlled coordinates
	rows     []float64 // n x dc, scaled
	columns  []float64 // dc x n, the same
	blocks   []float64 // the same in blocks of 24, each dc x 24
	// mean are variance*alpha_j*E[s_j], or alpha_j where no coordinate is random;
	// meanRows[k*n+j] is that times rows[j*dc+k].
	mean, meanRows []float64

	// The bound: E[sigma^2] = variance - c^T (K^-1 o E[s s^T]) c. bound is the lower
	// triangle of that matrix times variance^2, off-diagonal elements doubled.
	bound       []float64
	boundLd     int
	rootFactors []float64 // blocks of (nodes x 24): sqrt(2 w_q)*variance*s_j(r_q)
	nodes       []float64 // scaled, with one coordinate more for the weight
	weights     []float64 // what is left of the weights: sqrt(w_q*largest)
	largest     float64   // weight
	lane        []float64
	tile        [tileSize]float64
	job         vec.Pairs
}

// prepare takes up term i of a control set.
func (f *separable) prepare(s *controlSet, i int) {
	t := s.shared[i]
	f.gaussian = t.gaussian
	f.closed = f.gaussian && len(s.random) > 0 && s.terms[i].linear() && s.terms[i].Offset == nil
	if !f.gaussian {
		return
	}
	n := t.n
	f.n, f.dc, f.variance = n, len(s.in.Controlled), t.variance
	f.embed(s, t)
	f.mean, f.meanRows = vec.Grown(f.mean, n), vec.Grown(f.meanRows, n*f.dc)
	copy(f.mean, t.alpha)
	if f.closed {
		f.expectMean(s, t)
	}
	copy(f.meanRows, f.columns)
	for k := range f.dc {
		vec.Multiply(f.meanRows[k*n:(k+1)*n], f.mean)
	}
}

// embed stores the controlled coordinates of the points, scaled.
func (f *separable) embed(s *controlSet, t *sharedTerm) {
	n, dc := f.n, f.dc
	f.scale, f.rows = vec.Grown(f.scale, dc), vec.Grown(f.rows, n*dc)
	f.columns, f.blocks = vec.Grown(f.columns, n*dc), vec.Grown(f.blocks, vec.Up24(n)*dc)
	for k, c := range s.in.Controlled {
		f.scale[k] = t.gaussianScale(c)
		for j := range n {
			v := t.x[j*s.d+c] * f.scale[k]
			f.rows[j*dc+k], f.columns[k*n+j] = v, v
			f.blocks[(j/vec.Lanes*dc+k)*vec.Lanes+j%vec.Lanes] = v
		}
	}
}

// expectMean multiplies mean by variance*E[s_j]: products of one-dimensional factors
// where the coordinates are independent, else the average over the nodes.
func (f *separable) expectMean(s *controlSet, t *sharedTerm) {
	for j := range f.mean {
		f.mean[j] *= f.variance
	}
	if s.in.Nodes == nil {
		for k, m := range s.in.Random {
			vec.Multiply(f.mean, t.factor(s.random[k], m).v)
		}
		return
	}
	q := len(s.nodes.Weight)
	f.scaleNodes(s, t)
	f.rootFactors = vec.Grown(f.rootFactors, q*vec.Lanes)
	var sum [vec.Lanes]float64
	for b := 0; b < f.n; b += vec.Lanes {
		f.loadLanes(s, t, b)
		f.job = vec.Pairs{
			Rows: f.nodes, Lanes: f.lane, N: q, D: len(s.random) + 1, Variance: 1,
			Out: f.rootFactors[:q*vec.Lanes], Weights: f.weights, Sum: sum[:],
		}
		vec.Gaussian(&f.job)
		vec.Multiply(f.mean[b:min(b+vec.Lanes, f.n)], sum[:])
	}
}

// prepareBound fills the bound's matrix, tile by tile: the expectation of s s^T is a
// product of the halves, its tile is multiplied with that of K^-1.
func (f *separable) prepareBound(s *controlSet, i int) {
	t, q := s.shared[i], len(s.nodes.Weight)
	rows := vec.Up8(f.n)
	if f.boundLd < vec.Up24(f.n)+8 || len(f.bound) < rows*f.boundLd {
		f.boundLd = factor.Stride(f.n + f.n/4)
		f.bound = make([]float64, (vec.Up8(f.n+f.n/4)+8)*f.boundLd)
	}
	f.fillRootFactors(s, t)
	for r := 0; r < rows; r += vec.Rows {
		left := f.rootFactors[r/vec.Lanes*q*vec.Lanes+r%vec.Lanes:]
		inverse := t.inverse[tilesBefore(r)*tileSize:]
		for b := 0; b*vec.Lanes <= r; b++ {
			vec.TileT(f.tile[:], left, vec.Lanes, f.rootFactors[b*q*vec.Lanes:], q)
			vec.Multiply(f.tile[:], inverse[b*tileSize:(b+1)*tileSize])
			for k := range vec.Rows {
				copy(f.bound[(r+k)*f.boundLd+b*vec.Lanes:], f.tile[k*vec.Lanes:(k+1)*vec.Lanes])
			}
		}
		for k := r; k < r+vec.Rows; k++ {
			f.bound[k*f.boundLd+k] /= 2
			clear(f.bound[k*f.boundLd+k+1 : k*f.boundLd+vec.Up24(r+vec.Rows)])
		}
	}
}

// fillRootFactors evaluates sqrt(2 w_q)*variance*s_j(r_q) with nodes as rows and points as
// lanes.
func (f *separable) fillRootFactors(s *controlSet, t *sharedTerm) {
	q, blocks := len(s.nodes.Weight), vec.Up24(f.n)/vec.Lanes
	f.scaleNodes(s, t)
	f.rootFactors = vec.Grown(f.rootFactors, blocks*q*vec.Lanes)
	for b := range blocks {
		f.loadLanes(s, t, b*vec.Lanes)
		f.job = vec.Pairs{
			Rows: f.nodes, Lanes: f.lane, N: q, D: len(s.random) + 1,
			Variance: f.variance * math.Sqrt(2*f.largest), Out: f.rootFactors[b*q*vec.Lanes : (b+1)*q*vec.Lanes],
		}
		vec.Gaussian(&f.job)
	}
}

// scaleNodes stores the nodes, scaled. The square root of a weight is one more
// coordinate, 2^(-a^2) with a^2 = log2(sqrt(largest/w_q)), which the points have at zero.
func (f *separable) scaleNodes(s *controlSet, t *sharedTerm) {
	dr, q := len(s.random), len(s.nodes.Weight)
	f.largest = slices.Max(s.nodes.Weight)
	f.nodes, f.lane = vec.Grown(f.nodes, q*(dr+1)), vec.Grown(f.lane, (dr+1)*vec.Lanes)
	f.weights = vec.Grown(f.weights, q)
	clear(f.lane)
	for k, w := range s.nodes.Weight {
		row := f.nodes[k*(dr+1) : (k+1)*(dr+1)]
		for j, c := range s.random {
			row[j] = s.nodes.X[k*dr+j] * t.gaussianScale(c)
		}
		row[dr] = math.Sqrt(0.5 * math.Log2(f.largest/w))
		f.weights[k] = math.Sqrt(w * f.largest)
	}
}

// loadLanes makes points b..b+23 the lanes.
func (f *separable) loadLanes(s *controlSet, t *sharedTerm, b int) {
	for j, c := range s.random {
		scale := t.gaussianScale(c)
		for l := range min(vec.Lanes, f.n-b) {
			f.lane[j*vec.Lanes+l] = t.x[(b+l)*s.d+c] * scale
		}
	}
}
