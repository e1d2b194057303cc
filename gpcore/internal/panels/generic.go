package panels

import "github.com/labtuner/tuner/gpcore/internal/vec"

// Generic evaluates any kernel pair by pair; the embedding is the point.
type Generic struct {
	k      Pairwise
	offset int
	y, g   []float64
	h      []float64 // derivatives by hyperparameters
}

func NewGeneric(k Pairwise, b *Builder) *Generic {
	d := k.Dim()
	return &Generic{k: k, offset: b.Leaf(d), y: make([]float64, d), g: make([]float64, d)}
}

func (e *Generic) Embed(dst, x []float64) { copy(dst[e.offset:], x) }

func (e *Generic) Prior(x []float64) float64 {
	return e.k.Variance(x[e.offset : e.offset+len(e.y)])
}

// Stationary: nobody knows.
func (e *Generic) Stationary() bool { return false }

// lane gathers lane j of a block.
func (e *Generic) lane(block []float64, j int) []float64 {
	for i := range e.y {
		e.y[i] = block[(e.offset+i)*vec.Lanes+j]
	}
	return e.y
}

func (e *Generic) Fill(p *Panel) {
	d := len(e.y)
	rows := p.Leaf(e.offset, d)
	for j := range vec.Lanes {
		y := e.lane(p.Lane, j)
		for k := range p.N {
			p.Out[k*vec.Lanes+j] = e.k.Cov(rows[k*d:k*d+d], y)
		}
	}
	p.Combine()
}

func (e *Generic) LaneGradient(p *Panel, w, g []float64) {
	d := len(e.y)
	rows := p.Leaf(e.offset, d)
	for j := range vec.Lanes {
		y := e.lane(p.Lane, j)
		for k := range p.N {
			if w[k*vec.Lanes+j] == 0 {
				continue
			}
			e.k.Gradient(e.g, y, rows[k*d:k*d+d])
			for i, v := range e.g {
				g[(e.offset+i)*vec.Lanes+j] += float64(w[k*vec.Lanes+j] * v)
			}
		}
	}
}

func (e *Generic) RowGradient(p *Panel, w, g []float64) {
	row := p.Leaf(e.offset, len(e.y))[:len(e.y)]
	for b := range len(w) / vec.Lanes {
		lane, weights := p.Block(b, w)
		for j, v := range weights {
			if v != 0 {
				e.k.Gradient(e.g, row, e.lane(lane, j))
				vec.Axpy(g[e.offset:e.offset+len(e.g)], v, e.g)
			}
		}
	}
}

func (e *Generic) HyperGradient(p *Panel, w, g []float64) {
	d := len(e.y)
	rows := p.Leaf(e.offset, d)
	e.h = vec.Grown(e.h, e.k.NumParams())
	for j := range vec.Lanes {
		y := e.lane(p.Lane, j)
		for k := range p.N {
			if v := w[k*vec.Lanes+j]; v != 0 {
				e.k.ParamGradient(e.h, rows[k*d:k*d+d], y)
				vec.Axpy(g[:len(e.h)], v, e.h)
			}
		}
	}
}

func (e *Generic) Pullback(dst, g, _ []float64) {
	o := e.offset * vec.Lanes
	for i := range len(e.y) * vec.Lanes {
		dst[i] += g[o+i]
	}
}
