package gpcore

// Load replaces all observations: x is n x d row-major, y and noiseVariance have n
// elements. O(n^3/3) operations, in blocks of 24. The first call of Load,
// SetNoises or SetKernel allocates a second factor; later ones allocate nothing
// of size n^2. It returns ErrFull, ErrShape, ErrNotPositiveDefinite or a
// *ValueError.
func (g *GP) Load(x, y, noiseVariance []float64) error {
	n, d := len(y), g.points.d
	if len(x) != n*d || len(noiseVariance) != n {
		return ErrShape
	}
	if n > g.points.cap {
		return ErrFull
	}
	for _, err := range []error{checkFinite(nameX, x), checkFinite(nameY, y), checkNoise(noiseVariance)} {
		if err != nil {
			return err
		}
	}
	c := newCloud(d, g.points.cap, g.eval)
	copy(c.x, x)
	c.embed(g.eval, n)
	if err := g.factorise(job{c, g.kernel, g.eval}, y, noiseVariance); err != nil {
		return err
	}
	g.points = c
	return nil
}

// SetNoises changes every noise variance by an exact refactorisation, O(n^3/3).
func (g *GP) SetNoises(noiseVariance []float64) error {
	if len(noiseVariance) != g.f.n {
		return ErrShape
	}
	if err := checkNoise(noiseVariance); err != nil {
		return err
	}
	return g.factorise(job{g.points, g.kernel, g.eval}, g.f.y[:g.f.n], noiseVariance)
}

// SetKernel refactorises with another kernel of the same dimension, O(n^3/3).
// Readers follow at their next use.
func (g *GP) SetKernel(k Kernel) error {
	if k.Dim() != g.points.d {
		return ErrShape
	}
	return g.refit(k, g.f.noise[:g.f.n])
}

// refit refactorises with another kernel and other noise variances.
func (g *GP) refit(k Kernel, noise []float64) error {
	n := g.f.n
	e := compile(k, g.points.cap)
	c := newCloud(k.Dim(), g.points.cap, e)
	copy(c.x, g.points.x)
	c.embed(e, n)
	if err := g.factorise(job{c, k, e}, g.f.y[:n], noise); err != nil {
		return err
	}
	g.points, g.kernel, g.eval = c, k, e
	g.point = make([]float64, e.width)
	g.version++
	return nil
}

// job is what a factor is built from.
type job struct {
	c *cloud
	k Kernel
	e compiled
}

// factorise builds the factor of y and noise at the points of j in the spare
// memory and, where that succeeds, puts it in place.
func (g *GP) factorise(j job, y, noise []float64) error {
	if g.spare == nil {
		g.spare = newFactor(g.points.cap)
	}
	s := g.spare
	s.reset()
	for n := 0; n < len(y); n += lanes {
		if err := g.extend(s, j, y[n:min(n+lanes, len(y))], noise[n:min(n+lanes, len(y))]); err != nil {
			return err
		}
	}
	s.finishAlpha()
	g.f, g.spare = s, g.f
	return nil
}

// extend appends the next len(y) <= 24 points of j to s, whose points so far are
// the first of j. s.n must be a multiple of 24.
func (g *GP) extend(s *factor, j job, y, noise []float64) error {
	if g.blk == nil {
		c := up24(g.points.cap) * lanes
		g.blk = &block{cross: make([]float64, c), self: make([]float64, lanes*lanes),
			v: make([]float64, c), u: make([]float64, c)}
	}
	b, n := g.blk, s.n
	b.m, b.y, b.noise = len(y), y, noise
	w := j.c.width
	at := j.c.blocks[n*w : (n+lanes)*w]
	b.job = panel{rows: j.c.rows, rowCap: j.c.cap, lane: at, n: n, out: b.cross}
	j.e.panel(&b.job)
	clear(b.cross[n*lanes : up8(n)*lanes])
	if err := finitePanel(b.cross[:n*lanes], b.m); err != nil {
		return err
	}
	for i := range b.m {
		x := j.c.x[(n+i)*j.c.d : (n+i+1)*j.c.d]
		j.e.embed(j.c.point, x)
		b.prior[i] = j.e.prior(j.c.point)
		b.job = panel{rows: j.c.point, rowCap: 1, lane: at, n: 1, out: b.self[i*lanes : (i+1)*lanes]}
		j.e.panel(&b.job)
		b.self[i*lanes+i] = b.prior[i]
	}
	if err := finitePanel(b.self[:b.m*lanes], b.m); err != nil {
		return err
	}
	if !s.appendBlock(b) {
		return ErrNotPositiveDefinite
	}
	return nil
}

// finitePanel refuses a panel whose first m lanes hold something not finite, and
// clears the rest, which may be stale.
func finitePanel(p []float64, m int) error {
	for k := 0; k < len(p); k += lanes {
		for _, v := range p[k : k+m] {
			if !finite(v) {
				return &ValueError{nameCov, k / lanes, v}
			}
		}
		clear(p[k+m : k+lanes])
	}
	return nil
}
