package policy

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// decide maximises the acquisition over the eligible control sets:
//
//	regions -> views -> acquisition -> options -> penalties -> search -> schedule
func (e *engine) decide(ctx context.Context, step int, fits []int) (Proposal, error) {
	if err := e.refresh(); err != nil {
		return Proposal{}, err
	}
	d, err := e.decision(ctx, step, fits)
	if err != nil {
		return Proposal{}, err
	}
	if err := e.restrict(d); err != nil {
		return Proposal{}, err
	}
	c, err := wanted(e, d)
	if err != nil {
		return Proposal{}, err
	}
	settled, err := leaveSettled(e, d, &c)
	if err != nil {
		return Proposal{}, err
	}
	o := &c.options[c.k]
	x, again, err := remeasured(e, d, c.x)
	if err != nil {
		return Proposal{}, err
	}
	why, err := e.explain(d, o, x)
	if err != nil {
		return Proposal{}, err
	}
	if why.Again = again; settled > 0 {
		why.Settled = float64(settled)
	}
	why.Value = o.InUserUnits(e.model.Active, d.ValueAt(o, c.found[c.k], x))
	p, err := e.withCost(Proposal{ControlSet: o.Set, Work: d.Units.Done,
		Cut: d.Units.Cut && (e.limit > 0 || ctx.Err() != nil), Why: why}, x)
	if err == nil {
		p.Prior = e.priorOf(step, c.options, o, p.X)
	}
	return p, err
}

// choice is what the acquisition wants: setting x of option k, found among the options.
type choice struct {
	options []acquisition.Option
	found   []search.Maximum
	k       int
	x       []float64
}

// wanted is what the acquisition wants of a decision, by what can be paid.
func wanted(e *engine, d *decision) (c choice, err error) {
	if c.options, err = e.options(d); err != nil {
		return choice{}, err
	}
	if c.found, err = d.Search(c.options, e.schedule.Slack()/e.model.Active.Scale); err != nil {
		return choice{}, err
	}
	c.k, c.x, err = e.affordable(d, c.options, c.found)
	return c, err
}

// fidelityOf is the target fidelity in unit coordinates, NaN for variables that are none;
// nil: there is none.
func fidelityOf(e *engine) []float64 {
	var out []float64
	for i, v := range e.spec.Fidelity {
		out = append(out, e.axes[i].Unit(v))
	}
	return out
}

// search is decision.search.
func (e *engine) search(d *decision, options []acquisition.Option, slack float64) ([]search.Maximum, error) {
	problems := e.memory.problems.Take(&e.memory.Memory, len(options))
	centres := append(e.memory.points.Take(&e.memory.Memory, len(d.Incumbents)+1)[:0], d.Incumbents...)
	if e.costs.Move != nil { // staying put costs nothing
		centres = append(centres, e.costs.Last)
	}
	d.Penalised = false
	for i, o := range options {
		objective := e.penalised(d, o)
		d.Penalised = d.Penalised || objective != o.Objective
		problems[i] = d.region(o.Set).Problem(objective)
	}
	// The functions differ from option to option by their offsets, which the search does
	// not know: the slack covers them.
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range options {
		low, high = min(low, o.Offset), max(high, o.Offset)
	}
	s, err := e.searchOf(d, options, problems, slack+high-low)
	if err != nil {
		return nil, err
	}
	for i, o := range options {
		of := [...][]float64{o.Start, d.region(o.Set).Centre, d.StartPoints(d.Domains[o.Set], centres)} // a search that is cut looks at the first
		starts := e.memory.Floats(len(of[0]) + len(of[1]) + len(of[2]))[:0]
		for _, some := range of {
			starts = append(starts, some...)
		}
		s.SetStarts(i, starts)
		s.SetJump(i, o.Jump)
	}
	return d.Units.Run(s), nil
}

// searchOf is the search that decisions keep, or, in regions and where nothing was measured, one of its own.
func (e *engine) searchOf(d *decision, options []acquisition.Option, problems []search.Problem, slack float64) (*search.Search, error) {
	if len(d.regions) > 0 || d.Unseen {
		return search.New(problems, search.Options{Seed: d.Rand(num.ForScreening).Uint64(), Slack: slack})
	}
	u := acquisition.Use{Which: d.searches, Sets: e.memory.Ints(len(options)), Steady: e.spec.Model.PriorRule != model.PriorsSampled, Slack: slack, Step: d.Step, Seed: d.Seed}
	d.searches++
	for i, o := range options {
		u.Sets[i], u.Steady = o.Set, u.Steady && o.Steady
	}
	return d.Kept.Search(problems, u)
}

