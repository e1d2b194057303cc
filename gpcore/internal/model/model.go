package model

import (
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Model is the state of a process: a core, which is replaced as a whole where a
// factorisation goes into fresh memory, a view of it, and the memory of the next
// factorisation.
type Model struct {
	*Core
	Version uint64 // counts changes of kernel
	OwnView *View  // for callers that have none of their own
	spare   *factor.Factor
	fill    *blockFill
}

// New makes a model without observations.
func New(k kernels.Kernel, capacity int) *Model {
	m := &Model{Core: newCore(k, factor.New(capacity), capacity)}
	m.OwnView = NewView(m)
	return m
}

// Room is for how many observations whoever reads the model takes scratch: at least those that
// there are. It doubles as they do, up to the capacity, which few runs fill.
func (m *Model) Room() int {
	const first = 128
	n := first
	for n < m.Factor.N {
		n *= 2
	}
	return min(n, m.Points.Cap)
}

// CopyFrom copies the observations and the factor of o, which has the same kernel and
// capacity.
func (m *Model) CopyFrom(o *Model) {
	m.Factor.CopyFrom(o.Factor)
	m.Points.CopyFrom(o.Points)
}

// Load replaces all observations by checked ones. On error nothing has changed.
func (m *Model) Load(x, y, noise []float64) error {
	c := newCore(m.Kernel, m.spareFactor(), m.Points.Cap)
	copy(c.Points.X, x)
	c.Points.Embed(c.Eval, len(y))
	if err := m.factorise(c, y, noise); err != nil {
		return err
	}
	m.adopt(c)
	return nil
}

// SetNoises refactorises with other noise variances. On error nothing has changed.
func (m *Model) SetNoises(noise []float64) error {
	// The same points and kernel serve; only the factor is new.
	s, old := m.spareFactor(), m.Factor
	s.Reset()
	m.Factor = s
	if err := m.factorise(m.Core, old.Y[:old.N], noise); err != nil {
		m.Factor, m.spare = old, s
		return err
	}
	m.spare = old
	return nil
}

// Refit refactorises with another kernel and other noise variances. On error nothing
// has changed.
func (m *Model) Refit(k kernels.Kernel, noise []float64) error {
	n := m.Factor.N
	c := m.shadow(k)
	if err := m.factorise(c, m.Factor.Y[:n], noise); err != nil {
		return err
	}
	m.adopt(c)
	m.Version++ // views take the kernel up at their next use
	return nil
}

// shadow is another core, in the spare memory, with the same points embedded for kernel
// k and no rows factorised.
func (m *Model) shadow(k kernels.Kernel) *Core {
	c := newCore(k, m.spareFactor(), m.Points.Cap)
	copy(c.Points.X, m.Points.X)
	c.Points.Embed(c.Eval, m.Factor.N)
	return c
}

// spareFactor is the memory for a factorisation.
func (m *Model) spareFactor() *factor.Factor {
	if m.spare == nil {
		m.spare = factor.New(m.Points.Cap)
	}
	return m.spare
}

// Adopt takes the core of o, which is of the same shape.
func (m *Model) Adopt(o *Model) {
	m.adopt(o.Core)
	m.Version++
}

// adopt makes c the core; the old one's factor is the next spare.
func (m *Model) adopt(c *Core) {
	m.spare = m.Factor
	m.Core = c
}
