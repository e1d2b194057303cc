package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// evaluator is a kernel, or a part of one, prepared for panels of 24. Each leaf
// embeds a point into coordinates of its own (scaled by its lengthscales, say),
// at an offset of its own in the point's whole embedding. Evaluators hold scratch
// and are not safe for concurrent use.
type evaluator interface {
	// embed writes its coordinates of x into the whole embedding dst.
	embed(dst, x []float64)
	// prior is k(x, x) of the point with the whole embedding e.
	prior(e []float64) float64
	// panel fills p.out, and p.sum where p.weights is not nil.
	panel(p *panel)
	// gradient adds to g (width x 24) the derivatives of
	// sum over rows k of w[k*24+j]*k(row k, lane j) by the embedding of lane j.
	gradient(p *panel, w, g []float64)
	// rowGradient adds to g (width) the derivatives of
	// sum over lanes of w[j]*k(row 0, lane j) by the embedding of the row.
	rowGradient(p *panel, w, g []float64)
	// hyper adds to g the derivatives of sum over k, j of w[k*24+j]*k(row k, lane j)
	// by the logarithms of the hyperparameters.
	hyper(p *panel, w, g []float64)
	// pull adds to dst (d x 24) the derivatives g by embedded coordinates of the
	// lanes, taken back to the coordinates of the points.
	pull(dst, g, lane []float64)
}

// panel is one job of an evaluator: n points as rows against 24 lanes. Rows are
// stored leaf after leaf: the leaf whose coordinates start at o has its n rows
// from rows[o*rowCap] on, and the job starts at row first. lane is width x 24.
type panel struct {
	rows    []float64
	rowCap  int
	first   int
	lane    []float64
	n       int
	out     []float64 // n x 24
	weights []float64 // n, or nil
	sum     []float64 // 24: weights . out
}

// leaf is the rows of the leaf at this offset with w coordinates.
func (p *panel) leaf(offset, w int) []float64 {
	return p.rows[offset*p.rowCap+p.first*w:]
}

// combine sums the lanes for evaluators that do not do it while they fill.
func (p *panel) combine() {
	if p.weights != nil {
		vec.Combine(p.sum, p.weights[:p.n], p.out)
	}
}

// native is a kernel of this package, which can prepare itself.
type native interface {
	compile(b *builder) evaluator
}

// builder lays out the embedding while a kernel is prepared.
type builder struct {
	capacity int   // largest n of a panel
	widths   []int // of the leaves so far
	width    int   // their sum
}

// leaf reserves w coordinates and returns their offset.
func (b *builder) leaf(w int) int {
	o := b.width
	b.widths = append(b.widths, w)
	b.width += w
	return o
}

// scratch is a panel's worth of memory.
func (b *builder) scratch() []float64 {
	return make([]float64, vec.Up24(b.capacity)*vec.Lanes)
}

// child prepares any kernel: its own way, or pair by pair.
func (b *builder) child(k Kernel) evaluator {
	if n, ok := k.(native); ok {
		return n.compile(b)
	}
	return newGeneric(k, b)
}

// compiled is a whole kernel, prepared.
type compiled struct {
	evaluator
	width  int
	widths []int
}

func compile(k Kernel, capacity int) compiled {
	b := builder{capacity: capacity}
	e := b.child(k)
	return compiled{e, b.width, b.widths}
}
