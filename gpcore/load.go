package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Load replaces all observations: x is n x d row-major, y and noiseVariance have n
// elements. O(n^3/3) operations, in blocks of 24. The first call of a method that
// refactorises (Load, SetNoises, SetKernel, Refresh) allocates a
// second factor. It returns ErrFull, ErrShape, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) Load(x, y, noiseVariance []float64) error {
	n, d := len(y), g.m.Points.D
	if len(x) != n*d || len(noiseVariance) != n {
		return ErrShape
	}
	if n > g.m.Points.Cap {
		return ErrFull
	}
	for _, err := range []error{check.Finite(check.NameX, x), check.Targets(y), check.Noises(noiseVariance)} {
		if err != nil {
			return err
		}
	}
	return g.m.Load(x, y, noiseVariance)
}

// Adopt makes g what o is: kernel, observations and factor. It costs nothing, whatever o took to load, and leaves o for
// nothing else. Readers of g follow at their next use. It returns ErrShape unless both have the same capacity and
// dimension.
func (g *GP) Adopt(o *GP) error {
	if g.Cap() != o.Cap() || g.Dim() != o.Dim() {
		return ErrShape
	}
	g.m.Adopt(o.m)
	return nil
}

// SetNoises changes every noise variance by an exact refactorisation, O(n^3/3); it
// allocates at the first call only. It returns ErrShape, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) SetNoises(noiseVariance []float64) error {
	n := g.m.Factor.N
	if len(noiseVariance) != n {
		return ErrShape
	}
	if err := check.Noises(noiseVariance); err != nil {
		return err
	}
	return g.m.SetNoises(noiseVariance)
}

// Refresh refactorises what is held, O(n^3/3). No sequence of updates makes it
// necessary; it is the answer to a bad [GP.Audit]. It returns ErrNotPositiveDefinite
// where the observations were taken up at the edge of what rounding allows; then nothing
// has changed.
func (g *GP) Refresh() error { return g.SetNoises(g.m.Factor.Noise[:g.m.Factor.N]) }

// SetKernel refactorises with another kernel of the same dimension, O(n^3/3).
// Readers follow at their next use. It allocates at its first use, O(Cap^2), and from then on next to nothing for a kernel
// of the same form; it returns ErrShape, ErrNotPositiveDefinite or a *ValueError.
func (g *GP) SetKernel(k kernels.Kernel) error {
	if k.Dim() != g.m.Points.D {
		return ErrShape
	}
	return g.m.Refit(k, g.m.Factor.Noise[:g.m.Factor.N])
}
