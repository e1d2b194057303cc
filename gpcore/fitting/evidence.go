package fitting

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/panels"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// evidence is the objective of a fit: log marginal likelihood plus log prior as a
// function of the free parameters, the logarithms of the kernel's hyperparameters
// that are not held and, last, of the extra noise variance.
type evidence struct {
	p      Problem
	n, d   int
	logs   []float64   // all kernel hyperparameters
	free   []int       // indices into logs
	priors []LogNormal // of the free parameters

	*Workspace

	at          []float64 // where the state below was evaluated
	valid       bool
	precision   float64 // of the posterior of the mean
	result      Result
	best        Result
	first       float64 // log posterior of the first point, with the mean of an earlier fit
	begun       bool    // there was a first point
	evaluations int
}

func newEvidence(p Problem, w *Workspace) (*evidence, error) {
	n, d := len(p.Y), p.Kernel.Dim()
	if n == 0 || len(p.X) != n*d || len(p.NoiseVariance) != n {
		return nil, check.ErrShape
	}
	for _, err := range []error{check.Finite(check.NameX, p.X), check.Targets(p.Y), check.Noises(p.NoiseVariance)} {
		if err != nil {
			return nil, err
		}
	}
	e := &evidence{p: p, n: n, d: d, Workspace: w, logs: p.Kernel.Params(nil), first: math.Inf(-1)}
	for i, kind := range p.Kernel.Kinds(nil) {
		prior := LogNormal{e.logs[i], 1}
		switch kind {
		case kernels.Timescale:
			continue
		case kernels.OutputVariance:
			prior = p.Variance
		case kernels.Lengthscale:
			prior = p.Lengthscale
		}
		e.free, e.priors = append(e.free, i), append(e.priors, prior)
	}
	if p.Noise != nil {
		e.priors = append(e.priors, *p.Noise)
	}
	for _, prior := range e.priors {
		if !check.IsFinite(prior.Mean) || !check.IsFinite(prior.SD) || prior.SD <= 0 {
			return nil, &check.ValueError{What: check.NameSD, Index: 0, Value: prior.SD}
		}
	}
	w.take(p.Kernel, n, len(e.priors))
	return e, nil
}

// start are the free parameters as the problem gives them.
func (e *evidence) start() []float64 {
	v := make([]float64, 0, len(e.priors))
	for _, i := range e.free {
		v = append(v, e.logs[i])
	}
	if e.p.Noise != nil {
		v = append(v, e.p.Earlier.noise(*e.p.Noise))
	}
	return v
}

// draw sets the free parameters to a draw from their priors.
func (e *evidence) draw(v []float64, rng *rand.Rand) {
	for i, p := range e.priors {
		v[i] = p.Mean + p.SD*rng.NormFloat64()
	}
}

// value is the log posterior at v, -Inf where it cannot be computed. It keeps the
// factor for gradient.
func (e *evidence) value(v []float64) float64 {
	if e.valid && slices.Equal(e.at, v) {
		return e.result.LogPosterior
	}
	begun := e.begun
	e.valid, e.begun = false, true
	for _, t := range v {
		if !(math.Abs(t) < 300) { // exp(300) is still finite
			return math.Inf(-1)
		}
	}
	e.evaluations++
	prior := 0.0
	for i, p := range e.priors {
		d, _ := p.logDensity(v[i])
		prior += d
	}
	for i, q := range e.free {
		e.logs[q] = v[i]
	}
	extra := 0.0
	if e.p.Noise != nil {
		extra = vec.Exp(v[len(v)-1])
	}
	for i, s := range e.p.NoiseVariance {
		e.noise[i] = s + extra
	}
	k := e.p.Kernel.WithParams(e.logs)
	if e.m.LoadAs(k, e.p.X, e.p.Y, e.noise) != nil {
		return math.Inf(-1)
	}
	mean, precision, ll := e.profile()
	e.precision = precision
	e.at = append(e.at[:0], v...)
	e.valid = true
	e.result = Result{Kernel: k, Mean: mean, NoiseVariance: extra, LogPosterior: ll + prior}
	if math.IsNaN(e.result.LogPosterior) {
		e.valid = false
		return math.Inf(-1)
	}
	if !begun {
		e.first = e.result.LogPosterior - e.p.Earlier.short(mean, precision)
	}
	if e.best.Kernel == nil || e.result.LogPosterior > e.best.LogPosterior {
		e.best = e.result
	}
	return e.result.LogPosterior
}

