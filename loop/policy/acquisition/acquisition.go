package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Function is the heart of a policy: it says which functions a decision maximises.
type Function interface {
	// Options makes the functions for the control sets and the views of a decision, at
	// least one for each control set. It may search by itself (d.Search) to find what
	// they depend on.
	Options(d *Decision) ([]Option, error)
}

// Option is one function to maximise over the settings of one control set. Its points
// have the coordinates of the set's domain.
type Option struct {
	Set       int
	View      model.View // whose posterior explains the choice
	Objective search.Objective
	// Offset is added to the objective's values before options are compared.
	Offset float64
	// Start, where not nil, is a setting at which the search begins, beside others.
	Start []float64
	// Unit says what the values measure.
	Unit Unit
	// Steady says that the function differs little from that of the step before.
	Steady bool
	// logFloor, where positive, has the search work on the logarithm of the value, from that
	// value on.
	logFloor float64
	// Jump is that of the objective at the edge of what it forbids, as the search sees it.
	Jump search.Jump
	// edge, where positive, is the function's value at that edge, from which on it is forbidden times as much below.
	edge, forbidden float64
	// logged says that the objective is the logarithm of the value.
	logged bool
	// tail, where not nil, is that logarithm below the floor.
	tail tail
	// typicalCost, where positive, says that the value was divided by the cost over a typical
	// one.
	typicalCost float64
}

// InUserUnits is a value that was found, in the user's units.
func (o *Option) InUserUnits(h *model.Hyper, found float64) float64 {
	value := found + o.Offset
	if o.logFloor > 0 || o.logged {
		value = math.Exp(value)
	}
	value = o.Unit.ToUserUnits(h, value)
	if o.typicalCost > 0 {
		value /= o.typicalCost
	}
	return value
}

// ForSearch puts the option as the search is to see it: as a logarithm where it has a
// floor, and over the cost of the step where costs are given (nil: they are not). A level over a cost is
// that above the model's prior mean, which the paper's form takes as zero (Tay et al.,
// NeurIPS 2023): no such quotient can be independent of the objective's zero, and
// a level below it, negative, prefers expensive steps.
func (d *Decision) ForSearch(o Option, costs *cost.Model) Option {
	if o.logFloor == 0 && costs == nil {
		return o
	}
	if o.edge > 0 {
		o.Jump = d.jump(&o, costs)
	}
	r := d.slabs().transformations.Take(d.memory())
	r.offset, r.floor, r.tail, r.price, r.logged = o.Offset, o.logFloor, o.tail, nil, o.logged
	if costs != nil {
		o.typicalCost = costs.TypicalCost
		r.price = d.price(costs, o.Set)
		if o.Unit == ObjectiveValue {
			o.Unit = ObjectiveDifference
		}
	}
	o.Objective, o.Offset = d.slabs().adjusted.Take(d.memory()).Of(o.Objective, r), 0
	return o
}

// jump is that of the logarithm over the cost of an option that forbids something. Where costs vary with the setting nobody knows
// where its edge is.
func (d *Decision) jump(o *Option, costs *cost.Model) search.Jump {
	j := search.Jump{Edge: math.Inf(-1), Height: -math.Log(o.forbidden)}
	if !num.Finite(o.edge) {
		return j
	}
	edge := math.Log(o.edge) - j.Height
	if costs == nil {
		j.Edge = edge
	} else if p := d.price(costs, o.Set); !p.Varies() {
		j.Edge = edge - math.Log(p.At(d.memory().Floats(d.Domains[o.Set].Size()))) // of any setting
	}
	return j
}

// price is the price of a control set's settings.
func (d *Decision) price(costs *cost.Model, set int) *cost.Price {
	p := d.slabs().prices.Take(d.memory())
	*p = cost.NewPrice(costs, d.Domains[set])
	return p
}

// Unit says how an acquisition's value leaves the standardised objective.
type Unit uint8

const (
	// ObjectiveValue is a value of the objective: a bound, a draw.
	ObjectiveValue Unit = iota
	// ObjectiveDifference is a difference of values: an improvement.
	ObjectiveDifference
	// pure does not depend on the objective's unit: an information in nats, a
	// probability, a ratio.
	Dimensionless
)

// ToUserUnits is a value as it leaves.
func (u Unit) ToUserUnits(h *model.Hyper, value float64) float64 {
	switch u {
	case ObjectiveValue:
		return h.Center + h.Scale*value
	case ObjectiveDifference:
		return h.Scale * value
	}
	return value
}

