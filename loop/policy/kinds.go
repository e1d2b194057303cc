package policy

import (
	"github.com/labtuner/tuner/loop/policy/schedule"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/model"
)

// Kind is a named policy: the combination of parts that a paper describes. Spec's own
// fields, where they are set, replace its words.
type Kind struct {
	// Name is the word of a configuration file. Title is what texts call it; empty: the name
	// in capitals. Paper is where it comes from; empty: nowhere.
	Name, Title, Paper string
	// Acquisition is one of Acquisitions.
	Acquisition string
	// Confidence is one of Confidences; empty: the specification's, for which UsualConfidence is
	// the paper's own.
	Confidence, UsualConfidence string
	// Form of confidence "irgp" where settings are not listed; empty: continuous.
	Form string
	// Schedule of control sets; empty: the specification's, for which UsualSchedule is a
	// good choice, or the greatest value.
	Schedule, UsualSchedule string
	// PriorRule is empty unless the kind is about priors.
	PriorRule string
	// Noise is where the variance of one shot comes from.
	Noise NoiseSource
	// Risk: the variance of the objective counts, with Spec.Risk.
	Risk bool
	// Subsets: there may be several control sets, and variables that are random.
	Subsets bool
	// FullOnly: the full control set alone, where there is one.
	FullOnly bool
	// PerCost: values are divided by the cost of the step.
	PerCost bool
	// Explore: the noise is explored before the objective (RAHBO-US).
	Explore bool
	// Track: the objective drifts; the optimum is held, and jumps are watched for.
	Track bool
}

// NoiseSource says where the noise variance of one shot comes from.
type NoiseSource uint8

// The sources of noise.
const (
	ConstantNoise NoiseSource = iota // one number for all settings
	LearntNoise                      // from the sample variances of the steps
	KnownNoise                       // Spec.NoiseVariance
)

// Table lists the named policies: by paper, their own first. It is what there is to know of
// them: configuration files, texts and documents go by it.
func Table() []Kind {
	const (
		ucb, ts, ei = acquireUCB, acquireTS, acquireEI

		makarova = "Makarova et al., NeurIPS 2021"
		tay      = "Tay et al., NeurIPS 2023"
		takeno   = "Takeno et al., arXiv 2409.00979"
		paria    = "Paria et al., ICML 2020 workshop"
		sandberg = "Sandberg and Chehreghani, arXiv 2502.01226"
		srinivas = "Srinivas et al., IEEE Trans. Inf. Theory 58 (2012)"
	)
	return []Kind{
		// With control sets RAHBO is UCB-CVS with a risk term, by ETC-Ada, with which it was measured.
		{Name: kindRAHBO, Paper: makarova, Acquisition: ucb, Form: confidence.SettingWide, UsualSchedule: schedule.ETCAda, Noise: LearntNoise, Risk: true, Subsets: true},
		{Name: "rahbo-known-variance", Title: "RAHBO with a known variance", Paper: makarova, Acquisition: ucb, Form: confidence.SettingWide, UsualSchedule: schedule.ETCAda, Noise: KnownNoise, Risk: true, Subsets: true},
		{Name: "rahbo-us", Title: "RAHBO-US", Paper: makarova, Acquisition: ucb, Form: confidence.SettingWide, Noise: LearntNoise, Risk: true, Explore: true},
		{Name: "gp-ucb-heteroscedastic", Title: "GP-UCB with noise that depends on the setting", Paper: makarova, Acquisition: ucb, Form: confidence.SettingWide, Noise: LearntNoise},
		// Its schedule gives cheap control sets as many turns as their cost and the budget allow, so that no
		// count has to be tuned.
		{Name: kindUCBCVS, Paper: tay, Acquisition: ucb, UsualSchedule: schedule.Auto, Subsets: true},
		{Name: "ucb-cvs-etc-50", Paper: tay, Acquisition: ucb, Schedule: schedule.ETC50, Subsets: true},
		{Name: "ucb-cvs-etc-100", Paper: tay, Acquisition: ucb, Schedule: schedule.ETC100, Subsets: true},
		{Name: "ucb-cvs-etc-ada", Title: "UCB-CVS ETC-Ada", Paper: tay, Acquisition: ucb, Schedule: schedule.ETCAda, Subsets: true},
		{Name: "ucb-psq", Paper: tay, Acquisition: ucb, Subsets: true, FullOnly: true},
		{Name: "ts-psq", Paper: tay, Acquisition: ts, Subsets: true, FullOnly: true},
		{Name: "ei-psq", Paper: tay, Acquisition: ei, Subsets: true, FullOnly: true},
		{Name: "ucb-psq-per-cost", Paper: tay, Acquisition: ucb, Subsets: true, PerCost: true},
		{Name: "ts-psq-per-cost", Paper: tay, Acquisition: ts, Subsets: true, PerCost: true},
		{Name: "ei-psq-per-cost", Paper: tay, Acquisition: ei, Subsets: true, PerCost: true},
		{Name: kindGPUCB, Paper: srinivas, Acquisition: ucb, UsualConfidence: confidence.Srinivas},
		{Name: "irgp-ucb", Paper: takeno, Acquisition: ucb, Confidence: confidence.IRGP},
		{Name: "rgp-ucb", Paper: "Berk et al., IJCAI 2020", Acquisition: ucb, Confidence: "rgp"},
		{Name: "ts", Paper: takeno, Acquisition: ts},
		{Name: "ei", Paper: "Jones et al., J. Global Optim. 13 (1998)", Acquisition: ei},
		{Name: "pims", Paper: "Takeno et al., ICML 2024", Acquisition: acquirePIMS},
		{Name: "mes", Paper: "Wang and Jegelka, ICML 2017", Acquisition: acquireMES},
		{Name: "jes", Paper: takeno, Acquisition: acquireJES},
		{Name: "costids", Title: "CostIDS", Paper: paria, Acquisition: acquireIDS, UsualConfidence: confidence.Heuristic, PerCost: true, Subsets: true},
		{Name: "ei-per-cost", Paper: paria, Acquisition: ei, PerCost: true},
		{Name: "pbgi", Title: "PBGI, the Gittins index of Pandora's box", Paper: "Xie et al., NeurIPS 2024", Acquisition: acquireGittins, Subsets: true},
		{Name: "multi-fidelity-mes", Title: "multi-fidelity MES", Paper: "Takeno et al., ICML 2020", Acquisition: acquireMFMES, PerCost: true, Subsets: true},
		{Name: "hp-gp-ts", Paper: sandberg, Acquisition: ts, PriorRule: model.PriorsSampled},
		{Name: "map-gp-ts", Paper: sandberg, Acquisition: ts, PriorRule: model.PriorsGreedy},
		{Name: "pe-gp-ts", Paper: sandberg, Acquisition: ts, UsualConfidence: confidence.Srinivas, PriorRule: model.PriorsElimination},
		{Name: "pe-gp-ucb", Paper: sandberg, Acquisition: ucb, UsualConfidence: confidence.Srinivas, PriorRule: model.PriorsElimination},
		{Name: "gp-ts", Paper: sandberg, Acquisition: ts},
		// Ours.
		{Name: kindTrack, Title: "tracking, which searches, then holds the optimum with small steps, and watches for jumps", Acquisition: ucb, Track: true, Subsets: true},
		// What all are compared with.
		{Name: kindRandom, Title: "random settings, the baseline", Acquisition: acquireNothing, Subsets: true},
		{Name: kindSobol, Title: "a Sobol sequence, the baseline", Acquisition: acquireNothing, Subsets: true},
	}
}

