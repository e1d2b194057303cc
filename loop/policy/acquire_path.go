package policy

import "github.com/labtuner/tuner/gpcore"

// expectedPath is the expectation of a sample over the random variables R,
//
//	a(c) = E_R[ scale (f(c, R) + offset(c, R)) - alpha variance(v(c, R)) ],
//
// with f a path of the objective's process and v one of the noise process, over the nodes of
// gpcore's expectations; v is nil without a risk term. Cost of a point: O(nodes (n +
// waves d)).
type expectedPath struct {
	shape              *gpcore.Expected // knows nodes and lengthscales
	controlled, random []int
	f, v               *gpcore.Path
	scale              float64                         // of f's unit
	offset             func(grad, x []float64) float64 // of f; nil: none
	alpha              float64
	field              *noiseField

	x, value, noise, grad []float64 // scratch
}

// Dim implements [gpcore.Objective].
func (o *expectedPath) Dim() int { return len(o.controlled) }

// Fork implements [gpcore.Objective].
func (o *expectedPath) Fork() gpcore.Objective {
	f := &expectedPath{shape: o.shape, controlled: o.controlled, random: o.random, f: o.f.Fork(), scale: o.scale, offset: o.offset, alpha: o.alpha, field: o.field}
	if o.v != nil {
		f.v = o.v.Fork()
	}
	return f
}

// Scales implements [gpcore.Scaled].
func (o *expectedPath) Scales(dst []float64) bool { return o.shape.Scales(dst) }

// Surrogate implements [gpcore.Surrogated]: fewer nodes.
func (o *expectedPath) Surrogate() gpcore.SurrogateKind {
	if full, coarse := o.shape.Rules(); len(coarse.Weight) < len(full.Weight) {
		return gpcore.Approximation
	}
	return gpcore.NoSurrogate
}

// Values implements [gpcore.Objective].
func (o *expectedPath) Values(dst, x []float64) {
	full, _ := o.shape.Rules()
	o.values(&full, dst, x)
}

// Gradients implements [gpcore.Differentiable].
func (o *expectedPath) Gradients(dst, grad, x []float64) {
	full, _ := o.shape.Rules()
	o.gradients(&full, dst, grad, x)
}

// SurrogateValues implements [gpcore.Surrogated].
func (o *expectedPath) SurrogateValues(dst, x []float64) {
	_, coarse := o.shape.Rules()
	o.values(&coarse, dst, x)
}

// SurrogateGradients implements [gpcore.Surrogated].
func (o *expectedPath) SurrogateGradients(dst, grad, x []float64) {
	_, coarse := o.shape.Rules()
	o.gradients(&coarse, dst, grad, x)
}

// points writes the points of all coordinates behind settings x, the nodes of the first
// setting first.
func (o *expectedPath) points(n *gpcore.Nodes, x []float64) []float64 {
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

func (o *expectedPath) values(n *gpcore.Nodes, dst, x []float64) {
	points := o.points(n, x)
	o.value = sized(o.value, len(dst)*len(n.Weight))
	o.f.Values(o.value, points)
	d := len(points) / max(len(o.value), 1)
	for k := range o.value {
		if o.offset != nil {
			o.value[k] += o.offset(nil, points[k*d:(k+1)*d])
		}
		o.value[k] *= o.scale
	}
	if o.v != nil {
		o.noise = sized(o.noise, len(o.value))
		o.v.Values(o.noise, points)
		for k, v := range o.noise {
			variance, _, _ := o.field.shotVariance(v, 0, 0)
			o.value[k] -= o.alpha * variance
		}
	}
	for j := range dst {
		dst[j] = 0
		for q, w := range n.Weight {
			dst[j] += w * o.value[j*len(n.Weight)+q]
		}
	}
}

func (o *expectedPath) gradients(n *gpcore.Nodes, dst, grad, x []float64) {
	points, c := o.points(n, x), len(o.controlled)
	d := c + len(o.random)
	o.grad = sized(o.grad, d)
	clear(dst)
	clear(grad)
	for j := range dst {
		row := grad[j*c : (j+1)*c]
		for q, w := range n.Weight {
			at := j*len(n.Weight) + q
			p := points[at*d : (at+1)*d]
			dst[j] += w * o.scale * o.f.Gradient(o.grad, p)
			o.addGradient(row, w*o.scale)
			if o.offset != nil {
				dst[j] += w * o.scale * o.offset(o.grad, p)
				o.addGradient(row, w*o.scale)
			}
			if o.v != nil {
				variance, slope, _ := o.field.shotVariance(o.v.Gradient(o.grad, p), 0, 0)
				dst[j] -= w * o.alpha * variance
				o.addGradient(row, -w*o.alpha*slope)
			}
		}
	}
}

// addGradient adds w times the controlled part of the last gradient.
func (o *expectedPath) addGradient(row []float64, w float64) {
	for k, i := range o.controlled {
		row[k] += w * o.grad[i]
	}
}

// sized is s with n elements, in its own memory where that suffices.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
