package model

import (
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Model is the state of a process: a core, which is replaced as a whole where a
// factorisation goes into fresh memory, a view of it, and the memory of the next
// factorisation.
type Model struct {
	*Core
	Version uint64 // counts changes of kernel
	own     *View
	spare   *factor.Factor
	former  *Core // the last one that was replaced: its memory is the next one's
	fill    *blockFill
	product []float64 // scratch: covariances of all points with 24
}

// New makes a model without observations.
func New(k kernels.Kernel, capacity int) *Model {
	return &Model{Core: newCore(k, factor.New(capacity), capacity, nil)}
}

// OwnView is for callers that have none of their own.
func (m *Model) OwnView() *View {
	if m.own == nil {
		m.own = NewView(m)
	}
	return m.own
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
	c := m.placed(m.Kernel, x)
	if err := m.factorise(c, y, noise); err != nil {
		m.former = c
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
	return m.LoadAs(k, m.Points.X[:n*m.Points.D], m.Factor.Y[:n], noise)
}

// LoadAs is Load with another kernel.
func (m *Model) LoadAs(k kernels.Kernel, x, y, noise []float64) error {
	c := m.placed(k, x)
	if err := m.factorise(c, y, noise); err != nil {
		m.former = c
		return err
	}
	m.adopt(c)
	m.Version++ // views take the kernel up at their next use
	return nil
}

// Product sets dst to the product of a with the covariances that another kernel has between the
// points: dst_i = sum over j of k(x_i, x_j) a_j. Each covariance is computed once, for both of its points. O(n^2).
func (m *Model) Product(dst []float64, k kernels.Kernel, a []float64) {
	n, w := m.Factor.N, m.Points.D
	c := m.placed(k, m.Points.X[:n*w])
	m.former = c // it is given back
	m.product = vec.Grown(m.product, vec.Up24(n)*vec.Lanes)
	clear(dst[:n])
	var sum [vec.Lanes]float64
	for at := 0; at < n; at += vec.Lanes {
		c.job = panels.Panel{Rows: c.Points.Rows, RowCap: c.Points.Cap, First: at, Lane: c.Points.Blocks[at*c.Points.Width : (at+vec.Lanes)*c.Points.Width], N: n - at, Out: m.product}
		c.Eval.Fill(&c.job)
		vec.Combine(sum[:], a[at:n], m.product)
		for l, v := range sum[:min(vec.Lanes, n-at)] {
			dst[at+l] += v
		}
		for i := at + vec.Lanes; i < n; i++ { // of the block itself both halves were computed
			dst[i] += vec.Dot(m.product[(i-at)*vec.Lanes:(i-at+1)*vec.Lanes], a[at:at+vec.Lanes])
		}
	}
}

// placed is another core, in the spare memory, with points embedded for kernel k and no rows
// factorised.
func (m *Model) placed(k kernels.Kernel, x []float64) *Core {
	c := m.nextCore(k)
	copy(c.Points.X, x)
	c.Points.Embed(c.Eval, len(x)/c.Points.D)
	return c
}

// nextCore is a core without points, in the memory of the last one that was replaced.
func (m *Model) nextCore(k kernels.Kernel) *Core {
	c := newCore(k, m.spareFactor(), m.Points.Cap, m.former)
	m.former = nil
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

// adopt makes c the core; the memory of the old one is the next one's.
func (m *Model) adopt(c *Core) {
	m.spare, m.former = m.Factor, m.Core
	m.Core = c
}
