package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Predictor is a policy whose model can be looked at. Looking changes no decision: the
// sequence of proposals is the same with and without it.
type Predictor interface {
	// Predict describes the objective (to be maximised) at settings of a control set, one Estimate for each: X has one
	// value per variable, in its unit, and those that the control set does not hold are not read. Values outside a
	// variable's range are taken at its end. ErrNoData: there is no valid observation yet. Cost: a few expectations for
	// each setting.
	Predict(controlSet int, x [][]float64) ([]Estimate, error)
	// BestOf recommends among the settings that one control set has played; ok is false where no step with it gave valid
	// data.
	BestOf(controlSet int) (best Recommendation, ok bool, err error)
	// Acquisition is what the next step maximises, at settings of a control set as in Predict, in the objective's unit
	// where it has one; without Spec.Constraints' and other penalties. ErrDesign where the next step is of a design,
	// ErrNotEligible where the control set is none that the next step chooses among.
	Acquisition(controlSet int, x [][]float64) ([]float64, error)
	// Lengthscales gives for each variable the natural logarithm of its lengthscale as a share of its range, and that
	// logarithm's standard deviation, NaN where it is not known. Both are nil where the model has no lengthscale for each.
	Lengthscales() (log, sd []float64, err error)
}

// Errors of [Predictor.Acquisition].
var (
	ErrDesign      = errors.New("the next setting is one of a design: nothing is maximised to choose it")
	ErrNotEligible = errors.New("the next step does not choose among settings of this control set")
)

// Predict implements [Predictor].
func (e *engine) Predict(controlSet int, x [][]float64) ([]Estimate, error) {
	d, err := e.readyDomain(controlSet)
	if err != nil {
		return nil, err
	}
	rows, err := unitRows(e.axes, d, x)
	if err != nil || len(x) == 0 {
		return nil, err
	}
	if d.Size() == 0 { // nothing is controlled: one estimate stands for all
		one, err := e.estimates(d, nil)
		if err != nil {
			return nil, err
		}
		out := make([]Estimate, len(x))
		for k := range out {
			out[k] = one[0]
		}
		return out, nil
	}
	out, err := e.estimates(d, rows)
	return slices.Clone(out), err // of this call's memory
}

// unitRows are settings in the unit coordinates of a domain, row after row.
func unitRows(axes []space.Axis, d *space.Domain, x [][]float64) ([]float64, error) {
	rows := make([]float64, 0, len(x)*d.Size())
	for k := range x {
		if len(x[k]) != len(axes) {
			return nil, fmt.Errorf("setting %d has %d values for %d variables", k, len(x[k]), len(axes))
		}
		for _, i := range d.Coords {
			u := axes[i].Unit(x[k][i])
			if math.IsNaN(u) {
				return nil, fmt.Errorf("setting %d has no value for variable %d, which control set %d holds", k, i, d.Set)
			}
			rows = append(rows, min(max(u, 0), 1))
		}
	}
	return rows, nil
}

// Acquisition implements [Predictor]. It works on a copy that keeps nothing for later decisions.
func (e *engine) Acquisition(controlSet int, x [][]float64) ([]float64, error) {
	dom, err := e.readyDomain(controlSet)
	if err != nil {
		return nil, err
	}
	step := max(e.lastProposed, e.lastObserved) + 1
	if step <= e.spec.InitialSteps || e.designOnly || !e.ready() || e.track.Designing(step) {
		return nil, ErrDesign
	}
	rows, err := unitRows(e.axes, dom, x)
	if err != nil || len(x) == 0 {
		return nil, err
	}
	alone := *e
	alone.kept, alone.lists, alone.memory = acquisition.Kept{}, acquisition.ListSampler{}, &memory{}
	defer e.cache.Renew() // no decision follows that would take back what this one has taken
	d, err := alone.decision(context.Background(), step, alone.affordableSets())
	if err != nil {
		return nil, err
	}
	if !slices.Contains(d.Sets, controlSet) {
		return nil, ErrNotEligible
	}
	reduceExploration(e.track, d)
	options, err := alone.options(d)
	if err != nil {
		return nil, err
	}
	out, value := slices.Repeat([]float64{math.Inf(-1)}, len(x)), make([]float64, len(x))
	for i := range options {
		if o := &options[i]; o.Set == controlSet {
			if p, ok := o.Objective.(search.Preparer); ok {
				p.Prepare()
			}
			o.Objective.Values(value, rows)
			for k := range out { // the best of each counts, as in a decision
				out[k] = max(out[k], o.InUserUnits(e.model.Active, value[k]))
			}
		}
	}
	return out, nil
}

// Lengthscales implements [Predictor].
func (e *engine) Lengthscales() (log, sd []float64, err error) {
	if err := e.refresh(); err != nil {
		return nil, nil, err
	}
	return e.model.Lengthscales()
}

// BestOf implements [Predictor].
func (e *engine) BestOf(controlSet int) (Recommendation, bool, error) {
	if _, err := e.readyDomain(controlSet); err != nil {
		return Recommendation{}, false, err
	}
	settings := make([][]float64, len(e.domains))
	settings[controlSet] = e.playedPoints(controlSet, false)
	return e.bestOf(settings)
}

// readyDomain is the domain of a control set, with the model ready to be asked.
func (e *engine) readyDomain(controlSet int) (*space.Domain, error) {
	if controlSet < 0 || controlSet >= len(e.domains) {
		return nil, fmt.Errorf("there is no control set %d, they are 0 to %d", controlSet, len(e.domains)-1)
	}
	if len(e.model.Data.Rows) == 0 {
		return nil, ErrNoData
	}
	e.memory.begin()
	return e.domains[controlSet], e.refresh()
}

// Sizer is a policy that reports the size of its model.
type Sizer interface {
	Size() Size
}

// Size is how much a model holds, and how often it was computed from scratch.
type Size struct {
	// Observations of at most Capacity.
	Observations, Capacity int
	// Refactorisations since the policy was made: a fit came into force, the scale of the
	// data was taken anew, or an update had failed.
	Refactorisations int
}

// Factors are those of a policy's models, one for each process.
type Factors struct {
	// Objective, Noise and Constraints are how many the models of each have.
	Objective, Noise, Constraints int
	// Bytes is the memory that all of them take when they are full.
	Bytes int
}

// FactorsOf counts the factors of a specification that [New] takes, with its capacity.
func FactorsOf(s Spec) Factors {
	k, _ := KindOf(s.Kind)
	s.completeDrift()
	k.applyTo(&s)
	rules := k.rules(&s)
	f := Factors{Objective: rules.Processes(), Noise: rules.NoiseProcesses()}
	for j := range s.Constraints {
		f.Constraints += rules.ForConstraint(j).Processes()
	}
	f.Bytes = (f.Objective + f.Noise + f.Constraints) * s.Model.Capacity * s.Model.Capacity * 8
	return f
}

// PriorReporter is a policy whose priors may compete.
type PriorReporter interface {
	// Priors describes the state of the priors; nil where none compete.
	Priors() *model.PriorReport
}

// Priors implements [PriorReporter].
func (e *engine) Priors() *model.PriorReport {
	r := e.model.Report()
	if r != nil {
		r.Fit.Through = e.lastObserved
	}
	return r
}

// Size implements [Sizer].
func (e *engine) Size() Size {
	return Size{Observations: len(e.model.Data.Rows), Capacity: e.model.Data.Capacity, Refactorisations: e.model.Loads}
}
