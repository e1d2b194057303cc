package model

import "math"

// Repeats reports whether each of the newest count rows repeated what was known, near the best: without it
// the process knew the objective there better than one more reading tells, and by all readings it lies within the
// noise of that reading of the best. alpha is the risk factor of the standardised objective. Rows before
// step first do not count. The most probable process judges.
func (m *Model) Repeats(count, first int, alpha float64) bool {
	rows, c := m.Data.Rows, m.Posterior().MostProbable()
	from := len(rows) - count
	if from < 0 || rows[from].Step < first || c.GP.Len() != len(rows) {
		return false
	}
	mean, variance := m.Memory.Floats(len(rows)), m.Memory.Floats(len(rows))
	c.GP.LeaveOneOut(mean, variance)
	c.GP.FittedMeans(mean)
	x := m.Memory.Floats(len(rows) * c.GP.Dim())[:0]
	for i := range rows {
		x = append(x, c.GP.X(i)...)
	}
	best := math.Inf(-1)
	for i, v := range m.riskAt(x, alpha) {
		mean[i] = c.Scale*(mean[i]+c.OffsetAt(c.GP.X(i))) - v
		best = max(best, mean[i])
	}
	for i := from; i < len(rows); i++ {
		noise := c.GP.NoiseVariance(i)
		if variance[i] > 2*noise || best-mean[i] > c.Scale*math.Sqrt(noise) { // half of the variance is the reading's own noise
			return false
		}
	}
	return true
}

// surprising is by how many standard deviations a reading exceeds what all others say of its setting, to be followed.
const surprising = 0.4

// Surprise is the greatest of the newest count readings that exceeded what all others say of their settings, where those say
// less than a reading; -1: there is none. Rows before step first do not count. The most probable process judges.
func (m *Model) Surprise(count, first int) (row int) {
	rows, c := m.Data.Rows, m.Posterior().MostProbable()
	if c.GP.Len() != len(rows) {
		return -1
	}
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	c.GP.LeaveOneOut(mean, variance)
	row = -1
	for i := max(len(rows)-count, 0); i < len(rows); i++ {
		y := c.GP.Target(i)
		if rows[i].Step < first || variance[i] < 5*c.GP.NoiseVariance(i) || y-mean[i] < surprising*math.Sqrt(variance[i]) {
			continue
		}
		if row < 0 || y > c.GP.Target(row) {
			row = i
		}
	}
	return row
}

// riskAt is alpha times the expected noise variance of one shot at points of all coordinates.
func (m *Model) riskAt(x []float64, alpha float64) []float64 {
	if alpha == 0 {
		return m.Memory.Floats(len(x) / m.Width())
	}
	out := m.ExpectedNoise(x)
	for i := range out {
		out[i] *= alpha
	}
	return out
}
