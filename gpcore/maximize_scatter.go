package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/sobol"
)

// takeAxes takes the box and sorts the coordinates by how many values they have.
func (q *pursuit) takeAxes() {
	for i := range q.p.Axes {
		a := &q.p.Axes[i]
		q.box.low[i], q.box.high[i] = a.bounds()
		switch n := a.count(); {
		case n == 0:
		case n <= stepwise:
			q.steps = append(q.steps, i)
			q.box.fixed[i] = true
		default:
			q.grids = append(q.grids, i)
		}
	}
}

// scatter makes the screening points: equally spaced for one coordinate, else the corners
// of the box, where there are few, and scrambled Sobol points, every third with one
// coordinate moved to its nearer bound. Uncertainty is largest at the edges, and maxima
// there are narrow seen from inside.
func (q *pursuit) scatter(seed uint64) {
	n := q.p.Screen
	if n == 0 {
		n = maxFactor * byDimension(screenSizes[:], q.d)
	}
	n = up24(n)
	corners := 0
	if q.d > 1 && q.d <= 6 && 1<<q.d < n {
		corners = 1 << q.d
	}
	q.points = make([]float64, n*q.d)
	sequence := sobol.NewOwen(q.d, seed)
	for k := range n {
		x := q.points[k*q.d : (k+1)*q.d]
		switch {
		case q.d == 1:
			x[0] = spaced(k, n)
		case k < corners:
			for i := range x {
				x[i] = float64(k >> i & 1)
			}
		default:
			sequence.Point(x, k-corners)
			if i := k % (3 * q.d); i < q.d {
				x[i] = math.Round(x[i])
			}
		}
		for i := range x {
			x[i] = q.box.low[i] + x[i]*(q.box.high[i]-q.box.low[i])
		}
		q.settleSteps(x)
	}
}

// spaced is point k of n equally spaced ones on [0, 1], every fourth of them first, so
// that the first quarter covers the range as well.
func spaced(k, n int) float64 {
	quarter := n / maxFactor
	at := k * maxFactor
	if k >= quarter {
		r := k - quarter
		at = r/(maxFactor-1)*maxFactor + r%(maxFactor-1) + 1
	}
	return float64(at) / float64(n-1)
}

// settleSteps moves the coordinates with few values to the nearest.
func (q *pursuit) settleSteps(x []float64) {
	for _, i := range q.steps {
		a := &q.p.Axes[i]
		x[i] = a.at(a.index(x[i]))
	}
}
