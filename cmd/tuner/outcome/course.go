package outcome

import (
	"math"
)

// course is the objective over the steps, in bounded memory: when it is full, neighbours
// are averaged.
type course struct {
	// means has one entry for each span steps, NaN where none of them had valid data; sum
	// and valid are those of the entry that is not full yet, of count steps.
	means []float64
	span  int
	sum   float64
	valid int
	count int
}

// add takes the next step's value, NaN for one without valid data.
func (c *course) add(y float64) {
	c.span = max(c.span, 1)
	c.count++
	if !math.IsNaN(y) {
		c.sum += y
		c.valid++
	}
	if c.count < c.span {
		return
	}
	c.means = append(c.means, c.sum/float64(c.valid)) // of none: NaN
	c.sum, c.valid, c.count = 0, 0, 0
	if len(c.means) == courseMax {
		c.means, c.span = columns(c.means, courseMax/2), 2*c.span
	}
}

// columns averages values into so many columns, evenly; fewer values stay as they are.
func columns(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		sum, valid := 0.0, 0
		for _, v := range values[i*len(values)/n : (i+1)*len(values)/n] {
			if !math.IsNaN(v) {
				sum += v
				valid++
			}
		}
		out[i] = sum / float64(valid)
	}
	return out
}

// courseMax bounds the entries; it is even.
const courseMax = 512
