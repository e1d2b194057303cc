package policy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Recommend implements [Policy]: the setting with the greatest posterior lower bound of the mean-variance
// objective,
//
//	argmax over (S, x) of E[ mean - beta sd - alpha * upper bound of the noise variance ]
//	                      - alpha * upper bound of Var[ f ]
//
// among those that were played, in a hold those between them, and with Spec.Recommended "model" all (surestOfAll)
// (risk.SpreadRisk; Makarova et al., NeurIPS 2021, Corollary 1.1; with expectations over the random
// variables for control sets that leave some). Settings where more steps failed than
// succeeded are left out while there are others. With constraints only those count that
// keep each of them with probability Phi(beta); where none does, the one that is most
// likely to is recommended. Since E[sd] is at least the standard deviation of the expected
// objective, the bound is safe there too. Cost: a few expectations for each played
// setting.
func (e *engine) Recommend() (Recommendation, error) {
	e.memory.begin()
	e.model.Complete(e.lastObserved + 1)
	e.constraints.Complete(e.lastObserved + 1)
	return recommend(e)
}

// recommend is Recommend within a call.
func recommend(e *engine) (Recommendation, error) {
	if len(e.model.Data.Rows) == 0 {
		return Recommendation{}, ErrNoData
	}
	if err := e.refresh(); err != nil {
		return Recommendation{}, err
	}
	settings, feasible, err := recommendable(e)
	if err != nil {
		return Recommendation{}, err
	}
	best, _, err := e.bestOf(settings)
	if err != nil {
		return Recommendation{}, err
	}
	if best, err = surestOfAll(e, best); err != nil {
		return best, err
	}
	best.Feasible = feasible
	best.Start, err = e.startEstimate()
	return best, err
}

// recommendable lists, for each control set, the settings that may be recommended; there is one at
// least. feasible says that they keep the constraints with the probability of the bound.
func recommendable(e *engine) (settings [][]float64, feasible bool, err error) {
	for _, reliable := range []bool{true, false} {
		settings = e.memory.points.Take(&e.memory.Memory, len(e.domains))
		for set := range settings {
			if settings[set] = e.playedPoints(set, reliable); len(settings[set]) == 0 {
				continue
			}
			held, err := e.heldPoint(set)
			if err != nil {
				return nil, false, err
			}
			settings[set] = append(settings[set], held...)
		}
		if feasible, err = e.constraints.Restrict(settings, e.domains, e.lastObserved+1, e.spec.Beta); err != nil {
			return nil, false, err
		}
		if slices.ContainsFunc(settings, func(x []float64) bool { return len(x) > 0 }) {
			return settings, feasible, nil
		}
	}
	return nil, false, ErrNoData // nothing but steps without control
}

// bestOf is the best of settings, which are listed for each control set.
func (e *engine) bestOf(settings [][]float64) (best Recommendation, found bool, err error) {
	for set, x := range settings {
		if len(x) == 0 {
			continue
		}
		at, estimate, err := e.surest(e.domains[set], x)
		if err != nil {
			return Recommendation{}, false, err
		}
		if !found || estimate.LowerBound > best.LowerBound {
			found = true
			best = Recommendation{ControlSet: set, X: e.memory.leaving(e.domains[set], at), Left: leftBy(e, e.domains[set]), Estimate: estimate}
		}
	}
	return best, found, nil
}

// recommendUnits bounds the work of a recommendation between measured settings, which is outside of a decision's deadline: of
// ten variables and 60 readings it takes 4.
const recommendUnits = 64

// surestOfAll is the setting of the greatest lower bound among all, searched from best and the incumbents, or best,
// once the model decides: readings around a setting tell more of it than each of itself. Through a logarithm they may tell
// too much: one that is narrower than the noise has the model take it for shape, so there a setting must have been measured.
func surestOfAll(e *engine, best Recommendation) (Recommendation, error) {
	s, d := &e.spec, e.domains[best.ControlSet]
	if !s.recommendsAll() || e.throughLog || e.designOnly || e.lastObserved <= s.InitialSteps || !e.ready() {
		return best, nil
	}
	terms := e.criterion.Terms(e.memory.linear(e.model.Posterior(), 1, -s.Beta), -s.Beta)
	bound, err := e.cache.One(terms, e.criterion.Random.Inputs(d, e.lastObserved+1))
	if err != nil {
		return best, err
	}
	problem := d.Whole().Problem(e.criterion.Subtract(bound, e.present(d), -s.Beta))
	problem.Screen, problem.Climbs = 24*d.Size(), 2
	look, err := search.New([]search.Problem{problem}, search.Options{Seed: num.Stream(s.Seed, num.ForScreening, e.lastObserved+1).Uint64()})
	if err != nil {
		return best, err
	}
	all := make([]float64, len(e.axes))
	for i := range all {
		all[i] = e.axes[i].Unit(best.X[i])
	}
	var starts []float64
	for _, x := range append(e.incumbents(), all) {
		start := make([]float64, d.Size())
		d.Project(start, x)
		starts = append(starts, start...)
	}
	look.SetStarts(0, starts)
	found, _ := look.Run(context.Background(), recommendUnits)
	x := found[0].X
	d.Round(x)
	at, err := e.estimates(d, x)
	if err != nil || !(at[0].LowerBound > best.LowerBound) || e.excluded[d.Set].Unreliable(x) {
		return best, err
	}
	best.X, best.Estimate = e.memory.leaving(d, x), at[0]
	return best, nil
}

