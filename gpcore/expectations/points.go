package expectations

import "github.com/labtuner/tuner/gpcore/internal/vec"

// At sets dst[j] to the sum of terms at row j of x, points of all coordinates: what an
// [Expected] that controls every coordinate has there. It uses the processes' own readers.
// O(n^2) a point and term.
func (c *Cache) At(dst []float64, terms []Term, x []float64) {
	if c == nil {
		c = &Cache{}
	}
	d := terms[0].Process.Dim()
	c.mean, c.variance = vec.Grown(c.mean, len(dst)), vec.Grown(c.variance, len(dst))
	mean, variance := c.mean, c.variance
	clear(dst)
	for i := range terms {
		t := &terms[i]
		t.Process.Predict(mean, variance, x)
		for j := range dst {
			point := x[j*d : (j+1)*d]
			mu, sigma := mean[j], deviation(variance[j], t.Process.Kernel().Variance(point))
			if t.Offset != nil {
				mu += t.Offset(nil, point)
			}
			if t.Of == nil {
				dst[j] += t.Mean*mu + t.SD*sigma
				continue
			}
			value, _, _ := t.Of(mu, sigma)
			dst[j] += value
		}
	}
}
