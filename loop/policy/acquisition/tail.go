package acquisition

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// tail is the logarithm of a function where its value is too small for a number.
type tail interface {
	// logs sets dst to the logarithms at settings x and, where grad is not nil, that to their
	// gradients; coarse says that the coarser rule stands for the random variables.
	logs(dst, grad, x []float64, coarse bool)
	// fork is the same function for another goroutine.
	fork() tail
	// follow makes a fork one of another function, where it can.
	follow(o tail) bool
}

// tailFrom is the distance below the mean, in standard deviations, from which on the functions
// below take the continued fraction. Before it, the textbook's forms lose a factor of its
// square of precision at most.
const tailFrom = 5

// tailFraction is K of Mills' ratio R(t) = (1 - Phi(t))/phi(t) = 1/(t + K), with Laplace's continued
// fraction K = 1/(t + 2/(t + 3/(t + ...))), for t >= tailFrom (Abramowitz and Stegun, 26.2.14). It takes as many terms
// as change its last digit, and a few more.
func tailFraction(t float64) float64 {
	k := 0.0
	for i := 10 + int(900/(t*t)); i >= 1; i-- {
		k = float64(i) / (t + k)
	}
	return k
}

// logDensity is the logarithm of the standard normal density.
func logDensity(z float64) float64 { return -0.5*z*z - 0.5*math.Log(2*math.Pi) }

// logImprovement is the logarithm of [expectedImprovement], with its derivatives, without a
// lower end: phi(z) - |z| Phi(z) = phi(z) K/(|z| + K) far below the best (Ament et al., NeurIPS
// 2023, have two asymptotic branches for the same).
func logImprovement(mean, sd float64) (value, byMean, bySD float64) {
	if mean > -tailFrom*sd {
		v, m, s := expectedImprovement(mean, sd)
		return math.Log(v), m / v, s / v
	}
	t := -mean / sd
	k := tailFraction(t)
	return math.Log(sd) + logDensity(t) + math.Log(k/(t+k)), 1 / (k * sd), (t + k) / (k * sd)
}

// exceedance is the probability Phi(mean/sd) that a normal value is positive, with its derivatives.
func exceedance(mean, sd float64) (value, byMean, bySD float64) {
	z := mean / sd
	p := num.NormalDensity(z) / sd
	return num.NormalCDF(z), p, -z * p
}

// logExceedance is the logarithm of the probability Phi(mean/sd) that a normal value is positive,
// with its derivatives, without a lower end.
func logExceedance(mean, sd float64) (value, byMean, bySD float64) {
	z := mean / sd
	slope := 0.0
	if z > -tailFrom {
		p := num.NormalCDF(z)
		value, slope = math.Log(p), num.NormalDensity(z)/p
	} else {
		slope = -z + tailFraction(-z)
		value = logDensity(z) - math.Log(slope)
	}
	return value, slope / sd, -z * slope / sd
}

// logSum adds numbers that are given by their logarithms.
type logSum struct{ value float64 }

// add takes another number up and returns by what the sum's gradient and the number's are to be
// multiplied to give the new gradient.
func (s *logSum) add(v float64) (old, part float64) {
	top := max(s.value, v)
	if math.IsInf(top, -1) {
		return 1, 0
	}
	sum := top + math.Log(math.Exp(s.value-top)+math.Exp(v-top))
	old, part = math.Exp(s.value-sum), math.Exp(v-sum)
	s.value = sum
	return old, part
}

// termTail is the tail of an expectation, averaged over the components of a view, of a function
// of mean and standard deviation.
type termTail struct {
	shape   *expectations.Expected // what the settings and the random variables are
	in      expectations.Inputs
	random  []int
	view    model.View
	log     func(mean, sd float64) (value, byMean, bySD float64)
	readers []reader // one for each component

	points, mean, variance, byX, varianceByX, offset []float64 // scratch
}

// reader reads a process.
type reader struct {
	*gpcore.Reader
	of *gpcore.GP
}

