package policy

import (
	"errors"
	"fmt"
	"slices"
)

// Names that a specification uses.
const (
	kindRAHBO  = "rahbo"
	kindGPUCB  = "gp-ucb"
	kindUCBCVS = "ucb-cvs"
	kindRandom = "random"
	kindSobol  = "sobol"
	kindTrack  = "track"

	varianceLog = "log"
	varianceRaw = "raw"

	scheduleETC50   = "etc-50"
	scheduleETC100  = "etc-100"
	scheduleETCAda  = "etc-ada"
	scheduleEpsilon = "epsilon"
	scheduleNone    = "none"

	designSobol  = "sobol"
	designRandom = "random"

	hyperFit    = "fit"
	hyperPriors = "priors"
	hyperFixed  = "fixed"
)

// Defaults of fields that may be zero.
const (
	// defaultCapacity keeps the factor of one process at 8 MB.
	defaultCapacity = 1024
	// A fit at every step was no better than one at every fifth.
	defaultRefitEvery = 5
	// priorsCapacity keeps the factors of a dozen and a half processes at 70 MB.
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
	r, known := recipeOf(s.Kind)
	if known {
		s.complete(r)
	}
	s.completeDrift()
	if s.Model.Capacity == 0 && s.Model.Hyperparameters == hyperPriors {
		s.Model.Capacity = priorsCapacity
	}
	if s.Model.Capacity == 0 {
		s.Model.Capacity = defaultCapacity
	}
	if s.Model.RefitEvery == 0 {
		s.Model.RefitEvery = defaultRefitEvery
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
	return e, nil
}

// complete fills what the specification leaves to its kind.
func (s *Spec) complete(r recipe) {
	if s.Acquisition == "" {
		s.Acquisition = r.acquisition
	}
	if s.Confidence == "" || r.confidence != "" {
		s.Confidence = r.confidence
	}
	if s.ConfidenceSetting == "" && s.Confidence == confidenceIRGP && len(s.Candidates) == 0 {
		s.ConfidenceSetting = r.form
	}
	if r.schedule != "" {
		s.Schedule = r.schedule
	}
	if r.priorRule != "" {
		s.Model.PriorRule = r.priorRule
	}
	s.PerCost = s.PerCost || r.perCost
	if s.Delta == 0 {
		s.Delta = defaultDelta
	}
	if s.ExploreSteps == 0 {
		s.ExploreSteps = defaultExploreSteps
	}
	if s.NormBound == 0 {
		s.NormBound = defaultNormBound
	}
	s.Drift.Detect = s.Drift.Detect || r.track
}

// assemble puts the parts of a valid specification together.
func assemble(s Spec) (*engine, error) {
	p, _ := recipeOf(s.Kind)
	p.adapt(&s)
	e := &engine{spec: s, cash: ledger{budget: s.Budget}, designOnly: s.Acquisition == acquireNothing,
		refits: refits{every: s.Model.RefitEvery, lag: s.Model.RefitLag}}
	for i := range s.Variables {
		e.axes = append(e.axes, newAxis(&s.Variables[i]))
	}
	for i := range s.ControlSets {
		d := newDomain(e.axes, s.ControlSets[i].Controlled, i, s.Candidates)
		e.domains = append(e.domains, d)
		e.votes = append(e.votes, newVote(d.size(), s.Model.Capacity))
	}
	e.target = newTarget(&e.spec, e.domains, e.axes)
	e.around = newSurroundings(&e.spec, e.axes)
	dims := len(s.Variables)
	e.track = newTracker(&s, p.track, e.domains)
	var known *noiseFunction
	if p.noise == knownNoise {
		known = &noiseFunction{e.axes, s.NoiseVariance}
	}
	var err error
	how := &modelling{spec: s.Model, seed: s.Seed, dims: dims, beta: s.Beta, user: e.user, timescales: s.Drift.Timescale,
		learnt: p.noise == learntNoise, known: known, raw: s.VarianceModel == varianceRaw}
	if e.model, err = newModel(how); err != nil {
		return nil, err
	}
	if e.constraints, err = newConstraints(&s, how); err != nil {
		return nil, err
	}
	if e.model.priors != nil && s.Model.PriorRule == priorsElimination {
		e.model.priors.trials = newElimination(&s, e.model)
	}
	if p.risk {
		e.risk = s.Risk
	}
	e.confidence = newConfidence(&e.spec, e.model)
	e.acquire = acquirerOf(s.Acquisition)
	e.costs = &costModel{setting: s.SettingCost, axes: e.axes, last: e.around.last, cash: &e.cash}
	if slices.ContainsFunc(s.MoveCost, func(v float64) bool { return v > 0 }) {
		e.costs.move = s.MoveCost
	}
	for i := range s.ControlSets {
		e.costs.sets = append(e.costs.sets, s.ControlSets[i].Cost)
	}
	e.typicalCost = e.costs.typical(e.domains)
	if e.fullOnly = -1; p.fullOnly {
		e.fullOnly = slices.IndexFunc(s.ControlSets, ControlSet.full)
	}
	if p.explore {
		e.acquire = exploreNoise{until: s.InitialSteps + s.ExploreSteps}
	}
	e.rule = newRule(&s)
	designed := s.Design
	if e.designOnly { // all steps are of one design
		designed = s.Kind
	}
	e.design = newDesign(designed == designRandom, s.Seed, dims)
	return e, nil
}

// newRule makes the schedule of control sets.
func newRule(s *Spec) setRule {
	switch s.Schedule {
	case scheduleETC50:
		return newExploreThenCommit(s.ControlSets, etc50)
	case scheduleETC100:
		return newExploreThenCommit(s.ControlSets, etc100)
	case scheduleETCAda:
		return newExploreThenCommit(s.ControlSets, 0)
	case scheduleEpsilon:
		r := &epsilonSchedule{epsilon: s.Epsilon}
		for _, c := range s.ControlSets {
			r.costs = append(r.costs, c.Cost)
		}
		return r
	}
	return greatest{}
}
