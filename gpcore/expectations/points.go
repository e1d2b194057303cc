package expectations

// At sets dst[j] to the sum of terms at row j of x, points of all coordinates: what an
// [Expected] that controls every coordinate has there. It takes no memory but that of the
// processes, whose own readers it uses: not for concurrent use. O(n^2) a point and term.
func At(dst []float64, terms []Term, x []float64) {
	d := terms[0].Process.Dim()
	mean, variance := make([]float64, len(dst)), make([]float64, len(dst))
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
