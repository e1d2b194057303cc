package policy

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// deciding is one decision under way: what the acquisition sees of it, and where control
// sets are searched.
type deciding struct {
	*decision
	// regions are where control sets are searched, where it is not the whole domain.
	regions map[int]region
}

// region is where a control set is searched.
func (d *deciding) region(set int) region {
	if r, restricted := d.regions[set]; restricted {
		return r
	}
	return d.domains[set].whole()
}

// decide maximises the acquisition over the eligible control sets:
//
//	regions -> views -> acquirer -> options -> walls -> search -> setRule
func (e *engine) decide(ctx context.Context, step int, fits []int) (Proposal, error) {
	if err := e.refresh(); err != nil {
		return Proposal{}, err
	}
	d, err := e.decision(ctx, step, fits)
	if err != nil {
		return Proposal{}, err
	}
	if err := e.narrow(d); err != nil {
		return Proposal{}, err
	}
	options, err := e.options(d)
	if err != nil {
		return Proposal{}, err
	}
	found, err := d.search(options, e.rule.slack()/e.model.inForce.scale)
	if err != nil {
		return Proposal{}, err
	}
	k, x, err := e.affordable(d, options, found)
	if err != nil {
		return Proposal{}, err
	}
	o := &options[k]
	why, err := e.explain(d, o, x)
	if err != nil {
		return Proposal{}, err
	}
	why.Value = o.leaves(e.model.inForce, unpenalised(d.keeper, o, found[k]))
	p, err := e.priced(Proposal{ControlSet: o.set, Work: d.units.done,
		Cut: d.units.cut && (e.limit > 0 || ctx.Err() != nil), Why: why}, x)
	if err == nil {
		p.Prior = e.priorOf(step, options, o, p.X)
	}
	return p, err
}

// decision prepares the decision of a step among the control sets that fit.
func (e *engine) decision(ctx context.Context, step int, fits []int) (*deciding, error) {
	limit := e.limit
	if limit == 0 {
		limit = e.spec.WorkUnits
	}
	out := &deciding{regions: map[int]region{}, decision: &decision{step: step, seed: e.spec.Seed, sets: e.rule.eligible(fits), domains: e.domains,
		views: e.model.views(step), beta: e.confidence.beta(step), noiseBeta: noiseBeta(e.confidence, step),
		goal: newGoal(e.target, e.criterion.around, e.model.modelling, e.fidelity(), step), criterion: e.criterion, costs: e.costs, lists: &e.lists,
		played: func(set int) []float64 { return e.playedPoints(set, false) },
		units:  &meter{ctx: ctx, limit: limit}}}
	out.search = func(options []option, slack float64) ([]gpcore.Maximum, error) { return e.search(out, options, slack) }
	var err error
	if out.keeper, err = e.constraints.newKeeper(e.domains, out.goal.inputs, step); err != nil {
		return nil, err
	}
	out.incumbents = e.feasibleIncumbents(out)
	return out, nil
}

// fidelity is the target fidelity in unit coordinates, NaN for variables that are none;
// nil: there is none.
func (e *engine) fidelity() []float64 {
	var out []float64
	for i, v := range e.spec.Fidelity {
		out = append(out, e.axes[i].unit(v))
	}
	return out
}

// options are the acquirer's, in the shape that the search looks at.
func (e *engine) options(d *deciding) ([]option, error) {
	options, err := e.acquire.options(d.decision)
	var costs *costModel
	if e.spec.PerCost {
		costs = e.costs
	}
	for i, o := range options {
		options[i] = o.forSearch(costs, e.domains[o.set])
	}
	return options, err
}

// search is decision.search.
func (e *engine) search(d *deciding, options []option, slack float64) ([]gpcore.Maximum, error) {
	problems := make([]gpcore.Problem, len(options))
	centres := slices.Clone(d.incumbents)
	if e.costs.move != nil { // the cheapest place is where things are
		centres = append(centres, e.costs.last)
	}
	for i, o := range options {
		problems[i] = d.region(o.set).problem(e.walled(d, o))
	}
	// The functions differ from option to option by their offsets, which the search does
	// not know: the slack covers them.
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range options {
		low, high = min(low, o.offset), max(high, o.offset)
	}
	s, err := gpcore.NewSearch(problems, gpcore.Options{Seed: d.rng(forScreening).Uint64(), Slack: slack + high - low})
	if err != nil {
		return nil, err
	}
	for i, o := range options {
		starts := append(slices.Clone(d.region(o.set).centre), d.startsIn(d.domains[o.set], centres)...)
		s.SetStarts(i, append(starts, o.start...))
	}
	return d.units.run(s), nil
}