// penalised is the option's objective with its penalties: where constraints are not kept,
// where steps failed, what Once forbids, and what the rest of the budget cannot pay.
func (e *engine) penalised(d *decision, o acquisition.Option) search.Objective {
	out, v := d.Limiter.Limit(o.Objective, o.Set), e.excluded[o.Set]
	if v.Decide(d.Step) {
		out = space.WithPenalty(out, v.Penalty)
	}
	if e.spec.Once || d.Untried {
		out = space.WithPenalty(out, tried(e, o.Set))
	}
	if e.costs.Bounded() {
		dom := e.domains[o.Set]
		penalty := func(x []float64) float64 { return e.costs.Penalty(dom, x) }
		if e.costs.AffordsAll(dom) {
			penalty = func([]float64) float64 { return 0 }
		}
		out = space.WithPenalty(out, penalty)
	}
	return out
}

// affordable is the option that the rule chooses, with a setting that can be paid.
func (e *engine) affordable(d *decision, options []acquisition.Option, found []search.Maximum) (k int, x []float64, err error) {
	d.DropInfeasible(options, found)
	for unaffordable := false; ; unaffordable = true {
		if k, err = e.choose(options, found); err != nil {
			return 0, nil, err
		}
		switch {
		case k < 0 && unaffordable:
			return 0, nil, e.costs.BudgetError()
		case k < 0:
			return 0, nil, noValueError(e)
		}
		x, err = e.costs.NearestAffordable(e.domains[options[k].Set], found[k].X)
		if !errors.Is(err, cost.ErrBudget) {
			return k, x, err
		}
		for i := range options {
			if options[i].Set == options[k].Set {
				found[i].Value = math.Inf(-1)
			}
		}
	}
}

// noValueError is the error where no setting that was looked at has a value.
func noValueError(e *engine) error {
	if e.model.Known != nil {
		return errors.New("every setting that was looked at counts as infinitely noisy: give a noise variance that is finite and not negative")
	}
	return errors.New("no setting that was looked at has a finite value: check the objective's readings for extreme ones")
}

// choose lets the rule take a control set by the best option of each and returns that
// option's position, -1 where there is none. Sets to which a cut search did not come are
// left out.
func (e *engine) choose(options []acquisition.Option, found []search.Maximum) (int, error) {
	n := len(options)
	sets, best := e.memory.Ints(n)[:0], e.memory.Ints(n)[:0]
	values, prices := e.memory.Floats(n)[:0], e.memory.Floats(n)[:0]
	for i, o := range options {
		if math.IsInf(found[i].Value, -1) {
			continue
		}
		value := o.InUserUnits(e.model.Active, found[i].Value)
		at := num.Position(sets, o.Set)
		if at < 0 {
			sets, best, values = append(sets, o.Set), append(best, i), append(values, value)
		} else if value > values[at] {
			best[at], values[at] = i, value
		}
	}
	for _, i := range best {
		prices = append(prices, e.costs.Weighed(e.domains[options[i].Set], found[i].X))
	}
	if len(sets) == 0 {
		return -1, nil
	}
	if e.schedule.PerPrice() && options[best[0]].Unit == acquisition.ObjectiveValue {
		worth, err := recommendedWorth(e)
		if err != nil {
			return -1, err
		}
		for k := range values {
			values[k] -= worth
		}
	}
	return best[e.schedule.Choose(values, prices)], nil
}

// recommendedWorth is the expected worth of what would be recommended now, the prior mean where that is
// nothing.
func recommendedWorth(e *engine) (float64, error) {
	r, err := recommend(e)
	if errors.Is(err, ErrNoData) {
		return e.model.Active.Center, nil
	}
	return r.LowerBound + e.spec.Beta*r.SD, err
}

// worthIsView reports whether the acquisition takes the mean-variance objective for the objective: it
// cannot weigh a variance by itself, and need not where that is known.
func (e *engine) worthIsView() bool { return e.criterion.Risk > 0 && !e.spec.riskyAcquisition() }