// Decision is what an acquisition sees of one step. Everything in it is read only, but
// for the work that its searches count.
type Decision struct {
	Step int
	Seed uint64
	// Sets are the control sets among which the rule will choose, Domains those of all.
	Sets    []int
	Domains []*space.Domain
	// Views are the posteriors to use: one, unless the rule on priors keeps several
	// apart.
	Views []model.View
	// Beta multiplies the standard deviation; one draw serves a whole step.
	Beta float64
	// NoiseBeta does so in the bound of the noise variance.
	NoiseBeta float64
	// Goal is where the maximum is sought that information is about.
	Goal Goal
	// Criterion is the mean-variance objective.
	Criterion *risk.Criterion
	Costs     *cost.Model
	// Limiter penalises settings that break constraints; nil: no constraint has data yet.
	Limiter *constraint.Limiter
	// Incumbents are observed points with great posterior means, where searches start.
	Incumbents [][]float64
	// Played are the settings of valid steps with a control set, row after row.
	Played func(set int) []float64
	// Search maximises options side by side. slack, in the options' own unit, is how
	// much below the best an option may be and still matter.
	Search func(options []Option, slack float64) ([]search.Maximum, error)
	// Penalised says that the latest Search took penalties off the options' objectives.
	Penalised bool
	Lists     *ListSampler
	// Kept is what is kept from decision to decision.
	Kept *Kept
	// Units meters the work.
	Units *Meter
}

// ValueAt is an option's value at a setting, without penalties: what the latest Search found, where it was there.
func (d *Decision) ValueAt(o *Option, found search.Maximum, x []float64) float64 {
	if !d.Penalised && slices.Equal(found.X, x) {
		return found.Value
	}
	v := d.memory().Floats(1)
	o.Objective.Values(v, x)
	return v[0]
}

// memory is that of the policy's call.
func (d *Decision) memory() *num.Memory { return d.Criterion.Model.Memory }

// options has room for an option of each view and control set. They hold until the policy's next call.
func (d *Decision) options() []Option {
	return d.slabs().options.Take(d.memory(), len(d.Views)*len(d.Sets))[:0]
}

// linear are the terms of E[a*mean + b*sd] of a view, with room for those of the noise.
func (d *Decision) linear(v model.View, a, b float64) []expectations.Term {
	return v.LinearTerms(d.slabs().terms.Take(d.memory(), len(v)+1)[:0], a, b)
}

// Rand is the decision's random stream of one purpose.
func (d *Decision) Rand(p num.Purpose) *rand.Rand {
	return d.slabs().generators.Take(d.memory()).Stream(d.Seed, p, d.Step)
}

// Substream is the decision's random stream number i of one purpose.
func (d *Decision) Substream(p num.Purpose, i int) *rand.Rand {
	return d.slabs().generators.Take(d.memory()).Stream(d.Seed+num.Mix(uint64(i)), p, d.Step)
}

// Evaluation says how a control set's settings are looked at by a view.
func (d *Decision) Evaluation(v model.View, set int) risk.Evaluation {
	return risk.Evaluation{View: v, Domain: d.Domains[set], Step: d.Step}
}

// inputs splits the coordinates of a control set.
func (d *Decision) inputs(set int) expectations.Inputs {
	return d.Criterion.Random.Inputs(d.Domains[set], d.Step)
}

// Expectations makes the objectives of the decision's control sets from the same terms.
func (d *Decision) Expectations(terms []expectations.Term) ([]*expectations.Expected, error) {
	in := d.allInputs()
	return d.Criterion.Cache.Sets(d.slabs().expected.Take(d.memory(), len(d.Sets)), terms, in)
}

// allInputs are those of the decision's control sets.
func (d *Decision) allInputs() []expectations.Inputs {
	in := d.slabs().inputs.Take(d.memory(), len(d.Sets))
	for i, set := range d.Sets {
		in[i] = d.inputs(set)
	}
	return in
}

// DropInfeasible leaves out what keeps no constraint while something else does; where nothing
// does, all but the option nearest to it.
func (d *Decision) DropInfeasible(options []Option, maxima []search.Maximum) {
	if d.Limiter == nil || len(options) == 1 {
		return
	}
	all := make([]constraint.Candidate, len(options))
	for i, o := range options {
		if all[i].Set = o.Set; !math.IsInf(maxima[i].Value, -1) {
			all[i].X = maxima[i].X
		}
	}
	for i, may := range d.Limiter.Choosable(all) {
		if !may {
			maxima[i].Value = math.Inf(-1)
		}
	}
}
