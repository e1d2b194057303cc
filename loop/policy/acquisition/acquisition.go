package acquisition

import (
	"math"
	"math/rand/v2"

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
	// options makes the functions for the control sets and the views of a decision, at
	// least one for each control set. It may search by itself (d.search) to find what
	// they depend on.
	Options(d *Decision) ([]Option, error)
}

// Option is one function to maximise over the settings of one control set. Its points
// have the coordinates of the set's domain.
type Option struct {
	Set       int
	View      model.View // whose posterior explains the choice
	Objective search.Objective
	// offset is added to the objective's values before options are compared.
	Offset float64
	// start, where not nil, is a setting at which the search begins, beside others.
	Start []float64
	// unit says what the values measure.
	Unit Unit
	// floor, where positive, has the search work on the logarithm of the value, from that
	// value on.
	floor float64
	// typical, where positive, says that the value was divided by the cost over a typical
	// one.
	typical float64
}

// Leaves is a value that was found, in the user's units.
func (o *Option) Leaves(h *model.Hyper, found float64) float64 {
	value := found + o.Offset
	if o.floor > 0 {
		value = math.Exp(value)
	}
	value = o.Unit.InUnits(h, value)
	if o.typical > 0 {
		value /= o.typical
	}
	return value
}

// ForSearch puts the option as the search is to see it: as a logarithm where it has a
// floor, and over the cost of the step where costs are given (nil: they are not). A level over a cost is
// that above the model's prior mean, which the paper's form takes as zero (Tay et al.,
// NeurIPS 2023): no such quotient can be independent of the objective's zero, and
// a level below it, negative, prefers dear steps.
func (o Option) ForSearch(costs *cost.Model, d *space.Domain) Option {
	if o.floor == 0 && costs == nil {
		return o
	}
	r := reshaped{inner: o.Objective, offset: o.Offset, floor: o.floor}
	if costs != nil {
		o.typical = costs.Average
		r.price = cost.NewPrice(costs, d)
		if o.Unit == level {
			o.Unit = gain
		}
	}
	o.Objective, o.Offset = reshape(r), 0
	return o
}

// Unit says how an acquisition's value leaves the standardised objective.
type Unit uint8

const (
	// level is a value of the objective: a bound, a draw.
	level Unit = iota
	// gain is a difference of values: an improvement.
	gain
	// pure does not depend on the objective's unit: an information in nats, a
	// probability, a ratio.
	Pure
)

// InUnits is a value as it leaves.
func (u Unit) InUnits(h *model.Hyper, value float64) float64 {
	switch u {
	case level:
		return h.Center + h.Scale*value
	case gain:
		return h.Scale * value
	}
	return value
}

// Decision is what an acquisition sees of one step. Everything in it is read only, but
// for the work that its searches count.
type Decision struct {
	Step int
	Seed uint64
	// sets are the control sets among which the rule will choose, domains those of all.
	Sets    []int
	Domains []*space.Domain
	// views are the posteriors to look at: one, unless the rule on priors keeps several
	// apart.
	Views []model.View
	// beta multiplies the standard deviation; one draw serves a whole step.
	Beta float64
	// NoiseBeta does so in the bound of the noise variance.
	NoiseBeta float64
	// Goal is where the maximum is sought that information is about.
	Goal Goal
	// criterion is the mean-variance objective.
	Criterion *risk.Criterion
	Costs     *cost.Model
	// keeper keeps the constraints; nil: there is none yet.
	Keeper *constraint.Keeper
	// incumbents are observed points with great posterior means, where searches start.
	Incumbents [][]float64
	// played are the settings of valid steps with a control set, row after row.
	Played func(set int) []float64
	// search maximises options beside each other. slack, in the options' own unit, is how
	// much below the best an option may be and still matter.
	Search func(options []Option, slack float64) ([]search.Maximum, error)
	Lists  *ListSampler
	// units meters the work.
	Units *Meter
}

// Rng is the decision's random stream of one purpose.
func (d *Decision) Rng(p num.Purpose) *rand.Rand { return num.Stream(d.Seed, p, d.Step) }

// Substream is the decision's random stream number i of one purpose.
func (d *Decision) Substream(p num.Purpose, i int) *rand.Rand {
	return num.Stream(d.Seed+num.Mix(uint64(i)), p, d.Step)
}

// inputs splits the coordinates of a control set.
func (d *Decision) inputs(set int) expectations.Inputs {
	return d.Criterion.Environment.Inputs(d.Domains[set], d.Step)
}

// Expectations makes the objectives of the decision's control sets from the same terms.
func (d *Decision) Expectations(terms []expectations.Term) ([]*expectations.Expected, error) {
	in := make([]expectations.Inputs, len(d.Sets))
	for i, set := range d.Sets {
		in[i] = d.inputs(set)
	}
	return expectations.NewSets(terms, in)
}
