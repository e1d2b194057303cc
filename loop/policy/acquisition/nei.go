package acquisition

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// ImprovementOfExpectation is the improvement of the expected value over the best of what was
// observed,
//
//	a_i(c) = E[ max( E_R[f(c, R)] - f(x*), 0 ) ],
//
// with x* the observed point, whatever control set reached it, with the greatest posterior mean. It
// is EI-PSQ and EI per cost as Tay et al. (NeurIPS 2023) have them, where Improvement averages the
// improvement over R instead: a control set that leaves much random is credited with that as with
// doubt. Their code takes the mean over 32 samples of f, each over its own greatest value at the
// observed points; here the difference is normal, with its exact covariances, so nothing is sampled,
// and x* is one for all. Where something is random the expectation is a sum over nodes. Cost of a
// point: O(n^2 + nodes n + nodes^2).
type ImprovementOfExpectation struct{}

func (ImprovementOfExpectation) Options(d *Decision) ([]Option, error) {
	out := d.options()
	m := d.Criterion.Model
	best := m.Point(d.Incumbents[0][:m.Dims], d.Step)
	for _, v := range d.Views {
		for _, set := range d.Sets {
			in := d.inputs(set)
			shape, err := d.Criterion.Cache.Shape(v[0].GP, in)
			if err != nil {
				return nil, err
			}
			o := improvementOfExpectation{shape: shape, in: in, view: v, best: best}
			for i := range v[0].GP.Dim() {
				if num.Position(in.Controlled, i) < 0 {
					o.random = append(o.random, i)
				}
			}
			out = append(out, Option{Set: set, View: v, Objective: o.withReaders(), Unit: ObjectiveDifference, logFloor: minImprovement, tail: o.withReaders()})
		}
	}
	return out, nil
}

// improvementOfExpectation implements search.Objective for one control set.
type improvementOfExpectation struct {
	shape  *expectations.Expected // knows nodes and lengthscales
	in     expectations.Inputs
	random []int
	view   model.View
	best   []float64

	readers   []*gpcore.Reader // one for each component
	x, weight []float64        // scratch
}

// withReaders is the same function with readers of its own.
func (o improvementOfExpectation) withReaders() *improvementOfExpectation {
	o.readers, o.x, o.weight = nil, nil, nil
	for _, c := range o.view {
		o.readers = append(o.readers, c.GP.Reader())
	}
	return &o
}

// Dim implements [search.Objective].
func (o *improvementOfExpectation) Dim() int { return len(o.in.Controlled) }

// Fork implements [search.Objective].
func (o *improvementOfExpectation) Fork() search.Objective {
	return o.withReaders()
}

// Scales implements [search.Scaled].
func (o *improvementOfExpectation) Scales(dst []float64) bool { return o.shape.Scales(dst) }

// Values implements [search.Objective].
func (o *improvementOfExpectation) Values(dst, x []float64) {
	size := o.Dim()
	for j := range dst {
		o.points(x[j*size : (j+1)*size])
		dst[j] = 0
		for i := range o.view {
			dst[j] += o.view[i].Weight * o.improvement(i)
		}
	}
}

// points lists the nodes behind a setting with their weights, and the best point with weight -1.
func (o *improvementOfExpectation) points(c []float64) {
	n, _ := o.shape.Rules()
	r := len(o.random)
	o.x, o.weight = o.x[:0], o.weight[:0]
	for q, w := range n.Weight {
		at := len(o.x)
		o.x = append(o.x, o.best...)
		for j, i := range o.in.Controlled {
			o.x[at+i] = c[j]
		}
		for j, i := range o.random {
			o.x[at+i] = n.X[q*r+j]
		}
		o.weight = append(o.weight, w)
	}
	o.x, o.weight = append(o.x, o.best...), append(o.weight, -1)
}

// fork implements tail.
func (o *improvementOfExpectation) fork() tail { return o.withReaders() }

// follow implements tail.
func (o *improvementOfExpectation) follow(tail) bool { return false }

// logs implements tail. There are no gradients, and no coarser rule.
func (o *improvementOfExpectation) logs(dst, _, x []float64, _ bool) {
	size := o.Dim()
	for j := range dst {
		o.points(x[j*size : (j+1)*size])
		sum := logSum{math.Inf(-1)}
		for i := range o.view {
			mean, sd := o.difference(i)
			value, _, _ := logImprovement(mean, max(sd, minDoubt))
			sum.add(value + math.Log(o.view[i].Weight))
		}
		dst[j] = sum.value
	}
}

// minDoubt is the standard deviation of a difference from which on it is not rounding: at the best
// point itself.
const minDoubt = 1e-6

// improvement is the expected improvement by component k.
func (o *improvementOfExpectation) improvement(k int) float64 {
	mean, sd := o.difference(k)
	if sd < minDoubt {
		return max(mean, 0)
	}
	value, _, _ := expectedImprovement(mean, sd)
	return value
}

// difference has the mean and the standard deviation of the expected value less the best, by
// component k.
func (o *improvementOfExpectation) difference(k int) (mean, sd float64) {
	c, d := &o.view[k], len(o.best)
	mean, variance := o.readers[k].PredictSum(o.weight, o.x)
	if c.Offset != nil {
		for i, w := range o.weight {
			mean += w * c.OffsetAt(o.x[i*d:(i+1)*d])
		}
	}
	return c.Scale * mean, c.Scale * math.Sqrt(variance)
}
