package model

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Core is a kernel, the points embedded for it, and the factor of their
// covariances: one consistent model, with the scratch to change it. While a
// process is rebuilt, the factor holds only the first Factor.N of the points.
type Core struct {
	Kernel kernels.Kernel
	Eval   panels.Compiled
	Points *Points
	Factor *factor.Factor

	k, l, u []float64 // kernel vector and its solves, vec.Up24(cap)
	t, cs   []float64 // carried row; rotation or rank-one coefficients
	Point   []float64 // embedded new point
	job     panels.Panel
}

// newCore makes a core on the memory of f, which is emptied, and on that of a former core of the same
// capacity; nil: there is none.
func newCore(k kernels.Kernel, f *factor.Factor, capacity int, former *Core) *Core {
	f.Reset()
	var e panels.Compiled
	if former == nil {
		e = panels.Compile(k, capacity)
	} else if e = former.Eval.Again(k); former.Points.Suit(k.Dim(), capacity, e) {
		former.Kernel, former.Eval, former.Factor = k, e, f
		former.Points.clear()
		return former
	}
	n := vec.Up24(capacity)
	v := make([]float64, 7*n)
	c := &Core{Kernel: k, Eval: e, Factor: f, Points: NewPoints(k.Dim(), capacity, e), Point: make([]float64, e.Width)}
	c.k, c.l, c.u, c.t, c.cs = v[:n], v[n:2*n], v[2*n:3*n], v[3*n:4*n], v[4*n:]
	return c
}

// covariances fills c.k with k(x, x_j) of the first N points, zero-padded, from
// the embedded c.Point. False: one of them is not finite.
func (c *Core) covariances() bool {
	n, w := c.Factor.N, c.Points.Width
	for b := 0; b < n; b += vec.Lanes {
		c.job = panels.Panel{
			Rows: c.Point, RowCap: 1, Lane: c.Points.Blocks[b*w : (b+vec.Lanes)*w],
			N: 1, Out: c.k[b : b+vec.Lanes],
		}
		c.Eval.Fill(&c.job)
	}
	clear(c.k[n:])
	s := 0.0
	for _, v := range c.k[:n] {
		s += v - v // NaN where v is not finite
	}
	return s == 0
}

// entry prepares an observation with checked numbers for the factor.
func (c *Core) entry(x []float64, y, noise float64) (factor.Entry, error) {
	c.Eval.Embed(c.Point, x)
	prior := c.Eval.Prior(c.Point)
	if !c.covariances() || !check.IsFinite(prior) {
		return factor.Entry{}, &check.ValueError{What: check.NameCov, Index: 0, Value: math.NaN()}
	}
	return factor.Entry{K: c.k, Prior: prior, Y: y, Noise: noise, ScratchL: c.l, U: c.u}, nil
}

func (c *Core) Removal() factor.Removal { return factor.Removal{CS: c.cs, T: c.t} }

// PrepareAppend does all of adding an observation with checked numbers that can fail,
// and changes nothing. s is its pivot.
func (c *Core) PrepareAppend(x []float64, y, noise float64) (e factor.Entry, s float64, err error) {
	if e, err = c.entry(x, y, noise); err != nil {
		return factor.Entry{}, 0, err
	}
	s, ok := c.Factor.Pivot(e)
	if !ok {
		return factor.Entry{}, 0, check.ErrNotPositiveDefinite
	}
	return e, s, nil
}

// Append adds an observation that has been prepared and whose pivot is s.
func (c *Core) Append(x []float64, e factor.Entry, s float64) {
	n := c.Factor.N
	c.Factor.Commit(e, s)
	c.Points.Set(n, x, c.Point, e.Prior)
}

// PrepareReplace does all of a replacement of i that can fail. On error nothing has
// changed.
func (c *Core) PrepareReplace(i int, x []float64, y, noise float64) (e factor.Entry, s float64, err error) {
	if e, err = c.entry(x, y, noise); err != nil {
		return e, 0, err
	}
	s, ok := c.Factor.Replaceable(i, e)
	if !ok {
		return e, 0, check.ErrNotPositiveDefinite
	}
	return e, s, nil
}

// Replace replaces i by what PrepareReplace prepared.
func (c *Core) Replace(i int, x []float64, e factor.Entry, s float64) {
	n, r := c.Factor.N, c.Removal()
	c.Factor.Replace(&r, i, e, s)
	c.Points.Remove(i, n)
	c.Points.Set(n-1, x, c.Point, e.Prior)
}

// NoiseChange is a change of one noise variance that cannot fail any more.
type NoiseChange struct {
	Index   int
	Noise   float64
	rankOne bool
	e       factor.Entry
	s       float64
}

// PrepareNoise does all of a change of noise that can fail. On error nothing has
// changed.
func (c *Core) PrepareNoise(i int, noise float64) (n NoiseChange, err error) {
	n.Index, n.Noise = i, noise
	q := c.Factor.Ratio(i, noise-c.Factor.Noise[i])
	if n.rankOne = q > 1.0/factor.NoiseStep && q < factor.NoiseStep; !n.rankOne {
		n.e, n.s, err = c.PrepareReplace(i, c.Points.At(i), c.Factor.Y[i], noise)
	}
	return n, err
}

func (c *Core) ApplyNoise(n NoiseChange) {
	if n.rankOne {
		c.Factor.ShiftNoise(n.Index, n.Noise, c.cs, c.t)
		return
	}
	r := c.Removal()
	c.Factor.ReplaceInPlace(&r, n.Index, n.e, n.s)
}

// SetNoise changes the noise variance of observation i. On error nothing has
// changed.
func (c *Core) SetNoise(i int, noise float64) error {
	n, err := c.PrepareNoise(i, noise)
	if err == nil {
		c.ApplyNoise(n)
	}
	return err
}

// Residual is what is left of y_i - k_i . alpha - noise_i*alpha_i, relative to the
// sum of the absolute terms.
func (c *Core) Residual(i int) float64 {
	f := c.Factor
	c.Eval.Embed(c.Point, c.Points.At(i))
	c.covariances()
	a := f.Noise[i] * f.Alpha[i]
	s, scale := f.Y[i]-a, math.Abs(f.Y[i])+math.Abs(a)
	for j, k := range c.k[:f.N] {
		t := k * f.Alpha[j]
		s -= t
		scale += math.Abs(t)
	}
	if scale == 0 {
		return 0
	}
	return math.Abs(s) / scale
}
