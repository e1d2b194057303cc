package gpcore

import "github.com/labtuner/tuner/gpcore/internal/vec"

// Load replaces all observations: x is n x d row-major, y and noiseVariance have n
// elements. O(n^3/3) operations, in blocks of 24. The first call of a method that
// refactorises (Load, SetNoises, SetKernel, Refresh, StartRebuild) allocates a
// second factor. A rebuild in progress is abandoned. It returns ErrFull, ErrShape,
// ErrNotPositiveDefinite or a *ValueError.
func (g *GP) Load(x, y, noiseVariance []float64) error {
	n, d := len(y), g.points.d
	if len(x) != n*d || len(noiseVariance) != n {
		return ErrShape
	}
	if n > g.points.cap {
		return ErrFull
	}
	for _, err := range []error{checkFinite(nameX, x), checkTargets(y), checkNoise(noiseVariance)} {
		if err != nil {
			return err
		}
	}
	c := newCore(g.kernel, g.takeSpare(), g.points.cap)
	copy(c.points.x, x)
	c.points.embed(c.eval, n)
	if err := g.factorise(c, y, noiseVariance); err != nil {
		return err
	}
	g.adopt(c)
	return nil
}

// SetNoises changes every noise variance by an exact refactorisation, O(n^3/3); it
// allocates at the first call only. A rebuild in progress is abandoned, also where the
// call fails. It returns ErrShape, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) SetNoises(noiseVariance []float64) error {
	n := g.f.n
	if len(noiseVariance) != n {
		return ErrShape
	}
	if err := checkNoise(noiseVariance); err != nil {
		return err
	}
	// The same points and kernel serve; only the factor is new.
	s, old := g.takeSpare(), g.f
	s.reset()
	g.f = s
	if err := g.factorise(g.core, old.y[:n], noiseVariance); err != nil {
		g.f, g.spare = old, s
		return err
	}
	g.spare = old
	return nil
}

// Refresh refactorises what is held, O(n^3/3). No sequence of updates makes it
// necessary; it is the answer to a bad [GP.Audit]. It returns ErrNotPositiveDefinite
// where the observations were taken up at the edge of what rounding allows; then nothing
// has changed.
func (g *GP) Refresh() error { return g.SetNoises(g.f.noise[:g.f.n]) }

// SetKernel refactorises with another kernel of the same dimension, O(n^3/3).
// Readers follow at their next use. A rebuild in progress is abandoned.
// [GP.StartRebuild] does the same spread over many steps. It allocates O(Cap), at the
// first use O(Cap^2), and returns ErrShape, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) SetKernel(k Kernel) error {
	if k.Dim() != g.points.d {
		return ErrShape
	}
	return g.refit(k, g.f.noise[:g.f.n])
}

// refit refactorises with another kernel and other noise variances.
func (g *GP) refit(k Kernel, noise []float64) error {
	n := g.f.n
	c := newCore(k, g.takeSpare(), g.points.cap)
	copy(c.points.x, g.points.x)
	c.points.embed(c.eval, n)
	if err := g.factorise(c, g.f.y[:n], noise); err != nil {
		return err
	}
	g.adopt(c)
	g.version++ // readers take the kernel up at their next use
	return nil
}

// takeSpare is the memory for a factorisation. A rebuild that uses it is given up.
func (g *GP) takeSpare() *factor {
	g.AbandonRebuild()
	if g.spare == nil {
		g.spare = newFactor(g.points.cap)
	}
	return g.spare
}

// adopt makes c the process's core.
func (g *GP) adopt(c *core) {
	g.spare = g.f
	g.core = c
}

// factorise fills the empty factor of c with y and noise at its first points.
func (g *GP) factorise(c *core, y, noise []float64) error {
	for n := 0; n < len(y); n += lanes {
		m := min(lanes, len(y)-n)
		if err := g.extend(c, y[n:n+m], noise[n:n+m]); err != nil {
			return err
		}
	}
	c.f.finishAlpha()
	return nil
}

// extend adds the next len(y) <= 24 points of c to its factor. alpha is stale
// afterwards. On error the factor is as it was.
func (g *GP) extend(c *core, y, noise []float64) error {
	if g.blk == nil {
		g.blk = newBlock(c.points.cap)
	}
	b, n, p := g.blk, c.f.n, c.points
	b.m, b.y, b.noise = len(y), y, noise
	b.lane = resize(b.lane, p.width*lanes)
	for i := range lanes {
		c.eval.embed(c.point, p.at(n+min(i, b.m-1)))
		for q, v := range c.point {
			b.lane[q*lanes+i] = v
		}
	}
	b.job = panel{rows: p.rows, rowCap: p.cap, lane: b.lane, n: n, out: b.cross}
	c.eval.panel(&b.job)
	clear(b.cross[n*lanes : up8(n)*lanes])
	if err := checkPanel(b.cross[:n*lanes]); err != nil {
		return err
	}
	for i := range b.m {
		c.eval.embed(c.point, p.at(n+i))
		b.prior[i] = p.prior[n+i]
		b.job = panel{rows: c.point, rowCap: 1, lane: b.lane, n: 1, out: b.self[i*lanes : (i+1)*lanes]}
		c.eval.panel(&b.job)
		b.self[i*lanes+i] = b.prior[i]
	}
	if err := checkPanel(b.self[:b.m*lanes]); err != nil {
		return err
	}
	if !c.f.appendBlock(b) {
		return ErrNotPositiveDefinite
	}
	return nil
}

// nothing are the weights with which a sum is zero where all is finite, else NaN.
var nothing [8 * lanes]float64

// checkPanel refuses a panel of covariances that are not all finite.
func checkPanel(p []float64) error {
	sum := 0.0
	for rest := p; len(rest) > 0; {
		n := min(len(rest), len(nothing))
		sum += vec.Dot(rest[:n], nothing[:])
		rest = rest[n:]
	}
	if sum == 0 {
		return nil
	}
	for k, v := range p {
		if !finite(v) {
			return &ValueError{nameCov, k / lanes, v}
		}
	}
	return nil
}

// resize returns s with n elements, in new memory where it must grow.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
