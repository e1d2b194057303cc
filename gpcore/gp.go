package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// GP is an exact Gaussian process with zero prior mean on at most Cap
// observations, each with its own noise variance:
//
//	y_i = f(x_i) + e_i,   f ~ GP(0, k),   e_i ~ N(0, noise_i).
//
// Append, Remove, Replace, SetTarget and SetNoise cost O(n^2) and allocate
// nothing, but where the memory doubles. A method that returns an error has changed nothing. A GP is not safe
// for concurrent use; see [GP.Reader].
type GP struct {
	m       *model.Model
	audited int // where the next Audit looks
}

// New makes a process without observations. Memory for 128 is taken with the first
// one, and doubles with them up to 8*capacity^2 bytes and O(capacity). It panics unless
// capacity is positive.
func New(k kernels.Kernel, capacity int) *GP {
	if capacity <= 0 {
		panic("gpcore: capacity must be positive")
	}
	return &GP{m: model.New(k, capacity)}
}

// Len is the number of observations held.
func (g *GP) Len() int { return g.m.Factor.N }

// Cap is the number of observations that can be held.
func (g *GP) Cap() int { return g.m.Points.Cap }

// Dim is the number of coordinates of a point.
func (g *GP) Dim() int { return g.m.Points.D }

// Kernel is the covariance function in use.
func (g *GP) Kernel() kernels.Kernel { return g.m.Kernel }

// X is the point of observation i. It aliases the process's memory: read only,
// valid until the next change. Like Target and NoiseVariance it panics where there
// is no observation i.
func (g *GP) X(i int) []float64 { g.checkIndex(i); return g.m.Points.At(i) }

// Target is y_i.
func (g *GP) Target(i int) float64 { g.checkIndex(i); return g.m.Factor.Y[i] }

// NoiseVariance is the noise variance of observation i.
func (g *GP) NoiseVariance(i int) float64 { g.checkIndex(i); return g.m.Factor.Noise[i] }

func (g *GP) checkIndex(i int) {
	if !g.hasIndex(i) {
		panic("gpcore: observation index out of range")
	}
}

func (g *GP) hasIndex(i int) bool { return i >= 0 && i < g.m.Factor.N }

// LogLikelihood is the log marginal likelihood
// -y^T K^-1 y/2 - log det K/2 - n/2 log(2 pi), K with its noise. O(n).
// Rasmussen & Williams (2006), eq. 2.30.
func (g *GP) LogLikelihood() float64 { return g.m.Factor.LogLikelihood() }

// Clone is an independent copy with the same capacity, in its own memory, O(Cap^2).
func (g *GP) Clone() *GP {
	c := New(g.m.Kernel, g.m.Points.Cap)
	c.m.CopyFrom(g.m)
	return c
}

// check refuses numbers that no observation can have.
func (g *GP) check(x []float64, y, noise float64) error {
	if len(x) != g.m.Points.D {
		panic("gpcore: point has the wrong number of coordinates")
	}
	if err := check.Finite(check.NameX, x); err != nil {
		return err
	}
	if err := check.Target(0, y); err != nil {
		return err
	}
	return check.Noise(0, noise)
}

// Append adds an observation at x (d coordinates). O(n^2). It returns ErrFull,
// ErrNotPositiveDefinite or a *ValueError.
func (g *GP) Append(x []float64, y, noiseVariance float64) error {
	if g.m.Factor.N == g.m.Points.Cap {
		return ErrFull
	}
	e, s, err := g.prepareAppend(x, y, noiseVariance)
	if err != nil {
		return err
	}
	g.commitAppend(x, e, s)
	return nil
}

// prepareAppend does all of Append that can fail, and changes nothing.
func (g *GP) prepareAppend(x []float64, y, noise float64) (factor.Entry, float64, error) {
	if err := g.check(x, y, noise); err != nil {
		return factor.Entry{}, 0, err
	}
	return g.m.PrepareAppend(x, y, noise)
}

func (g *GP) commitAppend(x []float64, e factor.Entry, s float64) {
	g.m.Append(x, e, s)
}

// Remove takes observation i out; later ones move up by one. O(n^2). It returns
// ErrIndex where there is no such observation.
func (g *GP) Remove(i int) error {
	if !g.hasIndex(i) {
		return ErrIndex
	}
	n, r := g.m.Factor.N, g.m.Removal()
	g.m.Factor.Remove(&r, i)
	g.m.Points.Remove(i, n)
	return nil
}

