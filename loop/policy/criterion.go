package policy

import "math"

// criterion is what a decision maximises over the settings of one control set:
//
//	a(x) = E[ mean(x, R) + beta sd(x, R) - alpha v(x, R) ]
//
// over the random variables R, in units of the standardised objective. For positive
// beta it is optimistic: v is the noise variance's lower bound, and a is GP-UCB's
// acquisition (alpha = 0, no R), RAHBO's (alpha > 0; Makarova et al., NeurIPS 2021,
// eq. 8) or UCB-CVS's (R; Tay et al., NeurIPS 2023, Algorithm 1). For negative beta
// it is the pessimistic bound, with the noise's upper bound, by which settings are
// recommended (RAHBO's Corollary 1.1).
type criterion struct {
	m     *model
	dom   *domain
	nodes nodes
	beta  float64
	alpha float64
	vote  *vote // nil: failures are not looked at
}

// values sets dst[j] to a at setting j, penalised where steps failed, with the first
// count nodes; x has one row of dom.size() coordinates per setting. Cost:
// O(len(dst) count n^2).
func (c *criterion) values(w *worker, dst, x []float64, count int) {
	size := c.dom.size()
	clear(dst)
	total := len(dst) * count
	for base := 0; base < total; base += chunk {
		k := min(chunk, total-base)
		for i := range k {
			j, q := (base+i)/count, (base+i)%count
			c.place(w.x[i*c.m.dims:(i+1)*c.m.dims], x[j*size:(j+1)*size], q)
		}
		c.predict(w, k)
		for i := range k {
			dst[(base+i)/count] += c.weight((base+i)%count, count) * c.term(w, i)
		}
	}
	if c.vote != nil {
		for j := range dst {
			dst[j] -= c.vote.penalty(x[j*size : (j+1)*size])
		}
	}
}

// place puts setting x with node q into a point of all variables.
func (c *criterion) place(point, x []float64, q int) {
	for j, i := range c.dom.coords {
		point[i] = x[j]
	}
	for j, v := range c.nodes.at(q) {
		point[c.dom.random[j]] = v
	}
}

func (c *criterion) weight(q, count int) float64 {
	if count < c.nodes.count() {
		return 1 / float64(count)
	}
	return c.nodes.weight[q]
}

// predict fills the worker's posterior moments at its first k points; variances
// become standard deviations.
func (c *criterion) predict(w *worker, k int) {
	x := w.x[:k*c.m.dims]
	w.f.Predict(w.mean[:k], w.variance[:k], x)
	for i, v := range w.variance[:k] {
		w.variance[i] = math.Sqrt(v)
	}
	if w.v != nil {
		w.v.Predict(w.noiseMean[:k], w.noiseVar[:k], x)
		for i, v := range w.noiseVar[:k] {
			w.noiseVar[i] = math.Sqrt(v)
		}
	}
}

// term is a at point i of the worker, without expectation.
func (c *criterion) term(w *worker, i int) float64 {
	a := w.mean[i] + c.beta*w.variance[i]
	if c.alpha > 0 {
		v, _, _ := c.m.v.shotVariance(w.noiseMean[i], w.noiseVar[i], -c.beta)
		a -= c.alpha * v
	}
	return a
}

// slope sets grad to the gradient of a (without penalty) at setting x.
func (c *criterion) slope(w *worker, grad, x []float64, count int) {
	clear(grad)
	for q := range count {
		c.place(w.point, x, q)
		weight := c.weight(q, count)
		_, variance := w.f.PredictGrad(w.point, w.dMean, w.dVar)
		bySD := c.beta / (2 * math.Sqrt(max(variance, leastVariance)))
		for j, i := range c.dom.coords {
			grad[j] += weight * (w.dMean[i] + bySD*w.dVar[i])
		}
		if c.alpha > 0 {
			c.noiseSlope(w, grad, c.alpha*weight)
		}
	}
}

// leastVariance keeps the slope of the standard deviation finite at an observation
// without noise.
const leastVariance = 1e-12

// noiseSlope subtracts factor times the gradient of the noise variance's bound at
// the worker's point.
func (c *criterion) noiseSlope(w *worker, grad []float64, factor float64) {
	mean, variance := w.v.PredictGrad(w.point, w.dNoiseMean, w.dNoiseVar)
	sd := math.Sqrt(max(variance, leastVariance))
	_, byMean, bySD := c.m.v.shotVariance(mean, sd, -c.beta)
	for j, i := range c.dom.coords {
		grad[j] -= factor * (byMean*w.dNoiseMean[i] + bySD*w.dNoiseVar[i]/(2*sd))
	}
}

// summary has the expectations behind a at one setting.
type summary struct {
	value float64 // a without penalty
	mean  float64 // E[mean]
	sd    float64 // E[sd]
	// bound is E[v], the noise variance's bound that enters a; NaN where the noise is
	// constant.
	bound float64
	// shot is the variance of one shot: that of the mean over the random variables
	// plus the expected noise.
	shot float64
}

// summarise evaluates the parts of a at setting x with all nodes.
func (c *criterion) summarise(w *worker, x []float64) summary {
	s := summary{bound: math.NaN()}
	if w.v != nil {
		s.bound = 0
	}
	square, count := 0.0, c.nodes.count()
	for base := 0; base < count; base += chunk {
		k := min(chunk, count-base)
		for i := range k {
			c.place(w.x[i*c.m.dims:(i+1)*c.m.dims], x, base+i)
		}
		c.predict(w, k)
		for i := range k {
			p := c.weight(base+i, count)
			s.value += p * c.term(w, i)
			s.mean += p * w.mean[i]
			s.sd += p * w.variance[i]
			square += p * w.mean[i] * w.mean[i]
			if w.v == nil {
				s.shot += p * c.m.inForce.shotVariance
				continue
			}
			bound, _, _ := c.m.v.shotVariance(w.noiseMean[i], w.noiseVar[i], -c.beta)
			likely, _, _ := c.m.v.shotVariance(w.noiseMean[i], 0, 0)
			s.bound += p * bound
			s.shot += p * likely
		}
	}
	s.shot += max(square-s.mean*s.mean, 0)
	return s
}
