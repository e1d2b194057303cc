package acquisition

import (
	"math"
	"slices"

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
	boxes   []box     // of the points that are looked at together, one after the other
	slopes  []float64 // of each box's mean, then of each one's standard deviation

	points, mean, variance, byX, varianceByX, offset, slope []float64 // scratch
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
	return o
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
	}
	return ok
}

// Scales implements [search.Scaled].
func (o *gittins) Scales(dst []float64) bool { return o.shape.Scales(dst) }

// together is how many points are looked at together.
const together = 24

// Values implements [search.Objective].
func (o *gittins) Values(dst, x []float64) {
	size := o.Dim()
	for from := 0; from < len(dst); from += together {
		to := min(from+together, len(dst))
		each := o.open(x[from*size:to*size], to-from, false)
		for j := range to - from {
			at := x[(from+j)*size : (from+j+1)*size]
			dst[from+j] = indexOf(o.boxes[j*each:(j+1)*each], o.logPrice+math.Log(o.price.At(at)))
		}
	}
}

// Gradients implements [search.Differentiable]. With L(g, x) the logarithm of the expected gain, the index
// keeps L - log cost at zero: its slope is that of L - log cost by x over that of L by the means.
func (o *gittins) Gradients(dst, grad, x []float64) {
	size := o.Dim()
	o.slope = num.Resized(o.slope, size)
	for from := 0; from < len(dst); from += together {
		to := min(from+together, len(dst))
		each := o.open(x[from*size:to*size], to-from, true)
		for j := range to - from {
			at, g := x[(from+j)*size:(from+j+1)*size], grad[(from+j)*size:(from+j+1)*size]
			c := o.price.Gradient(o.slope, at)
			for i := range g {
				g[i] = -o.slope[i] / c
			}
			dst[from+j] = indexOf(o.boxes[j*each:(j+1)*each], o.logPrice+math.Log(c))
			o.gradient(g, j*each, (j+1)*each, dst[from+j])
		}
	}
}

// gradient adds to g the slope of L at the index over boxes from to to, and divides by that of L by the means.
func (o *gittins) gradient(g []float64, from, to int, index float64) {
	size := len(g)
	total, byMeans := logGain(o.boxes[from:to], index), 0.0
	for k := from; k < to; k++ {
		b := o.boxes[k]
		value, byMean, bySD := logImprovement(b.mean-index, b.sd)
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

// open sets the boxes, and their slopes where asked, to what is known of n settings at, and returns how many each of
// them has.
func (o *gittins) open(at []float64, n int, slopes bool) (each int) {
	nodes, d := len(o.nodes.Weight), o.view[0].GP.Dim()
	each = nodes * len(o.view)
	o.readers = readersOf(o.readers, o.view)
	o.boxes = slices.Grow(o.boxes[:0], n*each)[:n*each]
	o.place(at, n)
	o.mean, o.variance = num.Resized(o.mean, n*nodes), num.Resized(o.variance, n*nodes)
	if slopes {
		o.slopes = num.Resized(o.slopes, 2*n*each*o.Dim())
		o.byX, o.varianceByX, o.offset = num.Resized(o.byX, len(o.points)), num.Resized(o.varianceByX, len(o.points)), num.Resized(o.offset, d)
	}
	for m := range o.view {
		if slopes {
			o.readers[m].PredictGrads(o.mean, o.variance, o.byX, o.varianceByX, o.points)
		} else {
			o.readers[m].Predict(o.mean, o.variance, o.points)
		}
		for row := range n * nodes {
			o.fill(m, row, slopes)
		}
	}
	return each
}

// place sets points to the n settings at, each with every node of the random variables.
func (o *gittins) place(at []float64, n int) {
	nodes, d, size := len(o.nodes.Weight), o.view[0].GP.Dim(), o.Dim()
	o.points = num.Resized(o.points, n*nodes*d)
	for row := range n * nodes {
		j, q, x := row/nodes, row%nodes, o.points[row*d:(row+1)*d]
		for k, i := range o.controlled {
			x[i] = at[j*size+k]
		}
		for k, i := range o.random {
			x[i] = o.nodes.X[q*len(o.random)+k]
		}
	}
}

// fill sets the box of component m at a row of points, and its slopes where asked, from what the component predicts there.
func (o *gittins) fill(m, row int, slopes bool) {
	c, d, size := &o.view[m], o.view[0].GP.Dim(), o.Dim()
	x, mean, n := o.points[row*d:(row+1)*d], o.mean[row], row*len(o.view)+m
	var offset []float64
	if slopes {
		offset = o.offset
	}
	if c.Offset != nil {
		mean += c.Offset(offset, x)
	}
	sd := math.Sqrt(max(o.variance[row], leastVariance*c.GP.Kernel().Variance(x)))
	o.boxes[n] = box{o.nodes.Weight[row%len(o.nodes.Weight)] * c.Weight, c.Mean + c.Scale*mean, c.Scale * sd}
	if !slopes {
		return
	}
	for k, i := range o.controlled {
		slope := o.byX[row*d+i]
		if c.Offset != nil {
			slope += offset[i]
		}
		o.slopes[n*size+k] = c.Scale * slope
		o.slopes[(len(o.boxes)+n)*size+k] = c.Scale * o.varianceByX[row*d+i] / (2 * sd)
	}
}

// logGain is the logarithm of the expected gain over g.
func logGain(boxes []box, g float64) float64 {
	value, _ := logGainSlope(boxes, g)
	return value
}

// logGainSlope is the logarithm of the expected gain over g, and how fast that falls with g.
func logGainSlope(boxes []box, g float64) (value, slope float64) {
	sum := logSum{math.Inf(-1)}
	for _, b := range boxes {
		one, byMean, _ := logImprovement(b.mean-g, b.sd)
		old, part := sum.add(one + math.Log(b.weight))
		slope = old*slope + part*byMean
	}
	return sum.value, slope
}

// indexOf is the g over which the expected gain has this logarithm, by Newton's method on the logarithm
// inside of a bracket: the gain is at least mean - g, so g is at least the mean less the cost, and at least that of each
// box alone.
func indexOf(boxes []box, logCost float64) float64 {
	mean, least, widest := 0.0, math.Inf(-1), 0.0
	for _, b := range boxes {
		mean += b.weight * b.mean
		least, widest = max(least, b.mean+b.sd*reach(logCost-math.Log(b.weight*b.sd))), max(widest, b.sd)
	}
	low, high := mean-math.Exp(logCost), math.Inf(1)
	g, step := max(least, low), widest
	const rounds = 200 // bisection alone needs about 60
	for range rounds {
		value, slope := logGainSlope(boxes, g)
		if value > logCost {
			low = max(low, g)
		} else {
			high = min(high, g)
		}
		next := g + (value-logCost)/slope
		switch {
		case next >= low && next <= high:
		case math.IsInf(high, 1):
			next = low + step
			step *= 2
		default:
			next = low + (high-low)/2
		}
		// Newton's method squares the error: the step after one of this size is lost in rounding.
		if math.Abs(next-g) <= 1e-8*(math.Abs(g)+widest) {
			return next
		}
		g = next
	}
	return g
}

// reach is about how many standard deviations above its mean a normal value has this logarithm of the expected gain in standard
// deviations: log(phi(z)/z^2) far above. Close is enough, to begin with.
func reach(logGain float64) float64 {
	const bend = -2.5 // where the one curve goes over into the other
	if logGain > bend {
		return -math.Exp(logGain)
	}
	z := math.Sqrt(-2 * logGain)
	return math.Sqrt(max(-2*(logGain+0.5*math.Log(2*math.Pi)+2*math.Log(z)), 0))
}