// tried is the penalty of [Spec.Once]: far more than values of a standardised objective
// differ by, so that a setting which was tried is left for when all were.
func (e *engine) tried(set int) func(x []float64) float64 {
	const far = 1e9
	dom := e.domains[set]
	used := make(map[int]bool)
	for _, x := range e.playedSettings(dom) {
		used[dom.listedAt(x)] = true
	}
	return func(x []float64) float64 {
		if used[dom.listedAt(x)] {
			return far
		}
		return 0
	}
}

// walled is the option's objective with its penalties: where constraints are not kept,
// where steps failed, what Once forbids, and what the rest of the budget cannot pay.
func (e *engine) walled(d *deciding, o option) gpcore.Objective {
	out, v := d.keeper.keep(o.objective, o.set), e.excluded[o.set]
	if v.decide(d.step); len(v.active) > 0 {
		out = withPenalty(out, v.penalty)
	}
	if e.spec.Once {
		out = withPenalty(out, e.tried(o.set))
	}
	if e.costs.bounded() {
		dom := e.domains[o.set]
		out = withPenalty(out, func(x []float64) float64 { return e.costs.wall(dom, x) })
	}
	return out
}

// affordable is the option that the rule chooses, with a setting that can be paid.
// Options without one are passed over.
func (e *engine) affordable(d *deciding, options []option, found []gpcore.Maximum) (k int, x []float64, err error) {
	chooseKept(d.keeper, options, found)
	for dear := false; ; dear = true {
		switch k = e.choose(options, found); {
		case k < 0 && dear:
			return 0, nil, e.costs.broke()
		case k < 0:
			return 0, nil, e.worthless()
		}
		x, err = e.costs.payable(e.domains[options[k].set], found[k].X)
		if !errors.Is(err, ErrBudget) {
			return k, x, err
		}
		for i := range options {
			if options[i].set == options[k].set {
				found[i].Value = math.Inf(-1)
			}
		}
	}
}

// worthless is the error where no setting that was looked at has a value.
func (e *engine) worthless() error {
	if e.model.known != nil {
		return errors.New("every setting that was looked at counts as infinitely noisy: give a noise variance that is finite and not negative")
	}
	return errors.New("no setting that was looked at has a finite value: check the objective's readings for extreme ones")
}

// choose lets the rule take a control set by the best option of each and returns that
// option's position, -1 where there is none. Sets to which a cut search did not come are
// left out.
func (e *engine) choose(options []option, found []gpcore.Maximum) int {
	var sets, best []int
	var values []float64
	for i, o := range options {
		if math.IsInf(found[i].Value, -1) {
			continue
		}
		value := o.leaves(e.model.inForce, found[i].Value)
		at := position(sets, o.set)
		if at < 0 {
			sets, best, values = append(sets, o.set), append(best, i), append(values, value)
		} else if value > values[at] {
			best[at], values[at] = i, value
		}
	}
	if len(sets) == 0 {
		return -1
	}
	return best[e.rule.choose(sets, values)]
}

// chooseKept leaves out what keeps no constraint while something else does; where nothing
// does, all but the option nearest to it.
func chooseKept(k *keeper, options []option, maxima []gpcore.Maximum) {
	if k == nil || len(options) == 1 {
		return
	}
	all := make([]found, len(options))
	for i, o := range options {
		if all[i].set = o.set; !math.IsInf(maxima[i].Value, -1) {
			all[i].x = maxima[i].X
		}
	}
	for i, may := range k.choosable(all) {
		if !may {
			maxima[i].Value = math.Inf(-1)
		}
	}
}

// unpenalised is the value that was found without the penalties.
func unpenalised(k *keeper, o *option, found gpcore.Maximum) float64 {
	if k == nil {
		return found.Value
	}
	var v [1]float64
	o.objective.Values(v[:], found.X)
	return v[0]
}

// explain gives the parts of the acquisition at setting x in the users' units.
func (e *engine) explain(d *deciding, o *option, x []float64) (Why, error) {
	parts, err := e.criterion.summarise(judgement{o.view, e.domains[o.set], e.seen + 1, d.noiseBeta}, x)
	if err != nil {
		return Why{}, err
	}
	s, h := parts[0], e.model.inForce
	w := Why{Mean: h.center + h.scale*s.mean, SD: h.scale * s.within, Beta: d.beta, NoiseVariance: math.NaN(), Risk: math.NaN()}
	if e.spec.Acquisition != acquireUCB || o.unit == pure { // the value is no bound
		w.Beta = math.NaN()
	}
	f, err := e.constraints.feasibilities(e.domains[o.set], d.step, x)
	if err != nil {
		return Why{}, err
	}
	if w.Feasibility = e.constraints.all(f[0]); len(e.constraints.each) == 0 {
		w.Feasibility = math.NaN()
	}
	if e.criterion.risk > 0 {
		w.NoiseVariance = h.scale * h.scale * s.risky()
		w.Risk = e.criterion.risk * w.NoiseVariance
	}
	return w, nil
}

func unexplained() Why {
	n := math.NaN()
	return Why{n, n, n, n, n, n, n}
}