// profile returns the most probable constant mean, the precision of its posterior, 0 where it
// is not fitted, and the log marginal likelihood there with the mean's prior, and leaves W (y - mean) in e.resid
// and K^-1 (y - mean) in e.alpha.
func (e *evidence) profile() (mean, precision, ll float64) {
	f := e.m.Factor
	copy(e.resid, f.B[:e.n])
	if e.p.MeanSD > 0 {
		for k := range e.n {
			s := 0.0
			for _, w := range f.Row(k) {
				s += w
			}
			e.ones[k] = s
		}
		o := e.ones[:e.n]
		prior := 1 / (e.p.MeanSD * e.p.MeanSD)
		precision = vec.Dot(o, o) + prior
		mean = vec.Dot(o, f.B) / precision
		vec.Axpy(e.resid[:e.n], -mean, o)
		ll = -0.5 * mean * mean * prior
	}
	r := e.resid[:e.n]
	ll -= 0.5*vec.Dot(r, r) + 0.5*float64(e.n)*math.Log(2*math.Pi)
	for k := range e.n {
		ll += math.Log(f.W[k*f.Stride+k])
	}
	clear(e.alpha)
	for r := 0; r < e.n; r += vec.Rows {
		vec.Axpys8(e.alpha[:r+8], f.W[r*f.Stride:], f.Stride, e.resid[r:r+8])
	}
	return mean, precision, ll
}

// gradient sets g to the derivative of value at v.
func (e *evidence) gradient(g, v []float64) {
	if !e.valid || !slices.Equal(e.at, v) {
		if math.IsInf(e.value(v), -1) {
			for i := range g {
				g[i] = math.NaN() // ends the search
			}
			return
		}
	}
	sum, trace := make([]float64, len(e.logs)), 0.0
	for c := 0; c < e.n; c += vec.Lanes {
		trace += e.derivativeWeights(c)
		p := e.columns(c)
		e.m.Eval.HyperGradient(&p, e.u[c*vec.Lanes:], sum)
	}
	for i, q := range e.free {
		g[i] = sum[q]
	}
	if e.p.Noise != nil {
		g[len(g)-1] = trace * e.result.NoiseVariance
	}
	for i, p := range e.priors {
		_, s := p.logDensity(v[i])
		g[i] += s
	}
}

// derivativeWeights sets rows c..n-1 of e.u to alpha_i alpha_j - (K^-1)_ij for the columns
// j = c..c+23, halved on the diagonal and zero above it and beyond n, and returns
// the sum of the diagonal: the derivative of the log likelihood by a parameter t is
// the sum over all these times dK_ij/dt (Rasmussen & Williams 2006, eq. 5.9).
func (e *evidence) derivativeWeights(c int) (trace float64) {
	e.inverseColumns(c)
	for i := c; i < e.n; i++ {
		u := e.u[i*vec.Lanes : (i+1)*vec.Lanes]
		for j := range u {
			if c+j > i {
				u[j] = 0
				continue
			}
			u[j] = float64(e.alpha[i]*e.alpha[c+j]) - u[j]
		}
		if i < c+vec.Lanes {
			u[i-c] /= 2
			trace += u[i-c]
		}
	}
	return trace
}

// columns is the job of rows c..n-1 against points c..c+23.
func (e *evidence) columns(c int) panels.Panel {
	p := e.m.Points
	return panels.Panel{Rows: p.Rows, RowCap: p.Cap, First: c, Lane: p.Blocks[c*p.Width : (c+vec.Lanes)*p.Width], N: e.n - c}
}

// inverseColumns sets rows c.. of e.u to columns c..c+23 of K^-1 = W^T W.
func (e *evidence) inverseColumns(c int) {
	f := e.m.Factor
	for k := c; k < vec.Up8(e.n); k++ {
		copy(e.v[k*vec.Lanes:(k+1)*vec.Lanes], f.W[k*f.Stride+c:])
	}
	for r := c; r < e.n; r += vec.Rows {
		vec.TileT(e.u[r*vec.Lanes:], f.W[r*f.Stride+r:], f.Stride, e.v[r*vec.Lanes:], vec.Up8(e.n)-r)
	}
}
