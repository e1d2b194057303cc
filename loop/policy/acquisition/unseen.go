package acquisition

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Unseen goes where nothing was measured: with points p that were,
//
//	a(x) = min over p of |x - p|,
//
// in ranges of the variable with the shortest lengthscale, those of others counted in proportion, so that a variable
// without effect adds no distance. The two ends of a range count as neighbours, as on a ring: else
// points would gather in corners, where most of what surrounds them is outside. Nothing else is asked of the model: it
// is for when the model sees no place left to look at. After n steps no setting is farther from a measured one
// than about n^(-1/d) of the range for d variables, whatever the objective is; taken for one decision in k, it adds
// at most 1/k of the objective's range to the mean regret.
type Unseen struct{}

// Options implements [Function].
func (Unseen) Options(d *Decision) ([]Option, error) {
	view := d.Views[0]
	out := d.options()
	for _, set := range d.Sets {
		dom := d.Domains[set]
		out = append(out, Option{Set: set, View: view, Objective: newEmptiness(dom, d.reached(dom), view.MostProbable()), Unit: Dimensionless})
	}
	return out, nil
}

// emptiness is the function of [Unseen]: a search objective.
type emptiness struct {
	points []float64 // that were measured, row after row
	weight []float64 // of each coordinate, at most 1
	around []float64 // the length of each coordinate's ring; of lists infinite
}

func newEmptiness(dom *space.Domain, points []float64, c model.Component) *emptiness {
	e := &emptiness{points: points, weight: slices.Repeat([]float64{1}, dom.Size()), around: slices.Repeat([]float64{math.Inf(1)}, dom.Size())}
	_, lengthscales := model.DescribeKernel(c.GP.Kernel())
	if len(lengthscales) == len(dom.Axes) {
		shortest := slices.Min(lengthscales)
		for j, i := range dom.Coords {
			e.weight[j] = shortest / lengthscales[i]
		}
	}
	for j, a := range dom.ProblemAxes() {
		e.around[j] = ringOf(a)
	}
	return e
}

// ringOf is the length of an axis whose last value is followed by its first, where it has steps a step away.
func ringOf(a search.Axis) float64 {
	switch n := len(a.Levels); {
	case n > 1:
		return (a.Levels[n-1] - a.Levels[0]) * float64(n) / float64(n-1)
	case n == 1:
		return math.Inf(1)
	}
	return a.High - a.Low + a.Step
}

// Dim implements [search.Objective].
func (e *emptiness) Dim() int { return len(e.weight) }

// Fork implements [search.Objective]: nothing in it changes.
func (e *emptiness) Fork() search.Objective { return e }

// Values implements [search.Objective].
func (e *emptiness) Values(dst, x []float64) {
	size := len(e.weight)
	for j := range dst {
		_, square := e.nearest(x[j*size : (j+1)*size])
		dst[j] = math.Sqrt(square)
	}
}

// Gradients implements [search.Differentiable]: away from the nearest point, 0 at it and where a ring's
// two ways are as long.
func (e *emptiness) Gradients(dst, grad, x []float64) {
	size := len(e.weight)
	for j := range dst {
		row, g := x[j*size:(j+1)*size], grad[j*size:(j+1)*size]
		at, square := e.nearest(row)
		clear(g)
		if dst[j] = math.Sqrt(square); !(dst[j] > 0 && dst[j] < math.Inf(1)) {
			continue
		}
		for i, v := range row {
			d := v - e.points[at+i]
			switch way := e.around[i] - math.Abs(d); {
			case math.Abs(d) < way:
				g[i] = e.weight[i] * e.weight[i] * d / dst[j]
			case way > 0 && math.Abs(d) > way: // round the end
				g[i] = -math.Copysign(e.weight[i]*e.weight[i]*way, d) / dst[j]
			}
		}
	}
}

// nearest is where the nearest point to a row begins, and the square of its distance.
func (e *emptiness) nearest(row []float64) (at int, least float64) {
	least = math.Inf(1)
	for p := 0; p < len(e.points); p += len(row) {
		square := 0.0
		for i, v := range row {
			d := math.Abs(v - e.points[p+i])
			d = e.weight[i] * min(d, max(e.around[i]-d, 0))
			square += float64(d * d)
		}
		if square < least {
			at, least = p, square
		}
	}
	return at, least
}

// plainCoordinate is how many multiply-adds of the vector code a coordinate of a distance takes the time of, about.
const plainCoordinate = 64

// Cost implements [search.Costed].
func (e *emptiness) Cost() search.Costs {
	cost := plainCoordinate * float64(len(e.points)+len(e.weight))
	return search.Costs{Value: cost, Surrogate: cost}
}

// Patience is how many steps in a row repeat what is known before decision number step goes where nothing was
// measured. With 1 or 2 a decoy was not left more surely, and more was paid. It grows, so that of the first T
// steps at most 6 sqrt(T) go there, and these by themselves add at most 6/sqrt(T) of the objective's range to the
// mean regret.
func Patience(step int) int { return max(3, int(math.Sqrt(float64(step))/3)) }
