package acquisition

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// expectedPath is the expectation of a sample over the random variables R,
//
//	a(c) = E_R[ g - alpha variance(v(c, R)) ] - spread Var_R[ g ],   g = scale (f(c, R) + offset(c, R)),
//
// with f a path of the objective's process and v one of the noise process, over the nodes of
// gpcore's expectations; v is nil, and spread zero, without a risk term. Cost of a point: O(nodes (n +
// waves d)).
type expectedPath struct {
	sampled
	f, v *sampling.Path

	x, value, noise, grads, noiseGrads, slope, sum, cross []float64 // scratch
}

// sampled is what forks of an expectedPath have in common.
type sampled struct {
	expectation        *expectations.Expected // knows nodes and lengthscales
	controlled, random []int
	scale              float64                         // of f's unit
	offset             func(grad, x []float64) float64 // of f; nil: none
	alpha, spread      float64
	field              *model.NoiseField
	observations       int
}

// Dim implements [search.Objective].
func (o *expectedPath) Dim() int { return len(o.controlled) }

// Fork implements [search.Objective].
func (o *expectedPath) Fork() search.Objective {
	f := &expectedPath{sampled: o.sampled, f: o.f.Fork()}
	if o.v != nil {
		f.v = o.v.Fork()
	}
	return f
}

// Follow implements [search.Follower].
func (o *expectedPath) Follow(other search.Objective) bool {
	p, ok := other.(*expectedPath)
	if !ok || (o.v == nil) != (p.v == nil) {
		return false
	}
	o.sampled = p.sampled
	if o.f.Follow(p.f); o.v != nil {
		o.v.Follow(p.v)
	}
	return true
}

// Scales implements [search.Scaled].
func (o *expectedPath) Scales(dst []float64) bool { return o.expectation.Scales(dst) }

// slopesOfPath is how many values among many a gradient of few points takes the time of, about: a panel of them is evaluated whole
// (20 variables, 256 observations).
const slopesOfPath = 40

// Cost implements [search.Costed].
func (o *expectedPath) Cost() search.Costs {
	d := o.Dim() + len(o.random)
	each := pathFeatures*waveCost(d) + float64(o.observations)*waveCost(d)
	if o.v != nil {
		each *= 2
	}
	full, coarse := o.expectation.Rules()
	value := each * float64(len(full.Weight))
	return search.Costs{Value: value, Surrogate: each * float64(len(coarse.Weight)), Gradient: slopesOfPath * value}
}

// Surrogate implements [search.Surrogated]: fewer nodes.
func (o *expectedPath) Surrogate() search.SurrogateKind {
	if full, coarse := o.expectation.Rules(); len(coarse.Weight) < len(full.Weight) {
		return search.Approximation
	}
	return search.NoSurrogate
}

// Values implements [search.Objective].
func (o *expectedPath) Values(dst, x []float64) {
	full, _ := o.expectation.Rules()
	o.values(&full, dst, x)
}

// Gradients implements [search.Differentiable].
func (o *expectedPath) Gradients(dst, grad, x []float64) {
	full, _ := o.expectation.Rules()
	o.gradients(&full, dst, grad, x)
}

// SurrogateValues implements [search.Surrogated].
func (o *expectedPath) SurrogateValues(dst, x []float64) {
	_, coarse := o.expectation.Rules()
	o.values(&coarse, dst, x)
}

// SurrogateGradients implements [search.Surrogated].
func (o *expectedPath) SurrogateGradients(dst, grad, x []float64) {
	_, coarse := o.expectation.Rules()
	o.gradients(&coarse, dst, grad, x)
}

// points writes the points of all coordinates behind settings x, the nodes of the first
// setting first.
func (o *expectedPath) points(n *quadrature.Nodes, x []float64) []float64 {
	c, r := len(o.controlled), len(o.random)
	o.x = o.x[:0]
	for row := 0; row < len(x); row += c {
		for q := range n.Weight {
			at := len(o.x)
			for range c + r {
				o.x = append(o.x, 0)
			}
			for j, i := range o.controlled {
				o.x[at+i] = x[row+j]
			}
			for j, i := range o.random {
				o.x[at+i] = n.X[q*r+j]
			}
		}
	}
	return o.x
}

