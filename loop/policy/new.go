package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/design"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/exclusion"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Defaults of fields that may be zero.
const (
	// defaultCapacity keeps the factor of one process at 8 MB.
	defaultCapacity = 1024
	// A fit at every step was no better than one at every fifth.
	defaultRefitEvery = 5
	// priorsCapacity keeps the factors of a dozen and a half processes at 40 MB.
	priorsCapacity = 512
	// One step is the shortest time that a background fit can have.
	defaultRefitLag = 1
	// One failure in twenty.
	defaultDelta = 0.05
	// One prior standard deviation.
	defaultNormBound = 1
)

// New makes the policy that the specification describes:
//
//	"rahbo"    RAHBO (Makarova et al., NeurIPS 2021): upper bound of the objective
//	           minus Risk times the lower bound of its noise variance, which is
//	           learnt from the shots of each step. Until two valid steps have a
//	           sample variance (two shots at least), the initial design goes on.
//	"gp-ucb"   the same without the risk term; where no step has a sample variance,
//	           with constant noise.
//	"ucb-cvs"  UCB-CVS (Tay et al., NeurIPS 2023) with constant noise.
//	"track"    ours: GP-UCB of a drifting objective; after a search it holds the
//	           optimum with small steps, and searches anew when the objective jumps.
//	"random"   independent uniform settings; with several control sets, each in turn.
//	"sobol"    the same with a scrambled Sobol sequence.
//
// The error names everything that is wrong with the specification. The policy keeps
// s: the caller must not change its slices afterwards.
func New(s Spec) (Policy, error) {
	r, known := KindOf(s.Kind)
	if known {
		s.complete(r)
	}
	s.completeDrift()
	if s.Model.Capacity == 0 && s.Model.Hyperparameters == model.HyperPriors {
		s.Model.Capacity = priorsCapacity
	}
	if s.Model.Capacity == 0 {
		s.Model.Capacity = defaultCapacity
	}
	if s.Model.RefitEvery == 0 {
		s.Model.RefitEvery, s.Model.RefitSeldom = defaultRefitEvery, true
	}
	if s.Model.RefitLag == 0 {
		s.Model.RefitLag = defaultRefitLag
	}
	if problems := validate(&s); len(problems) > 0 {
		return nil, fmt.Errorf("policy: %w", errors.Join(problems...))
	}
	e, err := assemble(s)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if s.learnsLogarithm() {
		return newWarped(e), nil
	}
	return e, nil
}

// complete fills what the specification leaves to its kind.
func (s *Spec) complete(r Kind) {
	if s.Acquisition == "" {
		s.Acquisition = r.Acquisition
	}
	if r.PriorRule != "" {
		s.Model.PriorRule = r.PriorRule
	}
	s.Confidence = cmp.Or(r.Confidence, s.Confidence, r.UsualConfidence)
	if s.Confidence == "" && s.Model.PriorRule == model.PriorsElimination {
		s.Confidence = confidence.Srinivas
	}
	if s.ConfidenceSetting == "" && s.Confidence == confidence.IRGP && len(s.Candidates) == 0 {
		s.ConfidenceSetting = r.Form
	}
	if r.Schedule != "" {
		s.Schedule = r.Schedule
	}
	if s.Schedule == "" && r.Name != kindUCBCVS && len(s.ControlSets) > 1 {
		s.Schedule = r.UsualSchedule
	}
	s.PerCost = s.PerCost || r.PerCost
	if s.Delta == 0 {
		s.Delta = defaultDelta
	}
	if s.ExploreSteps == 0 {
		s.ExploreSteps = acquisition.DefaultExploreSteps
	}
	if s.NormBound == 0 {
		s.NormBound = defaultNormBound
	}
	s.Drift.Detect = s.Drift.Detect || r.Track
}

// completeDrift names the timescale where the other words ask for one, and turns fixed
// hyperparameters with several timescales into a prior set.
func (s *Spec) completeDrift() {
	d, m := &s.Drift, &s.Model
	if !d.Tracks() && (d.Hold != 0 || d.Detect) {
		d.Timescale = []float64{drift.DefaultTimescale}
	}
	if len(d.Timescale) > 1 && m.Hyperparameters == model.HyperFixed {
		m.Hyperparameters = model.HyperPriors
		m.Priors = []model.Prior{{Lengthscale: m.Lengthscale, Outputscale: m.Outputscale, NoiseSD: m.NoiseSD, Mean: m.Mean}}
	}
}

