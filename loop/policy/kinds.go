package policy

import (
	"slices"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/model"
)

// recipe is the combination of parts that a kind stands for. Spec's own fields, where
// they are set, replace its words.
type recipe struct {
	kind        string
	acquisition string
	confidence  string // "": the specification must say
	form        string // of confidence "irgp" where settings are not listed; "": continuous
	schedule    string // of control sets; "": the greatest value, or the specification's
	priorRule   string // "" unless the kind is about priors
	noise       noiseSource
	risk        bool // the variance of the objective counts, with Spec.Risk
	subsets     bool // several control sets; some variables may be random
	fullOnly    bool // the full control set alone, where there is one
	perCost     bool
	explore     bool // RAHBO-US: the noise is explored before the objective
	track       bool // the objective drifts: hold the optimum, watch for jumps
}

// noiseSource says where the noise variance of one shot comes from.
type noiseSource uint8

const (
	constantNoise noiseSource = iota // one number for all settings
	learntNoise                      // from the sample variances of the steps
	knownNoise                       // Spec.NoiseVariance
)

// recipes lists the named policies: by paper, their own first.
func recipes() []recipe {
	const ucb, ts, ei = acquireUCB, acquireTS, acquireEI
	return []recipe{
		// Makarova et al., NeurIPS 2021.
		{kind: kindRAHBO, acquisition: ucb, form: confidence.SettingWide, noise: learntNoise, risk: true},
		{kind: "rahbo-known-variance", acquisition: ucb, form: confidence.SettingWide, noise: knownNoise, risk: true},
		{kind: "rahbo-us", acquisition: ucb, form: confidence.SettingWide, noise: learntNoise, risk: true, explore: true},
		{kind: "gp-ucb-heteroscedastic", acquisition: ucb, form: confidence.SettingWide, noise: learntNoise},
		// Tay et al., NeurIPS 2023.
		{kind: kindUCBCVS, acquisition: ucb, subsets: true},
		{kind: "ucb-cvs-etc-50", acquisition: ucb, schedule: scheduleETC50, subsets: true},
		{kind: "ucb-cvs-etc-100", acquisition: ucb, schedule: scheduleETC100, subsets: true},
		{kind: "ucb-cvs-etc-ada", acquisition: ucb, schedule: scheduleETCAda, subsets: true},
		{kind: "ucb-psq", acquisition: ucb, subsets: true, fullOnly: true},
		{kind: "ts-psq", acquisition: ts, subsets: true, fullOnly: true},
		{kind: "ei-psq", acquisition: ei, subsets: true, fullOnly: true},
		{kind: "ucb-psq-per-cost", acquisition: ucb, subsets: true, perCost: true},
		{kind: "ts-psq-per-cost", acquisition: ts, subsets: true, perCost: true},
		{kind: "ei-psq-per-cost", acquisition: ei, subsets: true, perCost: true},
		// Takeno et al., arXiv 2409.00979.
		{kind: kindGPUCB, acquisition: ucb},
		{kind: "irgp-ucb", acquisition: ucb, confidence: confidence.IRGP},
		{kind: "rgp-ucb", acquisition: ucb, confidence: "rgp"},
		{kind: "ts", acquisition: ts},
		{kind: "ei", acquisition: ei},
		{kind: "pims", acquisition: acquirePIMS},
		{kind: "mes", acquisition: acquireMES},
		{kind: "jes", acquisition: acquireJES},
		// Paria et al.
		{kind: "costids", acquisition: acquireIDS, perCost: true, subsets: true},
		{kind: "ei-per-cost", acquisition: ei, perCost: true},
		{kind: "multi-fidelity-mes", acquisition: acquireMFMES, perCost: true, subsets: true},
		// Sandberg and Chehreghani, arXiv 2502.01226.
		{kind: "hp-gp-ts", acquisition: ts, priorRule: model.PriorsSampled},
		{kind: "map-gp-ts", acquisition: ts, priorRule: model.PriorsGreedy},
		{kind: "pe-gp-ts", acquisition: ts, priorRule: model.PriorsElimination},
		{kind: "pe-gp-ucb", acquisition: ucb, priorRule: model.PriorsElimination},
		{kind: "gp-ts", acquisition: ts},
		// Ours.
		{kind: kindTrack, acquisition: ucb, track: true, subsets: true},
		// What all are compared with.
		{kind: kindRandom, acquisition: acquireNothing, subsets: true},
		{kind: kindSobol, acquisition: acquireNothing, subsets: true},
	}
}

// Acquisitions.
const (
	acquireUCB     = "ucb"
	acquireTS      = "ts"
	acquireEI      = "ei"
	acquirePIMS    = "pims"
	acquireMES     = "mes"
	acquireJES     = "jes"
	acquireIDS     = "ids"
	acquireMFMES   = "mf-mes"
	acquireNothing = "none" // settings come from a design
)

// recipeOf finds a kind.
func recipeOf(kind string) (recipe, bool) {
	all := recipes()
	i := slices.IndexFunc(all, func(r recipe) bool { return r.kind == kind })
	if i < 0 {
		return recipe{}, false
	}
	return all[i], true
}

// adapt fits a recipe to the problem. The baselines propose blindly; what they recommend
// is judged like RAHBO's where each step gives a sample variance, like UCB-CVS's where
// it does not. Where control sets are chosen with a risk term, letting variables vary
// is a risk (see spreadRisk), and so is the noise where steps have sample variances.
// A noise that is known is known to every kind.
func (r *recipe) adapt(s *Spec) {
	if s.Acquisition == acquireNothing && !s.several() {
		r.risk, r.noise = true, learntNoise
	}
	if s.Risk > 0 && r.subsets && s.several() && (s.Acquisition == acquireUCB || s.Acquisition == acquireTS) {
		r.risk, r.noise = true, learntNoise
	}
	if s.NoiseVariance != nil {
		r.noise = knownNoise
	}
}

// several says that there is a choice of control sets, or that one leaves variables
// random.
func (s *Spec) several() bool { return len(s.ControlSets) != 1 || !s.ControlSets[0].Full() }

// Acquisition is one way of choosing a setting.
type Acquisition struct {
	name string
	make func(s *Spec) acquisition.Function
}

// acquisitions lists them.
func acquisitions() []Acquisition {
	of := func(a acquisition.Function) func(*Spec) acquisition.Function {
		return func(*Spec) acquisition.Function { return a }
	}
	return []Acquisition{
		{acquireUCB, of(acquisition.UpperBound{})},
		{acquireTS, of(acquisition.Thompson{})},
		{acquireEI, of(acquisition.Improvement{})},
		{acquirePIMS, of(acquisition.ImprovementOverSample{})},
		{acquireMES, of(acquisition.MaxValueEntropy{})},
		{acquireJES, of(acquisition.JointEntropy{})},
		{acquireIDS, func(s *Spec) acquisition.Function { return acquisition.InformationDirected{Rho: s.Rho} }},
		{acquireMFMES, of(acquisition.MultiFidelity{})},
		{acquireNothing, of(acquisition.UpperBound{})},
	}
}

// acquisitionOf finds an acquisition of which there is one.
func acquisitionOf(name string) Acquisition {
	all := acquisitions()
	return all[slices.IndexFunc(all, func(a Acquisition) bool { return a.name == name })]
}

// Kinds lists the policies that New makes.
func Kinds() []string {
	var out []string
	for _, r := range recipes() {
		out = append(out, r.kind)
	}
	return out
}

// Acquisitions lists the words of Spec.Acquisition.
func Acquisitions() []string {
	var out []string
	for _, a := range acquisitions() {
		out = append(out, a.name)
	}
	return out
}