// leftBy is what variables do that the settings of a domain leave alone.
func leftBy(e *engine, d *space.Domain) []Left {
	out := e.memory.left.Take(len(e.axes))
	for i := range out {
		out[i] = Left{Mean: math.NaN(), SD: math.NaN()}
	}
	if len(d.Random) == 0 {
		return out
	}
	nodes := e.criterion.Random.Nodes(d.Random)
	for j, i := range d.Random {
		m := Left{Kind: e.spec.Variables[i].Random.Kind}
		if m.Kind == space.Held {
			m.Mean = e.axes[i].User(e.criterion.Random.Last[i])
		} else {
			m.Mean, m.SD = nodes.Moments(j, e.axes[i].User)
		}
		out[i] = m
	}
	return out
}

// playedPoints lists the settings that valid steps played with a control set, one
// row each, as they may be proposed; reliable leaves out those where steps failed
// more often. Steps without control stand for the full set: they show the objective
// at their values all the same.
func (e *engine) playedPoints(set int, reliable bool) []float64 {
	d := e.domains[set]
	out := e.memory.Floats(len(e.model.Data.Rows) * d.Size())[:0]
	last := 0
	for i := range e.model.Data.Rows {
		r := &e.model.Data.Rows[i]
		if r.Set != set && (r.Set >= 0 || len(d.Random) > 0) || r.Set == set && r.Step == last {
			continue
		}
		last = r.Step
		x := out[len(out) : len(out)+d.Size()]
		d.Project(x, r.X)
		if reliable && e.excluded[set].Unreliable(x) {
			continue
		}
		d.Round(x)
		out = out[:len(out)+d.Size()]
	}
	return out
}

// surest ranks settings x of a domain by a quick form of the lower bound, estimates the
// best sixteen in full, and returns the one with the greatest bound.
func (e *engine) surest(d *space.Domain, x []float64) (at []float64, best Estimate, err error) {
	const exact = 16
	size := d.Size()
	quick := e.memory.Floats(len(x) / size)
	if len(quick) > exact {
		if err := e.quickBounds(quick, d, x); err != nil {
			return nil, Estimate{}, err
		}
	}
	order := e.memory.Ints(len(quick))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(quick[b], quick[a]) })
	few := e.memory.Floats(exact * size)[:0]
	for _, i := range order[:min(exact, len(order))] {
		few = append(few, x[i*size:(i+1)*size]...)
	}
	estimates, err := e.estimates(d, few)
	if err != nil {
		return nil, Estimate{}, err
	}
	k := 0
	for i := range estimates {
		if estimates[i].LowerBound > estimates[k].LowerBound {
			k = i
		}
	}
	return few[k*size : (k+1)*size], estimates[k], nil
}

// quickBounds are the lower bounds of settings x of a domain in a quick form.
func (e *engine) quickBounds(dst []float64, d *space.Domain, x []float64) error {
	terms := e.criterion.Terms(e.memory.linear(e.model.Posterior(), 1, -e.spec.Beta), -e.spec.Beta)
	in := e.criterion.Random.Inputs(d, e.lastObserved+1)
	if in.Random == nil && in.Nodes == nil {
		e.cache.At(dst, terms, x)
		return nil
	}
	c, err := e.cache.One(terms, in)
	if err != nil {
		return err
	}
	c.Prepare()
	c.SurrogateValues(dst, x)
	full, coarse := c.Rules()
	if r := e.criterion.SpreadOf(e.present(d), -e.spec.Beta, full, coarse); r != nil {
		r.Adjust(dst, nil, x, true)
	}
	return nil
}

// present is how settings of a domain are looked at now.
func (e *engine) present(d *space.Domain) risk.Evaluation {
	return risk.Evaluation{View: e.model.Posterior(), Domain: d, Step: e.lastObserved + 1}
}

// estimates describes the objective at settings x of a domain.
func (e *engine) estimates(d *space.Domain, x []float64) ([]Estimate, error) {
	beta := e.spec.Beta
	summaries, err := e.criterion.Summarise(e.present(d), risk.Ends{Noise: -beta, Spread: -beta}, x)
	if err != nil {
		return nil, err
	}
	h := e.model.Active
	feasible, err := e.constraints.Feasibilities(d, e.lastObserved+1, x)
	if err != nil {
		return nil, err
	}
	out := e.memory.estimates.Take(&e.memory.Memory, len(summaries))
	for k, s := range summaries {
		low := s.Mean - beta*s.SD
		if e.criterion.Risk > 0 {
			low -= e.criterion.Risk * e.model.Active.Scale * s.RiskVariance()
		}
		out[k] = Estimate{Mean: h.Center + h.Scale*s.Mean, SD: h.Scale * s.SD,
			NoiseSD: h.Scale * math.Sqrt(s.Shot), LowerBound: h.Center + h.Scale*low, Feasibility: e.constraints.All(feasible[k])}
		if e.model.NoiseIsPriorMedian() {
			out[k].NoiseSD = math.NaN()
		}
	}
	return out, nil
}

// startEstimate describes the starting setting: variables whose start is unknown
// are random.
func (e *engine) startEstimate() (Estimate, error) {
	d, x := &e.memory.start, e.memory.Floats(len(e.axes))[:0]
	d.Set, d.Axes, d.Coords, d.Random = -1, e.axes, d.Coords[:0], d.Random[:0]
	for i := range e.axes {
		if start := e.spec.Variables[i].Start; !math.IsNaN(start) {
			d.Coords, x = append(d.Coords, i), append(x, e.axes[i].Unit(start))
		} else {
			d.Random = append(d.Random, i)
		}
	}
	out, err := e.estimates(d, x)
	if err != nil {
		return Estimate{}, err
	}
	return out[0], nil
}
