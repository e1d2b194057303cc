package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// generic evaluates a foreign kernel pair by pair; the embedding is the point.
type generic struct {
	k      Kernel
	offset int
	y, g   []float64
	h      []float64 // derivatives by hyperparameters
}

func newGeneric(k Kernel, b *builder) *generic {
	d := k.Dim()
	return &generic{k: k, offset: b.leaf(d), y: make([]float64, d), g: make([]float64, d)}
}

func (e *generic) embed(dst, x []float64) { copy(dst[e.offset:], x) }

func (e *generic) prior(x []float64) float64 {
	return e.k.Variance(x[e.offset : e.offset+len(e.y)])
}

// lane gathers lane j.
func (e *generic) lane(p *panel, j int) []float64 {
	for i := range e.y {
		e.y[i] = p.lane[(e.offset+i)*vec.Lanes+j]
	}
	return e.y
}

func (e *generic) panel(p *panel) {
	d := len(e.y)
	rows := p.leaf(e.offset, d)
	for j := range vec.Lanes {
		y := e.lane(p, j)
		for k := range p.n {
			p.out[k*vec.Lanes+j] = e.k.Cov(rows[k*d:k*d+d], y)
		}
	}
	p.combine()
}

func (e *generic) gradient(p *panel, w, g []float64) {
	d := len(e.y)
	rows := p.leaf(e.offset, d)
	for j := range vec.Lanes {
		y := e.lane(p, j)
		for k := range p.n {
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

func (e *generic) rowGradient(p *panel, w, g []float64) {
	row := p.leaf(e.offset, len(e.y))[:len(e.y)]
	for j := range vec.Lanes {
		if w[j] != 0 {
			e.k.Gradient(e.g, row, e.lane(p, j))
			vec.Axpy(g[e.offset:e.offset+len(e.g)], w[j], e.g)
		}
	}
}

func (e *generic) hyper(p *panel, w, g []float64) {
	d := len(e.y)
	rows := p.leaf(e.offset, d)
	e.h = vec.Grown(e.h, e.k.NumParams())
	for j := range vec.Lanes {
		y := e.lane(p, j)
		for k := range p.n {
			if v := w[k*vec.Lanes+j]; v != 0 {
				e.k.ParamGradient(e.h, rows[k*d:k*d+d], y)
				vec.Axpy(g[:len(e.h)], v, e.h)
			}
		}
	}
}

func (e *generic) pull(dst, g, _ []float64) {
	o := e.offset * vec.Lanes
	for i := range len(e.y) * vec.Lanes {
		dst[i] += g[o+i]
	}
}
