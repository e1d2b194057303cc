package panels

import "github.com/labtuner/tuner/gpcore/internal/vec"

// Pairwise is what is asked of a kernel that cannot prepare itself. What the methods
// do: see kernels.Kernel.
type Pairwise interface {
	Dim() int
	Cov(x, y []float64) float64
	Variance(x []float64) float64
	NumParams() int
	Gradient(dst, x, y []float64)
	ParamGradient(dst, x, y []float64)
}

// Compilable is a kernel that can prepare itself.
type Compilable interface {
	Compile(b *Builder) Evaluator
}

// Builder lays out the embedding while a kernel is prepared.
type Builder struct {
	memory *Memory
	widths []int // of the leaves so far
	width  int   // their sum
}

// Leaf reserves w coordinates and returns their offset.
func (b *Builder) Leaf(w int) int {
	o := b.width
	b.widths = append(b.widths, w)
	b.width += w
	return o
}

// Scratch is a panel's worth of memory, to be taken when it is needed.
func (b *Builder) Scratch() *Scratch { return b.memory.next() }

// Child prepares any kernel: its own way, or pair by pair.
func (b *Builder) Child(k Pairwise) Evaluator {
	if n, ok := k.(Compilable); ok {
		return n.Compile(b)
	}
	return NewGeneric(k, b)
}

// Memory is the scratch of one prepared kernel at a time, for panels of so many rows.
type Memory struct {
	capacity int
	panels   []*Scratch
	used     int
}

func (m *Memory) next() *Scratch {
	if m.used == len(m.panels) {
		m.panels = append(m.panels, &Scratch{capacity: m.capacity})
	}
	m.used++
	return m.panels[m.used-1]
}

// Scratch is a panel, whose memory is taken when it is asked for: many evaluators never do.
type Scratch struct {
	capacity int
	values   []float64
}

// Rows is a panel of n rows. A single row is what most gradients ask for.
func (s *Scratch) Rows(n int) []float64 {
	if len(s.values) < n*vec.Lanes {
		rows := vec.Up24(s.capacity)
		if n == 1 {
			rows = 1
		}
		s.values = make([]float64, rows*vec.Lanes)
	}
	return s.values[:n*vec.Lanes]
}

// Compiled is a whole kernel, prepared.
type Compiled struct {
	Evaluator
	Width  int
	Widths []int
	memory *Memory
}

// Compile prepares a kernel for panels of at most so many rows.
func Compile(k Pairwise, capacity int) Compiled { return compile(k, &Memory{capacity: capacity}) }

// Again prepares another kernel, for panels of as many rows, in the memory of c, which must not be used any more.
func (c Compiled) Again(k Pairwise) Compiled {
	c.memory.used = 0
	return compile(k, c.memory)
}

func compile(k Pairwise, m *Memory) Compiled {
	b := Builder{memory: m}
	e := b.Child(k)
	return Compiled{e, b.width, b.widths, m}
}
