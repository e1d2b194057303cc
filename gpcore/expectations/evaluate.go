package expectations

import (
	"math"
	"sync"

	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/watch"
)

// scratch is the memory of one worker, for any control set of the same terms.
type scratch struct {
	readers        []*model.View // one per term
	b, v, u        []float64     // panels
	full           []float64     // 24 x d points
	mean, variance [vec.Lanes]float64
	slopes         []float64 // d
	lane           []float64 // up to d x 24
	moments        []float64 // d x 24
	embedded       []float64 // width x 24
	sum, q         [vec.Lanes]float64
	diagonal       [vec.Lanes * vec.Lanes]float64
	job            vec.Pairs
	ones           []float64
	watch          watch.Scratch
	outputs        []output
	open           []*output // those that take something from the nodes of a term
}

// output is what one expectation takes from a pass over the nodes. Several of the same processes
// over the same inputs may share a pass.
type output struct {
	*controlSet
	dst, grad []float64
	byMu      [vec.Lanes]float64 // derivative of the criterion by a lane's mean
	byVar     [vec.Lanes]float64 // and by its variance
	further   []float64          // the covariances with further observations, 24 for each
	byFurther []float64          // and the derivatives by them
}

// output is output k of the next pass.
func (s *scratch) output(k int, e *controlSet, dst, grad []float64) {
	for len(s.outputs) <= k {
		s.outputs = append(s.outputs, output{})
	}
	o := &s.outputs[k]
	o.controlSet, o.dst, o.grad = e, dst, grad
}

// spares are scratches of one list of processes for forks that live from one Renew of a cache to
// the next; nil: each fork makes its own.
type spares struct {
	mu    sync.Mutex
	all   []*scratch
	given int
}

// take gives a scratch for terms.
func (p *spares) take(terms []Term) *scratch {
	if p == nil {
		return newScratch(terms)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == len(p.all) {
		p.all = append(p.all, newScratch(terms))
	}
	p.given++
	return p.all[p.given-1]
}

// back takes all back, and drops those that nobody took.
func (p *spares) back() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.all[p.given:])
	p.all, p.given = p.all[:p.given], 0
}

func newScratch(terms []Term) *scratch {
	d := terms[0].Process.Dim()
	s := &scratch{
		full: make([]float64, vec.Lanes*d), slopes: make([]float64, d),
		lane: make([]float64, d*vec.Lanes), moments: make([]float64, d*vec.Lanes),
	}
	for i := range terms {
		var r *model.View
		for j := range i {
			if terms[j].Process == terms[i].Process {
				r = s.readers[j]
			}
		}
		if r == nil {
			r = model.NewView(terms[i].Process.Model())
		}
		s.readers = append(s.readers, r)
	}
	return s
}

// fit takes the panels' memory for the observations of all terms, where there are more than before.
func (s *scratch) fit() {
	room, has := 0, len(s.ones)
	for _, r := range s.readers {
		if r.Model.Factor.N > has || has == 0 {
			room = max(room, r.Model.Room())
		}
	}
	if room == 0 {
		return
	}
	n := vec.Up24(room)
	s.b, s.v, s.u = make([]float64, n*vec.Lanes), make([]float64, n*vec.Lanes), make([]float64, n*vec.Lanes)
	s.ones = vec.Constant(n, 1)
}

// evaluate sums all terms over the nodes at the rows of x, with gradients where grad is
// not nil.
func (e *Expected) evaluate(nodes *quadrature.Nodes, dst, grad, x []float64) {
	e.s.output(0, e.controlSet, dst, grad)
	e.evaluateAll(nodes, x, 1)
}

// evaluateAll is evaluate for the first outputs of the scratch.
func (e *Expected) evaluateAll(nodes *quadrature.Nodes, x []float64, outputs int) {
	s, dc := e.s, e.Dim()
	for k := range outputs {
		o := &s.outputs[k]
		if len(x) != len(o.dst)*dc || (o.grad != nil && len(o.grad) != len(x)) {
			panic("gpcore: an expectation needs Dim coordinates for each value and gradient")
		}
		clear(o.dst)
		clear(o.grad)
	}
	s.fit()
	for i := range e.terms {
		s.open = s.open[:0]
		for k := range outputs {
			o := &s.outputs[k]
			t, f := &o.terms[i], o.separables[i]
			if f.closed && t.Mean != 0 {
				e.closedMeans(f, t.Mean, o.dst, o.grad, x)
			}
			if !t.linear() || t.SD != 0 || !f.closed && t.Mean != 0 {
				s.open = append(s.open, o)
			}
		}
		if len(s.open) > 0 {
			e.overNodes(i, nodes, x)
		}
	}
	for k := range outputs { // nothing of the caller's is kept
		s.output(k, nil, nil, nil)
	}
}