// fewVariables is up to how many upper confidence bounds are the usual kind.
const fewVariables = 10

// UsualKind is the kind to begin with for so many variables where nothing else is asked: a randomised upper confidence bound,
// among more than ten expected improvement. There the bounds are greatest in the corners of the ranges while little is known,
// and are played; of twenty variables and more improvement often finds the few that act sooner, and takes longer where all act
// (loop/benchmarks/README.md, "Many knobs").
func UsualKind(variables int) string {
	if variables > fewVariables {
		return "ei"
	}
	return "irgp-ucb"
}

// OfferedKind is the usual kind of so many variables where a specification has that of few and nothing else is asked of it: one
// control set of all variables, nothing listed, neither risk, costs, drift, constraints nor a fidelity, and acquisition,
// confidence and priors left to the kind. Variables of one level are none. "" elsewhere.
func OfferedKind(s Spec) string {
	varied := 0
	for i := range s.Variables {
		if len(s.Variables[i].Levels) != 1 {
			varied++
		}
	}
	few, usual := UsualKind(1), UsualKind(varied)
	k, _ := KindOf(few)
	plain := s.Acquisition == "" && (s.Confidence == "" || s.Confidence == k.Confidence) && s.ConfidenceSetting == "" && len(s.Candidates) == 0 && s.flat()
	if s.Kind != few || usual == few || !plain || !s.undivided() || s.Risk > 0 || !s.Model.Averages() {
		return ""
	}
	return usual
}

// Acquisitions.
const (
	acquireUCB     = "ucb"
	acquireTS      = "ts"
	acquireEI      = "ei"
	acquireNEI     = "nei"
	acquirePIMS    = "pims"
	acquireMES     = "mes"
	acquireJES     = "jes"
	acquireIDS     = "ids"
	acquireMFMES   = "mf-mes"
	acquireGittins = "gittins"
	acquireNothing = "none" // settings come from a design
)

// KindOf finds a kind; ok is false where there is none of that name.
func KindOf(name string) (k Kind, ok bool) {
	all := Table()
	if i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return all[i], true
	}
	return Kind{Name: name}, false
}

// DisplayName is what texts call the kind.
func (k *Kind) DisplayName() string {
	if k.Title != "" {
		return k.Title
	}
	name, perCost := strings.CutSuffix(k.Name, "-per-cost")
	name = strings.Replace(strings.ToUpper(name), "CVS-ETC-", "CVS ETC-", 1)
	if perCost {
		name += " per cost"
	}
	return name
}

