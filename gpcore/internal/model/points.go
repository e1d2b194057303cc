package model

import (
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Points holds the points of a process three times: as given, and embedded both as
// rows and as lanes, so that either side of a covariance panel can be the data.
type Points struct {
	D, Width, Cap int
	X             []float64 // cap x d, as given
	Rows          []float64 // embedded, as rows (see panel)
	Blocks        []float64 // embedded, [block of 24][width][24]
	Prior         []float64 // k(x, x)
	widths        []int     // of the leaves
	point         []float64 // scratch, width
}

func NewPoints(d, capacity int, e panels.Compiled) *Points {
	w := e.Width
	return &Points{
		D: d, Width: w, Cap: capacity, widths: e.Widths,
		X: make([]float64, capacity*d), Rows: make([]float64, capacity*w),
		Prior:  make([]float64, capacity),
		Blocks: make([]float64, vec.Up24(capacity)*w), point: make([]float64, w),
	}
}

// Suit reports whether points have this shape; nil: they do not.
func (c *Points) Suit(d, capacity int, e panels.Compiled) bool {
	return c != nil && c.D == d && c.Cap == capacity && slices.Equal(c.widths, e.Widths)
}

// clear makes points those of no observations.
func (c *Points) clear() {
	clear(c.X)
	clear(c.Rows)
	clear(c.Blocks)
	clear(c.Prior)
}

// At is point i as given.
func (c *Points) At(i int) []float64 { return c.X[i*c.D : (i+1)*c.D : (i+1)*c.D] }

// CopyFrom copies the points of o, which has the same shape.
func (c *Points) CopyFrom(o *Points) {
	copy(c.X, o.X)
	copy(c.Rows, o.Rows)
	copy(c.Blocks, o.Blocks)
	copy(c.Prior, o.Prior)
}

// Set stores x, already embedded as e and with k(x, x) = prior, as point i.
func (c *Points) Set(i int, x, e []float64, prior float64) {
	copy(c.X[i*c.D:(i+1)*c.D], x)
	c.Prior[i] = prior
	o := 0
	for _, w := range c.widths {
		copy(c.Rows[o*c.Cap+i*w:], e[o:o+w])
		o += w
	}
	block := c.Blocks[i/vec.Lanes*vec.Lanes*c.Width:]
	for q, v := range e {
		block[q*vec.Lanes+i%vec.Lanes] = v
	}
}

// Remove takes point i of n out; later points move up by one.
func (c *Points) Remove(i, n int) {
	copy(c.X[i*c.D:(n-1)*c.D], c.X[(i+1)*c.D:n*c.D])
	copy(c.Prior[i:n-1], c.Prior[i+1:n])
	o := 0
	for _, w := range c.widths {
		r := c.Rows[o*c.Cap:]
		copy(r[i*w:(n-1)*w], r[(i+1)*w:n*w])
		o += w
	}
	c.shiftLanes(i, n)
}

// shiftLanes moves the lanes after i up by one: within each block, and from the first
// lane of the next block to the last of the one before.
func (c *Points) shiftLanes(i, n int) {
	size := c.Width * vec.Lanes
	for b := i / vec.Lanes; b*vec.Lanes < n; b++ {
		block, from := c.Blocks[b*size:(b+1)*size], max(i-b*vec.Lanes, 0)
		next := c.Blocks[(b+1)*size:]
		for q := 0; q < size; q += vec.Lanes {
			row := block[q : q+vec.Lanes]
			copy(row[from:], row[from+1:])
			if len(next) > 0 {
				row[vec.Lanes-1] = next[q]
			}
		}
	}
}

// Embed recomputes the embedding of the first n points.
func (c *Points) Embed(e panels.Compiled, n int) {
	for i := range n {
		e.Embed(c.point, c.At(i))
		c.Set(i, c.At(i), c.point, e.Prior(c.point))
	}
}
