package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// GP is an exact Gaussian process with zero prior mean on at most Cap
// observations, each with a noise variance of its own:
//
//	y_i = f(x_i) + e_i,   f ~ GP(0, k),   e_i ~ N(0, noise_i).
//
// Append, Remove, Replace, SetTarget and SetNoise cost O(n^2) and allocate
// nothing. A method that returns an error has changed nothing. A GP is not safe
// for concurrent use; see [GP.Reader].
type GP struct {
	kernel  Kernel
	eval    compiled
	f       *factor
	spare   *factor // where refactorisations are built
	points  *cloud
	version uint64 // counts changes of kernel

	self      *Reader
	k, l, u   []float64 // kernel vector and its solves, up24(cap)
	t, cs     []float64 // carried row, rotation or rank-one coefficients
	point     []float64 // embedded new point
	sumK      [lanes]float64
	blk       *block
	vectorJob panel
}

// New makes a process without observations. All memory that the O(n^2) methods
// need is taken here: 8*capacity^2 bytes and O(capacity). It panics unless
// capacity is positive.
func New(k Kernel, capacity int) *GP {
	if capacity <= 0 {
		panic("gpcore: capacity must be positive")
	}
	g := &GP{kernel: k, eval: compile(k, capacity), f: newFactor(capacity)}
	c := up24(capacity)
	g.points = newCloud(k.Dim(), capacity, g.eval)
	g.k, g.l, g.u, g.t = make([]float64, c), make([]float64, c), make([]float64, c), make([]float64, c)
	g.cs = make([]float64, 3*c)
	g.point = make([]float64, g.eval.width)
	g.self = g.Reader()
	return g
}

// Len is the number of observations held.
func (g *GP) Len() int { return g.f.n }

// Cap is the number of observations that can be held.
func (g *GP) Cap() int { return g.points.cap }

// Dim is the number of coordinates of a point.
func (g *GP) Dim() int { return g.points.d }

// Kernel is the covariance function in use.
func (g *GP) Kernel() Kernel { return g.kernel }

// X is the point of observation i. It aliases the process's memory: read only,
// valid until the next change.
func (g *GP) X(i int) []float64 {
	g.mustHold(i)
	d := g.points.d
	return g.points.x[i*d : (i+1)*d : (i+1)*d]
}

// Target is y_i.
func (g *GP) Target(i int) float64 { g.mustHold(i); return g.f.y[i] }

// NoiseVariance is the noise variance of observation i.
func (g *GP) NoiseVariance(i int) float64 { g.mustHold(i); return g.f.noise[i] }

func (g *GP) mustHold(i int) {
	if i < 0 || i >= g.f.n {
		panic("gpcore: observation index out of range")
	}
}

// LogLikelihood is the log marginal likelihood
// -y^T K^-1 y/2 - log det K/2 - n/2 log(2 pi), K with its noise. O(n).
// Rasmussen & Williams (2006), eq. 2.30.
func (g *GP) LogLikelihood() float64 { return g.f.logLikelihood() }

// Clone is an independent copy with the same capacity.
func (g *GP) Clone() *GP {
	c := New(g.kernel, g.points.cap)
	c.f.copyFrom(g.f)
	copy(c.points.x, g.points.x)
	copy(c.points.rows, g.points.rows)
	copy(c.points.blocks, g.points.blocks)
	return c
}

// covariances fills g.k with k(x, x_j), zero-padded, from the embedded g.point.
// False: one of them is not finite.
func (g *GP) covariances() bool {
	n, w := g.f.n, g.points.width
	for b := 0; b < n; b += lanes {
		g.vectorJob = panel{
			rows: g.point, rowCap: 1, lane: g.points.blocks[b*w : (b+lanes)*w],
			n: 1, out: g.k[b : b+lanes],
		}
		g.eval.panel(&g.vectorJob)
	}
	clear(g.k[n:])
	s := 0.0
	for _, v := range g.k[:n] {
		s += v - v // NaN where v is not finite
	}
	return s == 0
}

