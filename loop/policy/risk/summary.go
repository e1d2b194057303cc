package risk

import (
	"math"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Evaluation says how settings are looked at: by which posterior, with which variables
// left random, and before which step.
type Evaluation struct {
	View   model.View
	Domain *space.Domain
	Step   int
}

// Ends says how many standard deviations below its expectation the bound of the noise variance
// lies, and that of the spread (above for negative ones).
type Ends struct{ Noise, Spread float64 }

// Summary has the expectations at one setting over the variables left random, of the
// standardised objective.
type Summary struct {
	Mean float64 // E[mean]
	// sd is E[sd]; with several components the standard deviation of their mixture.
	SD float64
	// Within is E[sd] with several components too: their average, which a confidence
	// bound averaged over them has.
	Within float64
	// bound is E[v], the noise variance's bound that enters the criterion; NaN where the
	// noise is constant.
	bound float64
	// spread is the bound of the variance over the random variables, where risk counts, as often
	// as it counts (h of SpreadRisk).
	spread float64
	// Shot is the variance of one shot: that of the mean over the random variables
	// plus the expected noise.
	Shot float64
}

// RiskVariance is the variance that enters the criterion: the noise's bound, unless the noise is
// constant, and the spread.
func (s *Summary) RiskVariance() float64 {
	if math.IsNaN(s.bound) {
		return s.spread
	}
	return s.bound + s.spread
}

// ShotBound is the bound of one shot's variance: the noise's, unless that is constant, and the
// spread's, which counts inflation times in the criterion.
func (s *Summary) ShotBound(inflation float64) float64 {
	if math.IsNaN(s.bound) {
		return math.NaN()
	}
	return s.bound + s.spread/inflation
}

// Summarise evaluates settings x, one row of the domain's coordinates each. The summaries hold until the policy's
// next call.
func (e *Criterion) Summarise(j Evaluation, ends Ends, x []float64) ([]Summary, error) {
	if j.Domain.Size() == 0 {
		return e.summariseUncontrolled(j, ends)
	}
	in, err := e.shareNodes(e.Random.Inputs(j.Domain, j.Step), j.View)
	if err != nil {
		return nil, err
	}
	memory := e.Model.Memory
	out := e.summaries.Take(memory, len(x)/j.Domain.Size())
	moments := e.lists.Take(memory, len(j.View)) // of each component; shot is the mean's variance
	for i, c := range j.View {
		m, err := e.componentMoments(c, in, x, len(j.Domain.Random) > 0)
		if err != nil {
			return nil, err
		}
		moments[i] = m
		for k := range out {
			out[k].Mean += c.Weight * m[k].Mean
			out[k].Within += c.Weight * m[k].SD
			out[k].Shot += c.Weight * m[k].Shot
		}
	}
	for k := range out {
		variance := 0.0
		for i, c := range j.View {
			d := moments[i][k].Mean - out[k].Mean
			variance += c.Weight * (moments[i][k].SD*moments[i][k].SD + d*d)
		}
		out[k].SD = math.Sqrt(variance)
		if len(j.View) == 1 { // without the rounding of the square's root
			out[k].SD = moments[0][k].SD
		}
	}
	if err := e.addSpread(j, ends.Spread, out, in, x); err != nil {
		return nil, err
	}
	return out, e.addNoise(j, ends.Noise, out, in, x)
}

// shareNodes has the components of a mixture take the expectations over the same nodes, those
// for the first one: choosing nodes costs more than an expectation. A single process
// keeps its own, which spares it nodes for what has a closed form.
func (e *Criterion) shareNodes(in expectations.Inputs, v model.View) (expectations.Inputs, error) {
	if len(v) == 1 || len(in.Random) == 0 {
		return in, nil
	}
	shape, err := e.Cache.Shape(v[0].GP, in)
	if err != nil {
		return in, err
	}
	full, _ := shape.Rules()
	in.Random, in.Nodes = nil, &full
	return in, nil
}

// componentMoments has one component's E[mean], E[sd] and, where there are any, the
// variance of its mean over the random variables.
func (e *Criterion) componentMoments(c model.Component, in expectations.Inputs, x []float64, random bool) ([]Summary, error) {
	memory, n := e.Model.Memory, len(x)/len(in.Controlled)
	out := e.summaries.Take(memory, n)
	m := expectations.Moments{Mean: memory.Floats(n), SD: memory.Floats(n), Square: memory.Floats(n)}
	if err := e.Cache.Moments(m, expectations.Term{Process: c.GP, Offset: c.Offset}, in, x); err != nil {
		return nil, err
	}
	for k := range out {
		if out[k].Mean, out[k].SD = m.Mean[k], m.SD[k]; random {
			out[k].Shot = max(m.Square[k]-m.Mean[k]*m.Mean[k], 0)
		}
	}
	for k := range out {
		out[k].Mean = c.Mean + c.Scale*out[k].Mean
		out[k].SD *= c.Scale
		out[k].Shot *= c.Scale * c.Scale
	}
	return out, nil
}

// addSpread adds what the random variables contribute.
func (e *Criterion) addSpread(j Evaluation, beta float64, out []Summary, in expectations.Inputs, x []float64) error {
	if !e.spreads(j) {
		return nil
	}
	shape, err := e.Cache.Shape(j.View[0].GP, in)
	if err != nil {
		return err
	}
	full, coarse := shape.Rules()
	r, size := e.SpreadOf(j, beta, full, coarse), j.Domain.Size()
	for k := range out {
		out[k].spread = e.Random.Inflation() * r.Bound(x[k*size:(k+1)*size])
	}
	return nil
}

// addNoise adds what the noise contributes.
func (e *Criterion) addNoise(j Evaluation, beta float64, out []Summary, in expectations.Inputs, x []float64) error {
	field := e.Model.Noise
	if known := e.Model.Known; known != nil {
		r := knownRisk{noise: known, domain: j.Domain, nodes: e.Random.Nodes(j.Domain.Random)}
		scale, size := e.Model.Active.Scale, j.Domain.Size()
		for k := range out {
			out[k].bound = r.expected(x[k*size:(k+1)*size]) / (scale * scale)
			out[k].Shot += out[k].bound
		}
		return nil
	}
	if field == nil {
		for k := range out {
			out[k].bound = math.NaN()
			out[k].Shot += e.Model.Active.ShotVariance
		}
		return nil
	}
	bound, likely := e.Model.Memory.Floats(len(out)), e.Model.Memory.Floats(len(out))
	if err := e.expectNoise(bound, j, beta, in, x); err != nil {
		return err
	}
	if err := e.expectNoise(likely, j, 0, in, x); err != nil {
		return err
	}
	for k := range out {
		out[k].bound = bound[k]
		out[k].Shot += likely[k]
	}
	return nil
}

// expectNoise sets dst to the expected variance of one shot, beta standard deviations below what is likely, where
// the noise is learnt.
func (e *Criterion) expectNoise(dst []float64, j Evaluation, beta float64, in expectations.Inputs, x []float64) error {
	terms := e.noise[:0]
	if len(in.Random) > 0 { // over the nodes that suit the objective, as in a decision: those of the first term
		terms = append(terms, expectations.Term{Process: j.View[0].GP})
	}
	return space.Expectation(e.Cache, dst, append(terms, e.noiseTerm(e.Model.Noise, -1, beta)), in, x)
}

// summariseUncontrolled is the summary of doing nothing: every variable is random, so
// the nodes themselves are settings of all of them.
func (e *Criterion) summariseUncontrolled(j Evaluation, ends Ends) ([]Summary, error) {
	n := e.Random.Nodes(j.Domain.Random)
	all := &space.Domain{Set: -1, Axes: j.Domain.Axes, Coords: j.Domain.Random}
	at := j
	at.Domain = all
	each, err := e.Summarise(at, ends, n.X)
	if err != nil {
		return nil, err
	}
	var out Summary
	square := 0.0
	for q, s := range each {
		w := n.Weight[q]
		out.Mean += w * s.Mean
		out.SD += w * s.SD
		out.Within += w * s.Within
		out.bound += w * s.bound
		out.Shot += w * s.Shot
		square += w * s.Mean * s.Mean
	}
	out.Shot += max(square-out.Mean*out.Mean, 0)
	if e.spreads(j) {
		nodes := quadrature.Nodes{X: space.WithTime(n.X, len(j.Domain.Random), e.Model.Point(nil, j.Step)), Weight: n.Weight}
		out.spread = e.Random.Inflation() * e.SpreadOf(j, ends.Spread, nodes, nodes).Bound(nil)
	}
	return []Summary{out}, nil
}