// Replace removes observation i and appends another as the last, in one pass:
// cheaper than Remove and Append. O(n^2). Errors as Append and Remove.
func (g *GP) Replace(i int, x []float64, y, noiseVariance float64) error {
	if !g.hasIndex(i) {
		return ErrIndex
	}
	if err := g.check(x, y, noiseVariance); err != nil {
		return err
	}
	e, s, err := g.m.PrepareReplace(i, x, y, noiseVariance)
	if err != nil {
		return err
	}
	g.commitReplace(i, x, e, s)
	return nil
}

func (g *GP) commitReplace(i int, x []float64, e factor.Entry, s float64) {
	g.m.Replace(i, x, e, s)
}

// SetTarget changes y_i. O(n^2); the factor stays. It returns ErrIndex or a
// *ValueError.
func (g *GP) SetTarget(i int, y float64) error {
	if !g.hasIndex(i) {
		return ErrIndex
	}
	if err := check.Target(i, y); err != nil {
		return err
	}
	g.m.Factor.SetTarget(i, y)
	return nil
}

// SetTargets changes every target; y has Len elements. O(n^2); the factor stays. It
// returns ErrShape or a *ValueError.
func (g *GP) SetTargets(y []float64) error {
	if len(y) != g.m.Factor.N {
		return ErrShape
	}
	if err := check.Targets(y); err != nil {
		return err
	}
	g.m.Factor.SetTargets(y)
	return nil
}

// SetNoise changes the noise variance of observation i. O(n^2): a rank-one change,
// least for late observations, or about three times as much where the change is
// by orders of magnitude. To change many at once see [GP.TrackNoises]. It returns
// ErrIndex, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) SetNoise(i int, noiseVariance float64) error {
	if !g.hasIndex(i) {
		return ErrIndex
	}
	if err := check.Noise(i, noiseVariance); err != nil {
		return err
	}
	n, err := g.m.PrepareNoise(i, noiseVariance)
	if err != nil {
		return err
	}
	g.commitNoise(n)
	return nil
}

func (g *GP) commitNoise(n model.NoiseChange) {
	g.m.ApplyNoise(n)
}

// Weights sets dst to K^-1 y, K with its noise; dst has Len elements. O(n).
func (g *GP) Weights(dst []float64) {
	if len(dst) != g.m.Factor.N {
		panic("gpcore: Weights needs one element per observation")
	}
	copy(dst, g.m.Factor.Alpha)
}

// FittedMeans sets dst[i] to the posterior mean at the point of observation i,
// y_i - noise_i*alpha_i; dst has Len elements. O(n).
func (g *GP) FittedMeans(dst []float64) {
	if len(dst) != g.m.Factor.N {
		panic("gpcore: FittedMeans needs one element per observation")
	}
	for i := range dst {
		dst[i] = g.m.Factor.Y[i] - g.m.Factor.Noise[i]*g.m.Factor.Alpha[i]
	}
}

// LeaveOneOut sets mean[i] and variance[i] to the prediction of y_i from all other
// observations: y_i - alpha_i/(K^-1)_ii and 1/(K^-1)_ii, the latter with the noise
// of y_i. Both have Len elements. O(n); O(n^2) after a refactorisation.
// Rasmussen & Williams (2006), eq. 5.12.
func (g *GP) LeaveOneOut(mean, variance []float64) {
	if len(mean) != g.m.Factor.N || len(variance) != g.m.Factor.N {
		panic("gpcore: LeaveOneOut needs one element per observation")
	}
	for i, q := range g.m.Factor.InverseDiagonal() {
		mean[i], variance[i] = g.m.Factor.Y[i]-g.m.Factor.Alpha[i]/q, 1/q
	}
}

// Audit checks the linear algebra at one observation, the next at each call: the
// residual of K alpha = y there, relative to its terms. It is a few times 1e-16
// times the square root of n where all is well, whatever the noise; above 1e-8
// call [GP.Refresh]. O(n). A process without observations has residual zero.
func (g *GP) Audit() (i int, residual float64) {
	if g.m.Factor.N == 0 {
		return 0, 0
	}
	i = g.audited % g.m.Factor.N
	g.audited = i + 1
	return i, g.m.Residual(i)
}

// Model is what the rooms of gpcore above this one read: kernel, points and factor. Its
// type is internal to gpcore; nothing but the process may change it.
func (g *GP) Model() *model.Model { return g.m }