// applyTo fits a kind to the problem. The baselines propose blindly; what they recommend
// is judged like RAHBO's where each step gives a sample variance, like UCB-CVS's where
// it does not. Where control sets are chosen with a risk term, letting variables vary
// is a risk (see risk.SpreadRisk), and so is the noise, which single shots teach as well.
// A noise that is known is known to every kind, and what it takes off is for settings of all
// variables as well.
func (k *Kind) applyTo(s *Spec) {
	if s.Acquisition == acquireNothing && !s.several() {
		k.Risk, k.Noise = true, LearntNoise
	}
	if s.Risk > 0 && k.Subsets && s.several() && s.riskyAcquisition() {
		k.Risk, k.Noise = true, LearntNoise
	}
	if s.NoiseVariance != nil {
		k.Noise, k.Risk = KnownNoise, k.Risk || s.Risk > 0 && s.knownWorth()
	}
}

// several reports whether there is a choice of control sets, or that one leaves variables
// random.
func (s *Spec) several() bool { return len(s.ControlSets) != 1 || !s.ControlSets[0].Full() }

// knownWorth reports whether the mean-variance objective is the objective less a known function: the
// noise is known, and nothing is left random.
func (s *Spec) knownWorth() bool {
	return s.NoiseVariance != nil && !s.several() && s.Acquisition != acquireMFMES
}

// riskyAcquisition reports whether the acquisition can weigh the variance of the objective.
func (s *Spec) riskyAcquisition() bool {
	a, ok := AcquisitionOf(s.Acquisition)
	return ok && a.NoRisk == ""
}

// Acquisition is one way of choosing a setting.
type Acquisition struct {
	// Name is its word in a configuration file, Description what it maximises, with %s for the objective.
	Name, Description string
	// Bounded: it is made of confidence bounds, so it has a confidence parameter.
	Bounded bool
	// NoRisk says why it cannot weigh the variance of the objective; empty: it can.
	NoRisk string

	make func(s *Spec) acquisition.Function
}

// AcquisitionTable lists the acquisitions; "none" takes settings from a design.
func AcquisitionTable() []Acquisition { return slices.Clone(acquisitions) }

// acquisitions are read only: a decision looks its own up.
var acquisitions = acquisitionTable()

func acquisitionTable() []Acquisition {
	of := func(a acquisition.Function) func(*Spec) acquisition.Function {
		return func(*Spec) acquisition.Function { return a }
	}
	const (
		normal    = "it takes what is compared for normal, and a mean less a variance that is learnt is not"
		informing = "it asks for information about the greatest value of the objective, and says nothing of the variance"
		directed  = "its ratio has the objective's standard deviation, which is no bound of the mean-variance objective"
	)
	return []Acquisition{
		{Name: acquireUCB, Description: "upper confidence bound of %s", Bounded: true, make: of(acquisition.UpperBound{})},
		{Name: acquireTS, Description: "a posterior sample of %s", make: of(acquisition.Thompson{})},
		{Name: acquireEI, Description: "expected improvement of %s", NoRisk: normal, make: of(acquisition.Improvement{})},
		{Name: acquireNEI, Description: "expected improvement on the best observed by %s, averaged over what is left alone", NoRisk: normal, make: of(acquisition.ImprovementOfExpectation{})},
		{Name: acquirePIMS, Description: "probability of improvement of %s over a sampled maximum", NoRisk: normal, make: of(acquisition.ImprovementOverSample{})},
		{Name: acquireMES, Description: "information about the greatest value of %s", NoRisk: informing, make: of(acquisition.MaxValueEntropy{})},
		{Name: acquireJES, Description: "information about the greatest value of %s and where it is", NoRisk: informing, make: of(acquisition.JointEntropy{})},
		{Name: acquireIDS, Description: "least squared regret of %s per information", NoRisk: directed, Bounded: true,
			make: func(s *Spec) acquisition.Function { return acquisition.InformationDirected{Rho: s.Rho} }},
		{Name: acquireMFMES, Description: "information about the greatest value of %s at the target fidelity", NoRisk: informing, make: of(acquisition.MultiFidelity{})},
		{Name: acquireGittins, Description: "Gittins index of %s, as of a box that is opened for the step's cost", NoRisk: normal, make: of(acquisition.GittinsIndex{})},
		{Name: acquireNothing, make: of(acquisition.UpperBound{})},
	}
}

// AcquisitionOf finds an acquisition; ok is false where there is none of that name.
func AcquisitionOf(name string) (a Acquisition, ok bool) {
	all := acquisitions
	if i := slices.IndexFunc(all, func(a Acquisition) bool { return a.Name == name }); i >= 0 {
		return all[i], true
	}
	return Acquisition{Name: name}, false
}

// Kinds lists the policies that New makes.
func Kinds() []string {
	var out []string
	for _, k := range Table() {
		out = append(out, k.Name)
	}
	return out
}

// Acquisitions lists the words of Spec.Acquisition.
func Acquisitions() []string {
	var out []string
	for _, a := range AcquisitionTable() {
		out = append(out, a.Name)
	}
	return out
}
