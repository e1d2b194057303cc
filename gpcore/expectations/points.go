package expectations

import "github.com/labtuner/tuner/gpcore/internal/vec"

// At sets dst[j] to the sum of terms without further observations at row j of x, points of all coordinates: what an
// [Expected] that controls every coordinate has there. It uses the processes' own readers.
// O(n^2) a point and term, O(n) where a term has the mean alone; then O(1), and the same but for rounding, where the
// points are the process's observations in their order.
func (c *Cache) At(dst []float64, terms []Term, x []float64) {
	if c == nil {
		c = &Cache{}
	}
	c.mean, c.variance = vec.Grown(c.mean, len(dst)), vec.Grown(c.variance, len(dst))
	clear(dst)
	for i := range terms {
		if t := &terms[i]; t.Of == nil && t.SD == 0 {
			c.addMeans(dst, t, x)
		} else {
			c.addTerms(dst, t, x)
		}
	}
}

// addMeans adds a term that has the mean alone.
func (c *Cache) addMeans(dst []float64, t *Term, x []float64) {
	d := t.Process.Dim()
	t.Process.Means(c.mean, x)
	for j, mu := range c.mean {
		if t.Offset != nil {
			mu += t.Offset(nil, x[j*d:(j+1)*d])
		}
		dst[j] += float64(t.Mean * mu)
	}
}

// addTerms adds a term at each point.
func (c *Cache) addTerms(dst []float64, t *Term, x []float64) {
	d := t.Process.Dim()
	t.Process.Predict(c.mean, c.variance, x)
	for j := range dst {
		point := x[j*d : (j+1)*d]
		mu, sigma := c.mean[j], deviation(c.variance[j], t.Process.Kernel().Variance(point))
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
