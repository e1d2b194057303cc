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
func (c *criterion) values(p *pool, dst, x []float64, count int) {
	size, dims := c.dom.size(), c.m.dims
	terms := make([]float64, len(dst)*count)
	p.each((len(terms)+chunk-1)/chunk, func(w *worker, job int) {
		part := terms[job*chunk : min((job+1)*chunk, len(terms))]
		for i := range part {
			j, q := (job*chunk+i)/count, (job*chunk+i)%count
			c.place(w.x[i*dims:(i+1)*dims], x[j*size:(j+1)*size], q)
		}
		c.predict(w, len(part))
		for i := range part {
			part[i] = c.term(w, i)
		}
	})
	for j := range dst {
		dst[j] = 0
		for q, v := range terms[j*count : (j+1)*count] {
			dst[j] += c.weight(q, count) * v
		}
		if c.vote != nil {
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

// slopes sets the rows of grad to the gradients of a (without penalty) at the rows
// of x. Cost as values, about three times.
func (c *criterion) slopes(p *pool, grad, x []float64, count int) {
	size, dims := c.dom.size(), c.m.dims
	terms := make([]float64, len(grad)*count) // one gradient per setting and node
	total := len(grad) / size * count
	p.each((total+chunk-1)/chunk, func(w *worker, job int) {
		k := min(chunk, total-job*chunk)
		for i := range k {
			j, q := (job*chunk+i)/count, (job*chunk+i)%count
			c.place(w.x[i*dims:(i+1)*dims], x[j*size:(j+1)*size], q)
		}
		at := job * chunk * size
		c.pointSlopes(w, k, terms[at:at+k*size])
	})
	clear(grad)
	for i, v := range terms {
		j, q := i/size/count, i/size%count
		grad[j*size+i%size] += c.weight(q, count) * v
	}
}

// leastVariance keeps the slope of the standard deviation finite at an observation
// without noise.
const leastVariance = 1e-12

// pointSlopes sets the rows of dst to the gradients of the term at the worker's
// first k points, by the controlled coordinates.
func (c *criterion) pointSlopes(w *worker, k int, dst []float64) {
	size, dims := c.dom.size(), c.m.dims
	w.f.PredictGrads(w.mean[:k], w.variance[:k], w.dMean[:k*dims], w.dVar[:k*dims], w.x[:k*dims])
	for i := range k {
		bySD := c.beta / (2 * math.Sqrt(max(w.variance[i], leastVariance)))
		for j, v := range c.dom.coords {
			dst[i*size+j] = w.dMean[i*dims+v] + bySD*w.dVar[i*dims+v]
		}
	}
	if c.alpha == 0 {
		return
	}
	w.v.PredictGrads(w.mean[:k], w.variance[:k], w.dMean[:k*dims], w.dVar[:k*dims], w.x[:k*dims])
	for i := range k {
		sd := math.Sqrt(max(w.variance[i], leastVariance))
		_, byMean, bySD := c.m.v.shotVariance(w.mean[i], sd, -c.beta)
		for j, v := range c.dom.coords {
			dst[i*size+j] -= c.alpha * (byMean*w.dMean[i*dims+v] + bySD*w.dVar[i*dims+v]/(2*sd))
		}
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