func (o *expectedPath) values(n *quadrature.Nodes, dst, x []float64) {
	points, count := o.points(n, x), len(n.Weight)
	o.value = num.Resized(o.value, len(dst)*count)
	o.f.Values(o.value, points)
	d := len(points) / max(len(o.value), 1)
	for k := range o.value {
		if o.offset != nil {
			o.value[k] += o.offset(nil, points[k*d:(k+1)*d])
		}
		o.value[k] *= o.scale
	}
	for j := range dst {
		dst[j] = 0
		if o.spread > 0 {
			dst[j] = -o.spread * num.VarianceOf(o.value[j*count:(j+1)*count], n.Weight)
		}
	}
	if o.v != nil {
		o.noise = num.Resized(o.noise, len(o.value))
		o.v.Values(o.noise, points)
		for k, v := range o.noise {
			variance, _, _ := o.field.ShotVariance(v, 0, 0)
			o.value[k] -= o.alpha * variance
		}
	}
	for j := range dst {
		for q, w := range n.Weight {
			dst[j] += w * o.value[j*count+q]
		}
	}
}

func (o *expectedPath) gradients(n *quadrature.Nodes, dst, grad, x []float64) {
	points, c, count := o.points(n, x), len(o.controlled), len(n.Weight)
	d := c + len(o.random)
	o.sum, o.cross, o.slope = num.Resized(o.sum, c), num.Resized(o.cross, c), num.Resized(o.slope, d)
	o.value, o.grads = num.Resized(o.value, len(dst)*count), num.Resized(o.grads, len(points))
	o.f.Gradients(o.value, o.grads, points)
	if o.v != nil {
		o.noise, o.noiseGrads = num.Resized(o.noise, len(o.value)), num.Resized(o.noiseGrads, len(points))
		o.v.Gradients(o.noise, o.noiseGrads, points)
	}
	clear(dst)
	clear(grad)
	for j := range dst {
		row, value := grad[j*c:(j+1)*c], o.value[j*count:(j+1)*count]
		clear(o.sum)
		clear(o.cross)
		for q, w := range n.Weight {
			at := j*count + q
			o.complete(at, points[at*d:(at+1)*d], w)
			dst[j] += w * value[q]
			if o.v != nil {
				variance, slope, _ := o.field.ShotVariance(o.noise[at], 0, 0)
				dst[j] -= w * o.alpha * variance
				o.addGradient(row, o.noiseGrads[at*d:(at+1)*d], -w*o.alpha*slope)
			}
		}
		if o.spread > 0 {
			dst[j] -= o.spread * num.VarianceOf(value, n.Weight)
		}
		mean := 0.0
		for q, w := range n.Weight {
			mean += w * value[q]
		}
		for k := range row {
			row[k] += o.sum[k] - 2*o.spread*(o.cross[k]-mean*o.sum[k])
		}
	}
}

// complete makes g of the path's value and slopes at point number at, p; it adds w times the slopes
// to sum, and w g times them to cross.
func (o *expectedPath) complete(at int, p []float64, w float64) {
	grad := o.grads[at*len(p) : (at+1)*len(p)]
	if o.offset != nil {
		o.value[at] += o.offset(o.slope, p)
		for i, v := range o.slope {
			grad[i] += v
		}
	}
	o.value[at] *= o.scale
	o.addGradient(o.sum, grad, w*o.scale)
	o.addGradient(o.cross, grad, w*o.scale*o.value[at])
}

// addGradient adds w times the controlled part of a gradient.
func (o *expectedPath) addGradient(row, grad []float64, w float64) {
	for k, i := range o.controlled {
		row[k] += w * grad[i]
	}
}
