package acquisition

import (
	"math"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// GittinsIndex is the Gittins index of Pandora's box (Xie, Astudillo, Frazier, Scully and Terenin, NeurIPS
// 2024, arXiv 2406.20062): each setting x is a box that is opened for its cost c(x), and worth opening for
// whoever holds less than
//
//	g(x):  E[max(f(x) - g(x), 0)] = lambda c(x),
//
// with f(x) normal by the posterior, for a control set averaged over what it leaves random, and over the
// components of a mixture. The greatest g is played: where all costs are equal and lambda is small it is an
// upper bound of many standard deviations. Costs count as fractions of a typical one, the objective in its
// standardised unit.
//
// lambda is what a unit of cost is worth, in the objective's unit. It begins at 0.1 and is halved each time that their
// stopping rule would end the run, as in their PBGI-D: the best posterior mean is at least the greatest index, which
// is so just where no setting's expected improvement is above lambda times its cost. So it is the greatest
// 0.1/2^k below the greatest expected improvement per cost, a function of the posterior alone.
type GittinsIndex struct{}

// Options implements [Function].
func (GittinsIndex) Options(d *Decision) ([]Option, error) {
	logPrice, starts, err := d.costWorth()
	if err != nil {
		return nil, err
	}
	out := d.options()
	for i, v := range d.Views {
		shapes, err := d.Expectations(d.linear(v, 1, 0))
		if err != nil {
			return nil, err
		}
		for k, set := range d.Sets {
			o := d.gittins(shapes[k], set, v)
			o.price, o.logPrice = d.price(d.Costs, set), logPrice
			out = append(out, Option{Set: set, View: v, Objective: o, Start: starts[i*len(d.Sets)+k]})
		}
	}
	return out, nil
}

// firstLambda is where lambda begins.
const firstLambda = 0.1

// costWorth is the logarithm of lambda, and where improvement per cost is greatest in each option.
func (d *Decision) costWorth() (logLambda float64, starts [][]float64, err error) {
	options, err := Improvement{}.Options(d)
	if err != nil {
		return 0, nil, err
	}
	for i := range options {
		options[i] = d.ForSearch(options[i], d.Costs)
	}
	found, err := d.Search(options, 0)
	if err != nil {
		return 0, nil, err
	}
	greatest := math.Inf(-1)
	starts = d.slabs().lists.Take(d.memory(), len(found))[:0]
	for _, m := range found {
		greatest = max(greatest, m.Value)
		starts = append(starts, m.X)
	}
	return lambdaBelow(greatest), starts, nil
}

// lambdaBelow is the logarithm of the greatest 0.1/2^k below a number that is given by its logarithm.
func lambdaBelow(logRate float64) float64 {
	if math.IsInf(logRate, -1) || math.IsNaN(logRate) {
		return math.Log(firstLambda)
	}
	halvings := math.Floor((math.Log(firstLambda)-logRate)/math.Ln2) + 1
	return math.Log(firstLambda) - max(halvings, 0)*math.Ln2
}

// gittins is the index as a search looks at it. Cost of a point: a prediction a node and component.
type gittins struct {
	shape      *expectations.Expected // what the settings and the random variables are
	controlled []int
	random     []int
	nodes      quadrature.Nodes
	view       model.View
	price      *cost.Price
	logPrice   float64 // of a typical step

	readers []reader
	boxes   []box
	slopes  []float64 // of each box's mean, then of each one's standard deviation

	x, byX, varianceByX, offset, slope []float64 // scratch
	mean, variance                     [1]float64
}

// box is a normal value with its weight in a mixture.
type box struct{ weight, mean, sd float64 }

// gittins gives the index of a control set until the policy's next call.
func (d *Decision) gittins(shape *expectations.Expected, set int, v model.View) *gittins {
	_, coarse := shape.Rules()
	o, in := d.slabs().indices.Take(d.memory()), d.inputs(set)
	o.shape, o.controlled, o.random, o.nodes, o.view = shape, in.Controlled, o.random[:0], coarse, v
	for i := range v[0].GP.Dim() {
		if num.Position(in.Controlled, i) < 0 {
			o.random = append(o.random, i)
		}
	}
	o.fit()
	return o
}

// fit makes the scratch.
func (o *gittins) fit() {
	o.readers = readersOf(o.readers, o.view)
	n, d := len(o.nodes.Weight)*len(o.view), o.view[0].GP.Dim()
	if cap(o.boxes) < n {
		o.boxes = make([]box, n)
	}
	o.boxes, o.slopes = o.boxes[:n], num.Resized(o.slopes, 2*n*len(o.controlled))
	o.x, o.byX, o.varianceByX, o.offset, o.slope = num.Resized(o.x, d), num.Resized(o.byX, d), num.Resized(o.varianceByX, d), num.Resized(o.offset, d), num.Resized(o.slope, len(o.controlled))
}

// Dim implements [search.Objective].
func (o *gittins) Dim() int { return len(o.controlled) }

// Fork implements [search.Objective].
func (o *gittins) Fork() search.Objective {
	f := &gittins{}
	f.Follow(o)
	return f
}

// Follow implements [search.Follower].
func (o *gittins) Follow(other search.Objective) bool {
	p, ok := other.(*gittins)
	if ok {
		o.shape, o.controlled, o.random, o.nodes, o.view, o.price, o.logPrice = p.shape, p.controlled, p.random, p.nodes, p.view, p.price, p.logPrice
		o.fit()
	}
	return ok
}

// Scales implements [search.Scaled].
func (o *gittins) Scales(dst []float64) bool { return o.shape.Scales(dst) }

// Values implements [search.Objective].
func (o *gittins) Values(dst, x []float64) {
	size := o.Dim()
	for j := range dst {
		at := x[j*size : (j+1)*size]
		o.open(at, false)
		dst[j] = indexOf(o.boxes, o.logPrice+math.Log(o.price.At(at)))
	}
}

// Gradients implements [search.Differentiable]. With L(g, x) the logarithm of the expected gain, the index
// keeps L - log cost at zero: its slope is that of L - log cost by x over that of L by the means.
func (o *gittins) Gradients(dst, grad, x []float64) {
	size := o.Dim()
	slope := o.slope
	for j := range dst {
		at := x[j*size : (j+1)*size]
		o.open(at, true)
		c := o.price.Gradient(slope, at)
		dst[j] = indexOf(o.boxes, o.logPrice+math.Log(c))
		total, byMeans, g := logGain(o.boxes, dst[j]), 0.0, grad[j*size:(j+1)*size]
		for i := range g {
			g[i] = -slope[i] / c
		}
		for k, b := range o.boxes {
			value, byMean, bySD := logImprovement(b.mean-dst[j], b.sd)
			share := b.weight * math.Exp(value-total)
			byMeans += share * byMean
			for i := range g {
				g[i] += share * (byMean*o.slopes[k*size+i] + bySD*o.slopes[(len(o.boxes)+k)*size+i])
			}
		}
		for i := range g {
			g[i] /= byMeans
		}
	}
}

// open sets the boxes, and their slopes where asked, to what is known of a setting.
func (o *gittins) open(at []float64, slopes bool) {
	size := o.Dim()
	mean, variance, byX, varianceByX := &o.mean, &o.variance, o.byX, o.varianceByX
	var offset []float64
	if slopes {
		offset = o.offset
	}
	for k, i := range o.controlled {
		o.x[i] = at[k]
	}
	for q, w := range o.nodes.Weight {
		for k, i := range o.random {
			o.x[i] = o.nodes.X[q*len(o.random)+k]
		}
		for m := range o.view {
			c, n := &o.view[m], q*len(o.view)+m
			if slopes {
				o.readers[m].PredictGrads(mean[:], variance[:], byX, varianceByX, o.x)
			} else {
				o.readers[m].Predict(mean[:], variance[:], o.x)
			}
			if c.Offset != nil {
				mean[0] += c.Offset(offset, o.x)
			}
			sd := math.Sqrt(max(variance[0], leastVariance*c.GP.Kernel().Variance(o.x)))
			o.boxes[n] = box{w * c.Weight, c.Mean + c.Scale*mean[0], c.Scale * sd}
			if !slopes {
				continue
			}
			for k, i := range o.controlled {
				slope := byX[i]
				if c.Offset != nil {
					slope += offset[i]
				}
				o.slopes[n*size+k] = c.Scale * slope
				o.slopes[(len(o.boxes)+n)*size+k] = c.Scale * varianceByX[i] / (2 * sd)
			}
		}
	}
}

// logGain is the logarithm of the expected gain over g.
func logGain(boxes []box, g float64) float64 {
	sum := logSum{math.Inf(-1)}
	for _, b := range boxes {
		value, _, _ := logImprovement(b.mean-g, b.sd)
		sum.add(value + math.Log(b.weight))
	}
	return sum.value
}

// indexOf is the g over which the expected gain has this logarithm, by Newton's method on the logarithm
// inside of a bracket: the gain is at least mean - g, so g is at least the mean less the cost.
func indexOf(boxes []box, logCost float64) float64 {
	mean, top, widest := 0.0, math.Inf(-1), 0.0
	for _, b := range boxes {
		mean += b.weight * b.mean
		top, widest = max(top, b.mean), max(widest, b.sd)
	}
	low := mean - math.Exp(logCost)
	step := widest
	for logGain(boxes, top+step) > logCost {
		step *= 2
	}
	high := top + step
	g := min(max(mean, low), high)
	const rounds = 200 // bisection alone needs about 60
	for range rounds {
		value, slope := logGain(boxes, g), 0.0
		for _, b := range boxes {
			one, byMean, _ := logImprovement(b.mean-g, b.sd)
			slope += b.weight * math.Exp(one-value) * byMean
		}
		if value > logCost {
			low = g
		} else {
			high = g
		}
		next := g + (value-logCost)/slope
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-g) <= 1e-13*(math.Abs(g)+widest) {
			return next
		}
		g = next
	}
	return g
}
