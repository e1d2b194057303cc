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
	capacity int   // largest n of a panel
	widths   []int // of the leaves so far
	width    int   // their sum
}

// Leaf reserves w coordinates and returns their offset.
func (b *Builder) Leaf(w int) int {
	o := b.width
	b.widths = append(b.widths, w)
	b.width += w
	return o
}

// Scratch is a panel's worth of memory.
func (b *Builder) Scratch() []float64 {
	return make([]float64, vec.Up24(b.capacity)*vec.Lanes)
}

// Child prepares any kernel: its own way, or pair by pair.
func (b *Builder) Child(k Pairwise) Evaluator {
	if n, ok := k.(Compilable); ok {
		return n.Compile(b)
	}
	return NewGeneric(k, b)
}

// Compiled is a whole kernel, prepared.
type Compiled struct {
	Evaluator
	Width  int
	Widths []int
}

func Compile(k Pairwise, capacity int) Compiled {
	b := Builder{capacity: capacity}
	e := b.Child(k)
	return Compiled{e, b.width, b.widths}
}
