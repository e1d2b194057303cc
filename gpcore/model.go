package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// model is the state of a process: a core, which is replaced as a whole where a
// factorisation goes into fresh memory, a view of it, and the memory of the next
// factorisation.
type model struct {
	*core
	version uint64 // counts changes of kernel
	self    *view  // for callers that have none of their own
	spare   *factor.Factor
	fill    *filling
}

// newModel makes a model without observations.
func newModel(k kernels.Kernel, capacity int) *model {
	m := &model{core: newCore(k, factor.New(capacity), capacity)}
	m.self = newView(m)
	return m
}

// copyFrom copies the observations and the factor of o, which has the same kernel and
// capacity.
func (m *model) copyFrom(o *model) {
	m.f.CopyFrom(o.f)
	m.points.copyFrom(o.points)
}

// load replaces all observations by checked ones. On error nothing has changed.
func (m *model) load(x, y, noise []float64) error {
	c := newCore(m.kernel, m.takeSpare(), m.points.cap)
	copy(c.points.x, x)
	c.points.embed(c.eval, len(y))
	if err := m.factorise(c, y, noise); err != nil {
		return err
	}
	m.adopt(c)
	return nil
}

// setNoises refactorises with other noise variances. On error nothing has changed.
func (m *model) setNoises(noise []float64) error {
	// The same points and kernel serve; only the factor is new.
	s, old := m.takeSpare(), m.f
	s.Reset()
	m.f = s
	if err := m.factorise(m.core, old.Y[:old.N], noise); err != nil {
		m.f, m.spare = old, s
		return err
	}
	m.spare = old
	return nil
}

// refit refactorises with another kernel and other noise variances. On error nothing
// has changed.
func (m *model) refit(k kernels.Kernel, noise []float64) error {
	n := m.f.N
	c := m.shadow(k)
	if err := m.factorise(c, m.f.Y[:n], noise); err != nil {
		return err
	}
	m.adopt(c)
	m.version++ // views take the kernel up at their next use
	return nil
}

// shadow is another core, in the spare memory, with the same points embedded for kernel
// k and no rows factorised.
func (m *model) shadow(k kernels.Kernel) *core {
	c := newCore(k, m.takeSpare(), m.points.cap)
	copy(c.points.x, m.points.x)
	c.points.embed(c.eval, m.f.N)
	return c
}

// takeSpare is the memory for a factorisation.
func (m *model) takeSpare() *factor.Factor {
	if m.spare == nil {
		m.spare = factor.New(m.points.cap)
	}
	return m.spare
}

// adopt makes c the core; the old one's factor is the next spare.
func (m *model) adopt(c *core) {
	m.spare = m.f
	m.core = c
}

// replaceKernel adopts a shadow that is whole, and the view that was made for it.
func (m *model) replaceKernel(c *core, self *view) {
	m.adopt(c)
	m.version++
	m.self = self
}