// explain gives the parts of the acquisition at setting x in the users' units.
func (e *engine) explain(d *decision, o *acquisition.Option, x []float64) (Why, error) {
	view := o.View
	if e.worthIsView() { // the objective's, whose risk is told apart
		view = e.model.Views(d.Step)[viewOf(d.Views, view)]
	}
	parts, err := e.criterion.Summarise(risk.Evaluation{View: view, Domain: e.domains[o.Set], Step: d.Step}, risk.Ends{Noise: d.NoiseBeta, Spread: d.Beta}, x)
	if err != nil {
		return Why{}, err
	}
	s, h := parts[0], e.model.Active
	w := Why{Mean: h.Center + h.Scale*s.Mean, SD: h.Scale * s.Within, Beta: d.Beta, NoiseVariance: math.NaN(), Risk: math.NaN(), Best: math.NaN(), BestNoiseVariance: math.NaN(),
		OwnLengthscales: e.model.OwnLengthscales(), Unseen: math.NaN(), Settled: math.NaN(), Again: math.NaN(), LogWidth: math.NaN()}
	if d.Unseen {
		w.Unseen = d.ValueAt(o, search.Maximum{}, x)
	}
	if e.spec.Acquisition != acquireUCB || o.Unit == acquisition.Dimensionless { // the value is no bound
		w.Beta = math.NaN()
	}
	f, err := e.constraints.Feasibilities(e.domains[o.Set], d.Step, x)
	if err != nil {
		return Why{}, err
	}
	if w.Feasibility = e.constraints.All(f[0]); len(e.constraints.Each) == 0 {
		w.Feasibility = math.NaN()
	}
	if e.criterion.Risk > 0 {
		w.NoiseVariance = h.Scale * h.Scale * s.RiskVariance()
		w.Risk = e.criterion.Risk * w.NoiseVariance
	}
	return w, nil
}

// viewOf is the position of a view among those of a decision.
func viewOf(all []model.View, v model.View) int {
	return slices.IndexFunc(all, func(o model.View) bool { return len(o) > 0 && len(v) > 0 && &o[0] == &v[0] })
}

// decision prepares the decision of a step among the control sets that fit.
func (e *engine) decision(ctx context.Context, step int, fits []int) (*decision, error) {
	limit := e.limit
	if limit == 0 {
		limit = e.spec.WorkUnits
	}
	out := e.memory.decisions.Take(&e.memory.Memory)
	if out.Decision == nil {
		out.Decision, out.regions = &acquisition.Decision{Units: &acquisition.Meter{}}, map[int]space.Region{}
		out.Played = func(set int) []float64 { return e.playedPoints(set, false) }
		out.Search = func(options []acquisition.Option, slack float64) ([]search.Maximum, error) {
			return e.search(out, options, slack)
		}
	}
	clear(out.regions)
	*out.Units = acquisition.Meter{Ctx: ctx, Limit: limit}
	*out.Decision = acquisition.Decision{Step: step, Seed: e.spec.Seed, Sets: e.schedule.Eligible(fits), Domains: e.domains,
		Views: e.model.Views(step), Beta: e.confidence.Beta(step), NoiseBeta: confidence.NoiseBeta(e.confidence, step),
		Goal: acquisition.NewGoal(e.target, e.criterion.Random, e.model.Rules, fidelityOf(e), step), Kept: &e.kept, Criterion: e.criterion, Costs: e.costs, Lists: &e.lists,
		Played: out.Played, Search: out.Search, Units: out.Units}
	out.Unseen, out.Untried, out.searches = false, false, 0
	if e.worthIsView() {
		out.Criterion = &risk.Criterion{Model: e.model, Random: e.criterion.Random, Cache: e.criterion.Cache}
		for i, v := range out.Views {
			out.Views[i] = e.criterion.Worth(v)
		}
	}
	var err error
	if out.Limiter, err = e.constraints.NewLimiter(e.domains, out.Goal.Inputs, step); err != nil {
		return nil, err
	}
	out.Incumbents = e.feasibleIncumbents(out)
	out.Unseen = stalled(e, step)
	return out, nil
}

// explores reports whether a decision looks beyond what the model expects.
func explores(e *engine, step int) bool {
	return step-e.compared <= e.spec.ExploresUntil() && !e.model.Deciding()
}

// stalled reports whether the newest steps repeated what is known, and the next is to go elsewhere.
func stalled(e *engine, step int) bool {
	return explores(e, step) && e.model.Repeats(acquisition.Patience(step), e.spec.InitialSteps+1, e.criterion.Alpha())
}
