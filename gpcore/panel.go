package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// evaluator is a kernel prepared for panels of 24. Each leaf of the kernel embeds
// a point into coordinates of its own (scaled by its lengthscales, say); a
// point's embedding is the concatenation over leaves. Evaluators may hold scratch
// and are not safe for concurrent use.
type evaluator interface {
	// width is the number of embedded coordinates.
	width() int
	// embed writes the embedded coordinates of x.
	embed(dst, x []float64)
	// panel fills p.Out with covariances.
	panel(p *panel)
}

// panel is one job of an evaluator: n points as rows against 24 lanes. Rows are
// stored leaf after leaf: the leaf whose coordinates start at o has its n rows
// from rows[o*rowCap] on. lanes is width x 24.
type panel struct {
	rows    []float64
	rowCap  int
	lanes   []float64
	n       int
	out     []float64 // n x 24
	weights []float64 // n, or nil
	sum     []float64 // weights . out, where weights is not nil
}

// newEvaluator prepares k for panels of up to capacity rows.
func newEvaluator(k Kernel, capacity int) evaluator {
	if s, ok := k.(*stationary); ok {
		return newRadial(s, 0)
	}
	return newGeneric(k, 0)
}

// radial evaluates a stationary kernel by the fused vector loops.
type radial struct {
	offset   int
	scale    []float64
	variance float64
	fill     func(*vec.Pairs)
	job      vec.Pairs
}

func newRadial(k *stationary, offset int) *radial {
	r := &radial{offset: offset, variance: k.variance}
	c := 0.0
	switch k.family {
	case gaussian:
		r.fill, c = vec.Gaussian, vec.GaussianScale
	case matern52:
		r.fill, c = vec.Matern52, vec.Matern52Scale
	}
	for _, l := range k.lengthscale {
		r.scale = append(r.scale, c/l)
	}
	return r
}

func (r *radial) width() int { return len(r.scale) }

func (r *radial) embed(dst, x []float64) {
	for i, s := range r.scale {
		dst[i] = x[i] * s
	}
}

func (r *radial) panel(p *panel) {
	d := len(r.scale)
	r.job = vec.Pairs{
		Rows: p.rows[r.offset*p.rowCap:], Lanes: p.lanes[r.offset*lanes:],
		N: p.n, D: d, Variance: r.variance, Out: p.out, Weights: p.weights, Sum: p.sum,
	}
	r.fill(&r.job)
}

// generic evaluates any Kernel pair by pair; the embedding is the point itself.
type generic struct {
	k      Kernel
	offset int
	y      []float64
}

func newGeneric(k Kernel, offset int) *generic {
	return &generic{k, offset, make([]float64, k.Dim())}
}

func (g *generic) width() int             { return len(g.y) }
func (g *generic) embed(dst, x []float64) { copy(dst, x) }

func (g *generic) panel(p *panel) {
	d := len(g.y)
	rows, cols := p.rows[g.offset*p.rowCap:], p.lanes[g.offset*lanes:]
	for j := range lanes {
		for i := range g.y {
			g.y[i] = cols[i*lanes+j]
		}
		for k := range p.n {
			p.out[k*lanes+j] = g.k.Cov(rows[k*d:k*d+d], g.y)
		}
	}
	if p.weights != nil {
		vec.Combine(p.sum, p.weights[:p.n], p.out)
	}
}
