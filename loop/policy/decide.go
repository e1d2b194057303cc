package policy

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// decide maximises the acquisition over the eligible control sets:
//
//	regions -> views -> acquirer -> options -> walls -> search -> setRule
func (e *engine) decide(ctx context.Context, step int, fits []int) (Proposal, error) {
	if err := e.refresh(); err != nil {
		return Proposal{}, err
	}
	d := e.decision(ctx, step, fits)
	if err := d.constrain(); err != nil {
		return Proposal{}, err
	}
	if err := d.narrow(); err != nil {
		return Proposal{}, err
	}
	options, err := d.options()
	if err != nil {
		return Proposal{}, err
	}
	found, err := d.search(options, e.rule.slack()/e.model.inForce.scale)
	if err != nil {
		return Proposal{}, err
	}
	k, x, err := d.affordable(options, found)
	if err != nil {
		return Proposal{}, err
	}
	o := &options[k]
	why, err := d.explain(o, x)
	if err != nil {
		return Proposal{}, err
	}
	why.Value = o.leaves(e.model.inForce, d.keeper.unpenalised(o, found[k]))
	p, err := e.priced(Proposal{ControlSet: o.set, Work: d.units.done,
		Cut: d.units.cut && (e.limit > 0 || ctx.Err() != nil), Why: why}, x)
	if err == nil {
		p.Prior = d.priorOf(options, o, p.X)
	}
	return p, err
}

// decision prepares the decision of a step among the control sets that fit.
func (e *engine) decision(ctx context.Context, step int, fits []int) *decision {
	limit := e.limit
	if limit == 0 {
		limit = e.spec.WorkUnits
	}
	return &decision{engine: e, step: step, sets: e.rule.eligible(fits), views: e.model.views(step),
		beta: e.confidence.beta(step), noiseBeta: noiseBeta(e.confidence, step), regions: map[int]region{},
		units: &meter{ctx: ctx, limit: limit}}
}

// options are the acquirer's, in the shape that the search looks at.
func (d *decision) options() ([]option, error) {
	options, err := d.acquire.options(d)
	for i := range options {
		options[i] = d.reshaped(options[i], d.spec.PerCost)
	}
	return options, err
}

// search maximises options beside each other. slack, in the options' own unit, is how
// much below the best an option may be and still matter.
func (d *decision) search(options []option, slack float64) ([]gpcore.Maximum, error) {
	problems := make([]gpcore.Problem, len(options))
	centres := d.incumbents()
	if d.costs.move != nil { // the cheapest place is where things are
		centres = append(centres, d.around.last)
	}
	for i, o := range options {
		problems[i] = d.region(o.set).problem(d.walled(o))
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
func (d *decision) tried(set int) func(x []float64) float64 {
	const far = 1e9
	dom := d.domains[set]
	used := make(map[int]bool)
	for _, x := range d.playedSettings(dom) {
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
func (d *decision) walled(o option) gpcore.Objective {
	out, v := d.keeper.keep(o.objective, o.set), d.votes[o.set]
	if v.decide(d.step); len(v.active) > 0 {
		out = withPenalty(out, v.penalty)
	}
	if d.spec.Once {
		out = withPenalty(out, d.tried(o.set))
	}
	if d.costs.bounded() {
		dom := d.domains[o.set]
		out = withPenalty(out, func(x []float64) float64 { return d.costs.wall(dom, x) })
	}
	return out
}

// affordable is the option that the rule chooses, with a setting that can be paid.
// Options without one are passed over.
func (d *decision) affordable(options []option, found []gpcore.Maximum) (k int, x []float64, err error) {
	d.choosable(options, found)
	for dear := false; ; dear = true {
		switch k = d.choose(options, found); {
		case k < 0 && dear:
			return 0, nil, d.broke()
		case k < 0:
			return 0, nil, d.worthless()
		}
		x, err = d.payable(d.domains[options[k].set], found[k].X)
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
func (d *decision) worthless() error {
	if d.model.known != nil {
		return errors.New("every setting that was looked at counts as infinitely noisy: give a noise variance that is finite and not negative")
	}
	return errors.New("no setting that was looked at has a finite value: check the objective's readings for extreme ones")
}

// choose lets the rule take a control set by the best option of each and returns that
// option's position, -1 where there is none. Sets to which a cut search did not come are
// left out.
func (d *decision) choose(options []option, found []gpcore.Maximum) int {
	var sets, best []int
	var values []float64
	for i, o := range options {
		if math.IsInf(found[i].Value, -1) {
			continue
		}
		value := o.leaves(d.model.inForce, found[i].Value)
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
	return best[d.rule.choose(sets, values)]
}

func position(list []int, v int) int {
	for i, w := range list {
		if w == v {
			return i
		}
	}
	return -1
}

// incumbents lists up to four observed points with the greatest posterior mean of
// the mean-variance objective: searches start there.
func (e *engine) incumbents() [][]float64 { return e.ranked(incumbents) }

const incumbents = 4

// ranked lists up to count of them, the best first.
func (e *engine) ranked(count int) [][]float64 {
	m := e.model
	rows := m.data.rows
	x := make([]float64, 0, len(rows)*m.width())
	for i := range rows {
		x = append(x, m.point(rows[i].x[:m.dims], e.seen+1)...)
	}
	mean := make([]float64, len(rows))
	m.belief().means(mean, x)
	if alpha := e.alpha(); alpha > 0 {
		for i, v := range m.likelyNoise(x) {
			mean[i] -= alpha * v
		}
	}
	var out [][]float64
	for range min(count, len(rows)) {
		k := argmax(mean)
		mean[k] = math.Inf(-1)
		out = append(out, rows[k].x)
	}
	return out
}

// explain gives the parts of the acquisition at setting x in the users' units.
func (d *decision) explain(o *option, x []float64) (Why, error) {
	e := d.engine
	parts, err := e.summarise(judgement{o.view, e.domains[o.set], e.seen + 1, d.noiseBeta}, x)
	if err != nil {
		return Why{}, err
	}
	s, h := parts[0], e.model.inForce
	w := Why{Mean: h.center + h.scale*s.mean, SD: h.scale * s.within, Beta: d.beta, NoiseVariance: math.NaN(), Risk: math.NaN()}
	if e.spec.Acquisition != acquireUCB || o.unit == pure { // the value is no bound
		w.Beta = math.NaN()
	}
	f, err := e.feasibilities(e.domains[o.set], d.step, x)
	if err != nil {
		return Why{}, err
	}
	if w.Feasibility = e.all(f[0]); len(e.constraints) == 0 {
		w.Feasibility = math.NaN()
	}
	if e.risk > 0 {
		w.NoiseVariance = h.scale * h.scale * s.risky()
		w.Risk = e.risk * w.NoiseVariance
	}
	return w, nil
}

func unexplained() Why {
	n := math.NaN()
	return Why{n, n, n, n, n, n, n}
}