// overNodes adds term i to the outputs that are open, 24 pairs of a point and a node at a time.
func (e *Expected) overNodes(i int, nodes *quadrature.Nodes, x []float64) {
	s, r, q, d := e.s, e.s.readers[i], len(nodes.Weight), e.d
	total, slopes := len(s.open[0].dst)*q, s.open[0].grad != nil
	for base := 0; base < total; base += vec.Lanes {
		m := min(vec.Lanes, total-base)
		for l := range m {
			e.loadPair(s.full[l*d:(l+1)*d], x, nodes, base+l)
		}
		switch {
		case e.further(i):
			e.furtherValues(i, nodes, base, m, slopes)
		case !slopes:
			r.Predict(s.mean[:m], s.variance[:m], s.full[:m*d])
			for _, o := range s.open {
				for l := range m {
					o.dst[(base+l)/q] += e.evaluateTerm(o, i, l, nodes.Weight[(base+l)%q])
				}
			}
		case m < model.BatchMin && e.separables[i].gaussian:
			e.gaussianSingles(i, nodes, base, m)
		case m < model.BatchMin:
			r.SolveFew(s.full, m)
			for l := range m {
				e.singleGradient(i, l, (base+l)/q, nodes.Weight[(base+l)%q])
			}
		default:
			e.panelGradients(i, nodes, base, m)
		}
		for _, o := range s.open {
			if slopes && o.terms[i].Offset != nil {
				e.offsetSlopes(o, i, q, base, m)
			}
		}
	}
}

// offsetSlopes adds what m pairs from pair base on owe to the slope of an output's offset.
func (e *Expected) offsetSlopes(o *output, i, q, base, m int) {
	s, dc := e.s, e.Dim()
	for l := range m {
		o.terms[i].Offset(s.slopes, s.full[l*e.d:(l+1)*e.d])
		for k, c := range e.in.Controlled {
			o.grad[(base+l)/q*dc+k] += float64(o.byMu[l] * s.slopes[c])
		}
	}
}

// loadPair puts pair k, point k/q with node k%q, into a point of all coordinates.
func (e *Expected) loadPair(dst, x []float64, nodes *quadrature.Nodes, k int) {
	q, dc, dr := len(nodes.Weight), e.Dim(), len(e.random)
	c, node := x[k/q*dc:], nodes.X[k%q*dr:]
	for j, v := range e.in.Controlled {
		dst[v] = c[j]
	}
	for j, v := range e.random {
		dst[v] = node[j]
	}
}

// evaluateTerm is w times term i of an output at lane l, whose mean and variance are in the scratch; it
// sets the lane's derivatives.
func (e *Expected) evaluateTerm(o *output, i, l int, w float64) float64 {
	t, s := &o.terms[i], e.s
	at := moments{s.mean[l], s.variance[l], e.prior(i, l)}
	if t.Offset != nil {
		at.mu += t.Offset(nil, s.full[l*e.d:(l+1)*e.d])
	}
	if !t.linear() {
		return t.function(o, l, at, w)
	}
	sd, mean := deviation(at.variance, at.prior), t.Mean
	if o.separables[i].closed {
		mean = 0
	}
	o.byMu[l], o.byVar[l] = w*mean, w*t.SD/(2*sd)
	return w * (float64(mean*at.mu) + float64(t.SD*sd))
}

// prior is k(x, x) of term i at lane l.
func (e *Expected) prior(i, l int) float64 {
	return e.terms[i].Process.Kernel().Variance(e.s.full[l*e.d : (l+1)*e.d])
}

// singleGradient adds one of the pairs that were solved for.
func (e *Expected) singleGradient(i, l, at int, w float64) {
	s, r, d, dc := e.s, e.s.readers[i], e.d, e.Dim()
	s.mean[l], s.variance[l] = r.FewMoments(l, s.full[l*d:(l+1)*d])
	for _, o := range s.open {
		o.dst[at] += e.evaluateTerm(o, i, l, w)
		r.FewSlopes(l, s.slopes, o.byMu[l], o.byVar[l])
		for k, c := range e.in.Controlled {
			o.grad[at*dc+k] += s.slopes[c]
		}
	}
}

// closedMeans adds a*E[mu] by the closed form.
func (e *Expected) closedMeans(f *separable, a float64, dst, grad, x []float64) {
	for base := 0; base < len(dst); base += vec.Lanes {
		m := min(vec.Lanes, len(dst)-base)
		b := e.factors(f, x[base*f.dc:], m)
		e.addMeans(f, b, a, base, m, dst, grad)
	}
}

// factors fills a panel with c_j at m points and the scratch's sums with
// sum over j of mean_j c_j.
func (e *Expected) factors(f *separable, x []float64, m int) []float64 {
	s := e.s
	b := s.b
	for k, c := range f.scale {
		for l := range vec.Lanes {
			s.lane[k*vec.Lanes+l] = x[min(l, m-1)*f.dc+k] * c
		}
	}
	s.job = vec.Pairs{
		Rows: f.rows, Lanes: s.lane, N: f.n, D: f.dc, Variance: 1,
		Out: b, Weights: f.mean, Sum: s.sum[:],
	}
	vec.Gaussian(&s.job)
	clear(b[f.n*vec.Lanes : vec.Up8(f.n)*vec.Lanes])
	return b
}

// addMeans adds a times the lanes' sums, and their gradients: with the factors c_j in
// panel b, the derivative of sum_j mean_j c_j by a scaled coordinate z is
// -2 ln2 (z sum_j mean_j c_j - sum_j mean_j row_j c_j).
func (e *Expected) addMeans(f *separable, b []float64, a float64, base, m int, dst, grad []float64) {
	s := e.s
	for l := range m {
		dst[base+l] += a * s.sum[l]
	}
	if grad == nil {
		return
	}
	for k, c := range f.scale {
		vec.Combine(s.mean[:], f.meanRows[k*f.n:(k+1)*f.n], b)
		for l := range m {
			grad[(base+l)*f.dc+k] -= a * 2 * math.Ln2 * c * (s.lane[k*vec.Lanes+l]*s.sum[l] - s.mean[l])
		}
	}
}
