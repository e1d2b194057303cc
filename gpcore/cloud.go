package gpcore

import (
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// cloud holds the points of a process three times: as given, and embedded both as
// rows and as lanes, so that either side of a covariance panel can be the data.
type cloud struct {
	d, width, cap int
	x             []float64 // cap x d, as given
	rows          []float64 // embedded, as rows (see panel)
	blocks        []float64 // embedded, [block of 24][width][24]
	prior         []float64 // k(x, x)
	widths        []int     // of the leaves
	point         []float64 // scratch, width
}

func newCloud(d, capacity int, e panels.Compiled) *cloud {
	w := e.Width
	return &cloud{
		d: d, width: w, cap: capacity, widths: e.Widths,
		x: make([]float64, capacity*d), rows: make([]float64, capacity*w),
		prior:  make([]float64, capacity),
		blocks: make([]float64, vec.Up24(capacity)*w), point: make([]float64, w),
	}
}

// at is point i as given.
func (c *cloud) at(i int) []float64 { return c.x[i*c.d : (i+1)*c.d : (i+1)*c.d] }

// copyFrom copies the points of o, which has the same shape.
func (c *cloud) copyFrom(o *cloud) {
	copy(c.x, o.x)
	copy(c.rows, o.rows)
	copy(c.blocks, o.blocks)
	copy(c.prior, o.prior)
}

// set stores x, already embedded as e and with k(x, x) = prior, as point i.
func (c *cloud) set(i int, x, e []float64, prior float64) {
	copy(c.x[i*c.d:(i+1)*c.d], x)
	c.prior[i] = prior
	o := 0
	for _, w := range c.widths {
		copy(c.rows[o*c.cap+i*w:], e[o:o+w])
		o += w
	}
	block := c.blocks[i/vec.Lanes*vec.Lanes*c.width:]
	for q, v := range e {
		block[q*vec.Lanes+i%vec.Lanes] = v
	}
}

// remove takes point i of n out; later points move up by one.
func (c *cloud) remove(i, n int) {
	copy(c.x[i*c.d:(n-1)*c.d], c.x[(i+1)*c.d:n*c.d])
	copy(c.prior[i:n-1], c.prior[i+1:n])
	o := 0
	for _, w := range c.widths {
		r := c.rows[o*c.cap:]
		copy(r[i*w:(n-1)*w], r[(i+1)*w:n*w])
		o += w
	}
	c.shiftLanes(i, n)
}

// shiftLanes moves the lanes after i up by one: within each block, and from the first
// lane of the next block to the last of the one before.
func (c *cloud) shiftLanes(i, n int) {
	size := c.width * vec.Lanes
	for b := i / vec.Lanes; b*vec.Lanes < n; b++ {
		block, from := c.blocks[b*size:(b+1)*size], max(i-b*vec.Lanes, 0)
		next := c.blocks[(b+1)*size:]
		for q := 0; q < size; q += vec.Lanes {
			row := block[q : q+vec.Lanes]
			copy(row[from:], row[from+1:])
			if len(next) > 0 {
				row[vec.Lanes-1] = next[q]
			}
		}
	}
}

// embed recomputes the embedding of the first n points.
func (c *cloud) embed(e panels.Compiled, n int) {
	for i := range n {
		e.Embed(c.point, c.at(i))
		c.set(i, c.at(i), c.point, e.Prior(c.point))
	}
}