// readersOf gives a reader of each component of a view, those that there are where they read the same.
func readersOf(have []reader, v model.View) []reader {
	if len(have) == len(v) {
		same := true
		for i := range v {
			same = same && have[i].of == v[i].GP
		}
		if same {
			return have
		}
	}
	have = nil
	for _, c := range v {
		have = append(have, reader{c.GP.Reader(), c.GP})
	}
	return have
}

// tail gives that of a control set until the policy's next call.
func (d *Decision) tail(shape *expectations.Expected, set int, v model.View, log func(mean, sd float64) (value, byMean, bySD float64)) *termTail {
	t, in := d.slabs().tails.Take(d.memory()), d.inputs(set)
	t.shape, t.in, t.view, t.log, t.random = shape, in, v, log, t.random[:0]
	for i := range v[0].GP.Dim() {
		if num.Position(in.Controlled, i) < 0 {
			t.random = append(t.random, i)
		}
	}
	return t
}

// fork implements tail: readers are made when they are needed.
func (t *termTail) fork() tail {
	return &termTail{shape: t.shape, in: t.in, random: t.random, view: t.view, log: t.log}
}

// follow implements tail.
func (t *termTail) follow(other tail) bool {
	o, ok := other.(*termTail)
	if ok {
		t.shape, t.in, t.random, t.view, t.log = o.shape, o.in, o.random, o.view, o.log
	}
	return ok
}

// logs implements tail.
func (t *termTail) logs(dst, grad, x []float64, coarse bool) {
	t.readers = readersOf(t.readers, t.view)
	nodes, few := t.shape.Rules()
	if coarse {
		nodes = few
	}
	for j := range dst {
		dst[j] = math.Inf(-1)
	}
	clear(grad)
	d := t.view[0].GP.Dim()
	t.points = num.Resized(t.points, len(dst)*d)
	points := t.points
	for q, w := range nodes.Weight {
		for j := range dst {
			at := points[j*d : (j+1)*d]
			for k, i := range t.in.Controlled {
				at[i] = x[j*len(t.in.Controlled)+k]
			}
			for k, i := range t.random {
				at[i] = nodes.X[q*len(t.random)+k]
			}
		}
		for i := range t.view {
			t.addComponent(i, w, dst, grad, points)
		}
	}
}

// addComponent adds component i at points of all coordinates, with weight w beside its own.
func (t *termTail) addComponent(i int, w float64, dst, grad, points []float64) {
	c, r := &t.view[i], t.readers[i]
	d, dc := c.GP.Dim(), len(t.in.Controlled)
	t.mean, t.variance = num.Resized(t.mean, len(dst)), num.Resized(t.variance, len(dst))
	mean, variance := t.mean, t.variance
	var byX, varianceByX, offset []float64
	if grad == nil {
		r.Predict(mean, variance, points)
	} else {
		t.byX, t.varianceByX, t.offset = num.Resized(t.byX, len(points)), num.Resized(t.varianceByX, len(points)), num.Resized(t.offset, d)
		byX, varianceByX, offset = t.byX, t.varianceByX, t.offset
		r.PredictGrads(mean, variance, byX, varianceByX, points)
	}
	for j := range dst {
		at := points[j*d : (j+1)*d]
		if c.Offset != nil {
			mean[j] += c.Offset(offset, at)
		}
		sd := math.Sqrt(max(variance[j], leastVariance*c.GP.Kernel().Variance(at)))
		value, byMean, bySD := t.log(c.Mean+c.Scale*mean[j], c.Scale*sd)
		sum := logSum{dst[j]}
		old, part := sum.add(value + math.Log(w*c.Weight))
		dst[j] = sum.value
		if grad == nil {
			continue
		}
		for k, v := range t.in.Controlled {
			slope := byMean * c.Scale * byX[j*d+v]
			if c.Offset != nil {
				slope += byMean * c.Scale * offset[v]
			}
			slope += bySD * c.Scale * varianceByX[j*d+v] / (2 * sd)
			g := &grad[j*dc+k]
			*g = float64(old**g) + float64(part*slope)
		}
	}
}

// leastVariance of a posterior, relative to the prior's, keeps slopes finite, as in expectations.
const leastVariance = 1e-12