// entry checks a new observation and prepares it for the factor.
func (g *GP) entry(x []float64, y, noise float64) (entry, error) {
	if len(x) != g.points.d {
		panic("gpcore: point has the wrong number of coordinates")
	}
	if err := checkFinite(nameX, x); err != nil {
		return entry{}, err
	}
	if !finite(y) {
		return entry{}, &ValueError{nameY, 0, y}
	}
	if !finite(noise) || noise < 0 {
		return entry{}, &ValueError{nameNoise, 0, noise}
	}
	g.eval.embed(g.point, x)
	prior := g.eval.prior(g.point)
	if !g.covariances() || !finite(prior) {
		return entry{}, &ValueError{nameCov, 0, math.NaN()}
	}
	return entry{k: g.k, prior: prior, y: y, noise: noise, scratchL: g.l, u: g.u}, nil
}

// Append adds an observation at x (d coordinates). O(n^2). It returns ErrFull,
// ErrNotPositiveDefinite or a *ValueError.
func (g *GP) Append(x []float64, y, noiseVariance float64) error {
	if g.f.n == g.points.cap {
		return ErrFull
	}
	e, err := g.entry(x, y, noiseVariance)
	if err != nil {
		return err
	}
	n := g.f.n
	if !g.f.append(e) {
		return ErrNotPositiveDefinite
	}
	g.points.set(n, x, g.point)
	return nil
}

// Remove takes observation i out; later ones move up by one. O(n^2). It returns
// ErrIndex where there is no such observation.
func (g *GP) Remove(i int) error {
	if i < 0 || i >= g.f.n {
		return ErrIndex
	}
	n := g.f.n
	r := removal{cs: g.cs, t: g.t}
	g.f.remove(&r, i)
	g.points.remove(i, n)
	return nil
}

// Replace removes observation i and appends another as the last, in one pass:
// cheaper than Remove and Append. O(n^2). Errors as Append and Remove.
func (g *GP) Replace(i int, x []float64, y, noiseVariance float64) error {
	if i < 0 || i >= g.f.n {
		return ErrIndex
	}
	e, err := g.entry(x, y, noiseVariance)
	if err != nil {
		return err
	}
	n := g.f.n
	r := removal{cs: g.cs, t: g.t}
	if !g.f.replace(&r, i, e) {
		return ErrNotPositiveDefinite
	}
	g.points.remove(i, n)
	g.points.set(n-1, x, g.point)
	return nil
}

// SetTarget changes y_i. O(n^2); the factor stays.
func (g *GP) SetTarget(i int, y float64) error {
	if i < 0 || i >= g.f.n {
		return ErrIndex
	}
	if !finite(y) {
		return &ValueError{nameY, i, y}
	}
	g.f.setTarget(i, y)
	return nil
}

// SetTargets changes every target; y has Len elements. O(n^2); the factor stays.
func (g *GP) SetTargets(y []float64) error {
	if len(y) != g.f.n {
		return ErrShape
	}
	if err := checkFinite(nameY, y); err != nil {
		return err
	}
	g.f.setTargets(y)
	return nil
}

// SetNoise changes the noise variance of observation i. O(n^2): a rank-one change,
// least for late observations, or about three times as much where the change is
// by orders of magnitude.
func (g *GP) SetNoise(i int, noiseVariance float64) error {
	if i < 0 || i >= g.f.n {
		return ErrIndex
	}
	if !finite(noiseVariance) || noiseVariance < 0 {
		return &ValueError{nameNoise, i, noiseVariance}
	}
	s := g.f.ratio(i, noiseVariance-g.f.noise[i])
	if s > 1.0/noiseStep && s < noiseStep {
		g.f.shiftNoise(i, noiseVariance, g.cs, g.t)
		return nil
	}
	e, err := g.entry(g.X(i), g.f.y[i], noiseVariance)
	if err != nil {
		return err
	}
	r := removal{cs: g.cs, t: g.t}
	if !g.f.renew(&r, i, e) {
		return ErrNotPositiveDefinite
	}
	return nil
}

// residual is y_i - k_i . alpha - noise_i*alpha_i, zero but for rounding.
func (g *GP) residual(i int) float64 {
	d := g.points.d
	g.eval.embed(g.point, g.points.x[i*d:(i+1)*d])
	g.covariances()
	n := g.f.n
	return g.f.y[i] - vec.Dot(g.k[:n], g.f.alpha) - g.f.noise[i]*g.f.alpha[i]
}