// assemble puts the parts of a valid specification together.
func assemble(s Spec) (*engine, error) {
	p, _ := KindOf(s.Kind)
	p.applyTo(&s)
	e := &engine{spec: s, memory: &memory{}, designOnly: s.Acquisition == acquireNothing}
	for i := range s.Variables {
		e.axes = append(e.axes, space.NewAxis(&s.Variables[i]))
	}
	for i := range s.ControlSets {
		d := space.NewDomain(e.axes, s.ControlSets[i].Controlled, i, s.Candidates)
		e.domains = append(e.domains, d)
		e.excluded = append(e.excluded, exclusion.New(d.Size(), s.Model.Capacity))
	}
	e.measured = newMeasured(&e.spec, e.domains)
	e.target = newTargetDomain(&e.spec, e.domains, e.axes)
	random := space.NewRandomVariables(s.Variables, e.axes, s.Model.Capacity, s.Drift.Tracks(), s.Seed)
	e.track = drift.New(s.Drift, p.Track, e.domains, s.InitialSteps)
	if err := e.newModels(p, random); err != nil {
		return nil, err
	}
	e.costs = newCosts(&s, e.domains, random)
	named, _ := AcquisitionOf(s.Acquisition) // it was checked
	e.acquisition = named.make(&s)
	if e.fullOnly = -1; p.FullOnly {
		e.fullOnly = slices.IndexFunc(s.ControlSets, space.ControlSet.Full)
	}
	if p.Explore {
		e.acquisition = acquisition.ExploreNoise{Until: s.InitialSteps + s.ExploreSteps}
	}
	e.schedule = newSchedule(&s, e.costs.TypicalOf(e.domains))
	designed := s.Design
	if e.designOnly { // all steps are of one design
		designed = s.Kind
	}
	e.design = design.New(designed == designRandom, s.Seed, len(s.Variables))
	return e, nil
}

// rules says how the hyperparameters come about, but for what the variables' axes tell.
func (k *Kind) rules(s *Spec) *model.Rules {
	out := &model.Rules{Spec: s.Model, Seed: s.Seed, Dims: len(s.Variables), Beta: s.Beta, Timescales: s.Drift.Timescale,
		Learnt: k.Noise == LearntNoise, Singles: k.Risk && s.Risk > 0 && s.several(), Raw: s.VarianceModel == varianceRaw}
	if k.Noise == KnownNoise {
		out.Known = &model.NoiseFunction{Of: s.NoiseVariance}
	}
	return out
}

// newModels makes what learns: the model, what is judged by it, the constraints.
func (e *engine) newModels(p Kind, random *space.RandomVariables) (err error) {
	s := &e.spec
	how := p.rules(s)
	how.User = e.toUserUnits
	if how.Known != nil {
		how.Known.Axes = e.axes
	}
	if e.model, err = model.New(how); err != nil {
		return err
	}
	e.model.Memory, random.Memory = &e.memory.Memory, &e.memory.Memory
	random.SetDraws(s.RandomDraws)
	e.criterion = &risk.Criterion{Model: e.model, Random: random, Cache: &e.cache}
	if p.Risk {
		e.criterion.Risk = s.Risk
	}
	if e.constraints, err = constraint.New(s.Constraints, how, random, &e.cache); err != nil {
		return err
	}
	c := confidence.Spec{Initial: s.InitialSteps, Dims: len(s.Variables), Seed: s.Seed, Name: s.Confidence, Form: s.ConfidenceSetting,
		Beta: s.Beta, Delta: s.Delta, Norm: s.NormBound, Finite: s.settings(), Priors: e.model.Competing()}
	e.confidence = confidence.New(c, e.model)
	if s.Model.PriorRule == model.PriorsElimination && e.model.Deciding() {
		e.model.Eliminate(c.Count, e.confidence.Beta, s.Delta)
	}
	return nil
}

// newCosts makes what says before a step what it will cost.
func newCosts(s *Spec, domains []*space.Domain, random *space.RandomVariables) *cost.Model {
	c := &cost.Model{Setting: s.SettingCost, Axes: domains[0].Axes, Last: random.Last, Ledger: &cost.Ledger{Budget: s.Budget}}
	if slices.ContainsFunc(s.MoveCost, func(v float64) bool { return v > 0 }) {
		c.Move = s.MoveCost
	}
	for i := range s.ControlSets {
		c.Sets = append(c.Sets, s.ControlSets[i].Cost)
	}
	if s.CostsRead {
		c.Learn()
	}
	c.TypicalCost = c.Typical(domains)
	return c
}

// newTargetDomain is the domain of all variables that are no fidelities: that of the full
// control set, else one like it, with the candidates where they give every variable's value.
func newTargetDomain(s *Spec, domains []*space.Domain, axes []space.Axis) *space.Domain {
	sought := slices.Repeat([]bool{true}, len(axes))
	for i, v := range s.Fidelity {
		sought[i] = math.IsNaN(v)
	}
	if i := slices.IndexFunc(s.ControlSets, space.ControlSet.Full); i >= 0 && s.Fidelity == nil {
		return domains[i]
	}
	unknown := func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) }
	candidates := s.Candidates
	if slices.ContainsFunc(candidates, unknown) {
		candidates = nil
	}
	return space.NewDomain(axes, sought, -1, candidates)
}

// newSchedule makes the schedule of control sets, of which typical steps have these prices.
func newSchedule(s *Spec, prices []float64) schedule.Rule {
	learnt := slices.ContainsFunc(s.Variables, func(v space.Variable) bool { return v.Random.Kind == space.Learnt })
	return schedule.New(schedule.Spec{Name: s.Schedule, Epsilon: s.Epsilon, Sets: s.ControlSets,
		AllCompete: learnt || s.PerCost || len(s.Constraints) > 0, Limits: schedule.Limits{Budget: s.Budget, Steps: s.Steps}}, prices)
}
