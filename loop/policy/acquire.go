package policy

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
)

// acquirer is the heart of a policy: it says which functions a decision maximises.
type acquirer interface {
	// options makes the functions for the control sets and the views of a decision, at
	// least one for each control set. It may search by itself (d.search) to find what
	// they depend on.
	options(d *decision) ([]option, error)
}

// option is one function to maximise over the settings of one control set. Its points
// have the coordinates of the set's domain.
type option struct {
	set       int
	view      view // whose posterior explains the choice
	objective gpcore.Objective
	// offset is added to the objective's values before options are compared.
	offset float64
	// start, where not nil, is a setting at which the search begins, beside others.
	start []float64
	// unit says what the values measure.
	unit valueUnit
	// floor, where positive, has the search work on the logarithm of the value, from that
	// value on.
	floor float64
	// typical, where positive, says that the value was divided by the cost over a typical
	// one.
	typical float64
}

// leaves is a value that was found, in the user's units.
func (o *option) leaves(h *hyper, found float64) float64 {
	value := found + o.offset
	if o.floor > 0 {
		value = math.Exp(value)
	}
	value = o.unit.inUnits(h, value)
	if o.typical > 0 {
		value /= o.typical
	}
	return value
}

// forSearch puts the option as the search is to see it: as a logarithm where it has a
// floor, and over the cost of the step where costs are given (nil: they are not). A level over a cost is
// that above the model's prior mean, which the paper's form takes as zero (Tay et al.,
// NeurIPS 2023): no such quotient can be independent of the objective's zero, and
// a level below it, negative, prefers dear steps.
func (o option) forSearch(costs *costModel, d *domain) option {
	if o.floor == 0 && costs == nil {
		return o
	}
	r := reshaped{inner: o.objective, offset: o.offset, floor: o.floor}
	if costs != nil {
		o.typical = costs.average
		r.price = &price{costs, d, o.typical}
		if o.unit == level {
			o.unit = gain
		}
	}
	o.objective, o.offset = reshape(r), 0
	return o
}

// valueUnit says how an acquisition's value leaves the standardised objective.
type valueUnit uint8

const (
	// level is a value of the objective: a bound, a draw.
	level valueUnit = iota
	// gain is a difference of values: an improvement.
	gain
	// pure does not depend on the objective's unit: an information in nats, a
	// probability, a ratio.
	pure
)

// inUnits is a value as it leaves.
func (u valueUnit) inUnits(h *hyper, value float64) float64 {
	switch u {
	case level:
		return h.center + h.scale*value
	case gain:
		return h.scale * value
	}
	return value
}

// decision is what an acquisition sees of one step. Everything in it is read only, but
// for the work that its searches count.
type decision struct {
	step int
	seed uint64
	// sets are the control sets among which the rule will choose, domains those of all.
	sets    []int
	domains []*domain
	// views are the posteriors to look at: one, unless the rule on priors keeps several
	// apart.
	views []view
	// beta multiplies the standard deviation; one draw serves a whole step.
	beta float64
	// noiseBeta does so in the bound of the noise variance.
	noiseBeta float64
	// goal is where the maximum is sought that information is about.
	goal goal
	// criterion is the mean-variance objective.
	criterion *criterion
	costs     *costModel
	// keeper keeps the constraints; nil: there is none yet.
	keeper *keeper
	// incumbents are observed points with great posterior means, where searches start.
	incumbents [][]float64
	// played are the settings of valid steps with a control set, row after row.
	played func(set int) []float64
	// search maximises options beside each other. slack, in the options' own unit, is how
	// much below the best an option may be and still matter.
	search func(options []option, slack float64) ([]gpcore.Maximum, error)
	lists  *listSampler
	// units meters the work.
	units *meter
}

// rng is the decision's random stream of one purpose.
func (d *decision) rng(p purpose) *rand.Rand { return stream(d.seed, p, d.step) }

// substream is the decision's random stream number i of one purpose.
func (d *decision) substream(p purpose, i int) *rand.Rand {
	return stream(d.seed+mix(uint64(i)), p, d.step)
}

// inputs splits the coordinates of a control set.
func (d *decision) inputs(set int) gpcore.Inputs {
	return d.criterion.around.inputs(d.domains[set], d.step)
}

// expectations makes the objectives of the decision's control sets from the same terms.
func (d *decision) expectations(terms []gpcore.Term) ([]*gpcore.Expected, error) {
	in := make([]gpcore.Inputs, len(d.sets))
	for i, set := range d.sets {
		in[i] = d.inputs(set)
	}
	return gpcore.NewExpectations(terms, in)
}
