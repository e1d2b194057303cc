package configs

import (
	"cmp"
	"slices"
)

// Parts are the words that a policy is made of: a named kind is one combination of
// them, which keys of [policy] replace or complete.
type Parts struct {
	// Kind is the name, Acquisition what a decision maximises ("none": settings come
	// from a design).
	Kind, Acquisition string
	// Confidence is "" where the acquisition has no confidence parameter.
	Confidence string
	// Schedule of control sets, "none" for the greatest value.
	Schedule string
	// PriorRule says how priors that compete decide together.
	PriorRule string
	// Risky: the variance of the objective counts, so risk is required.
	Risky bool
	// Noise is where the variance of one shot comes from.
	Noise Noise
	// PerCost: values are divided by the cost of the step.
	PerCost bool
}

// Noise says where the variance of one shot comes from.
type Noise uint8

// The sources of noise.
const (
	// NoiseConstant: the same at every setting, estimated.
	NoiseConstant Noise = iota
	// NoiseLearnt: from the spread of each step's shots.
	NoiseLearnt
	// NoiseKnown: policy.noise_sd says it.
	NoiseKnown
)

// What keys are called in more than one place.
const (
	acquireNone       = "none" // settings come from a design
	scheduleNone      = "none"
	scheduleEpsilon   = "epsilon"
	priorsAveraged    = "averaged"
	priorsElimination = "elimination"
)

// kinds lists the named policies, by paper. Words that they leave to the file are "".
func kinds() []Parts {
	return []Parts{
		{Kind: "rahbo", Acquisition: "ucb", Risky: true, Noise: NoiseLearnt},
		{Kind: "rahbo-known-variance", Acquisition: "ucb", Risky: true, Noise: NoiseKnown},
		{Kind: "rahbo-us", Acquisition: "ucb", Risky: true, Noise: NoiseLearnt},
		{Kind: "gp-ucb-heteroscedastic", Acquisition: "ucb", Noise: NoiseLearnt},

		{Kind: "ucb-cvs", Acquisition: "ucb"},
		{Kind: "ucb-cvs-etc-50", Acquisition: "ucb", Schedule: "etc-50"},
		{Kind: "ucb-cvs-etc-100", Acquisition: "ucb", Schedule: "etc-100"},
		{Kind: "ucb-cvs-etc-ada", Acquisition: "ucb", Schedule: "etc-ada"},
		{Kind: "ucb-psq", Acquisition: "ucb"},
		{Kind: "ts-psq", Acquisition: "ts"},
		{Kind: "ei-psq", Acquisition: "ei"},
		{Kind: "ucb-psq-per-cost", Acquisition: "ucb", PerCost: true},
		{Kind: "ts-psq-per-cost", Acquisition: "ts", PerCost: true},
		{Kind: "ei-psq-per-cost", Acquisition: "ei", PerCost: true},

		{Kind: "gp-ucb", Acquisition: "ucb"},
		{Kind: "irgp-ucb", Acquisition: "ucb", Confidence: "irgp"},
		{Kind: "rgp-ucb", Acquisition: "ucb", Confidence: "rgp"},
		{Kind: "ts", Acquisition: "ts"},
		{Kind: "ei", Acquisition: "ei"},
		{Kind: "pims", Acquisition: "pims"},
		{Kind: "mes", Acquisition: "mes"},
		{Kind: "jes", Acquisition: "jes"},

		{Kind: "costids", Acquisition: "ids"},
		{Kind: "ei-per-cost", Acquisition: "ei", PerCost: true},
		{Kind: "multi-fidelity-mes", Acquisition: "mf-mes", PerCost: true},

		{Kind: "hp-gp-ts", Acquisition: "ts", PriorRule: "sampled"},
		{Kind: "map-gp-ts", Acquisition: "ts", PriorRule: "greedy"},
		{Kind: "pe-gp-ts", Acquisition: "ts", PriorRule: priorsElimination},
		{Kind: "pe-gp-ucb", Acquisition: "ucb", PriorRule: priorsElimination},
		{Kind: "gp-ts", Acquisition: "ts"},

		{Kind: "track", Acquisition: "ucb"},

		{Kind: "random", Acquisition: acquireNone},
		{Kind: "sobol", Acquisition: acquireNone},
	}
}

// kindOf finds a kind's own parts; a kind that there is not has none.
func kindOf(kind string) Parts {
	all := kinds()
	if i := slices.IndexFunc(all, func(p Parts) bool { return p.Kind == kind }); i >= 0 {
		return all[i]
	}
	return Parts{Kind: kind}
}

// Policies lists the words of [policy] kind that the schema knows.
func Policies() []string {
	var words []string
	for _, p := range kinds() {
		words = append(words, p.Kind)
	}
	return words
}

// Acquisitions lists the words of [policy] acquisition that the schema knows.
func Acquisitions() []string {
	return []string{"ucb", "ts", "ei", "pims", "mes", "jes", "ids", "mf-mes"}
}

// Parts gives the combination that a file names: the kind's own words where it has
// them, else the file's, else the defaults.
func (p *Policy) Parts() Parts {
	out := kindOf(p.Kind)
	out.Acquisition = cmp.Or(p.Acquisition, out.Acquisition)
	out.Schedule = cmp.Or(out.Schedule, p.Schedule)
	if out.Schedule == "" {
		out.Schedule = scheduleNone
		if p.Kind == "ucb-cvs" {
			// Gives cheap control sets as many turns as their cost allows, so that no
			// count has to be tuned.
			out.Schedule = "etc-ada"
		}
	}
	out.Confidence = cmp.Or(out.Confidence, p.Confidence)
	if out.Confidence == "" && out.bounded() {
		// Shifted exponential: no horizon and no constant to tune.
		out.Confidence = "irgp"
	}
	if p.NoiseSD != "" {
		out.Noise = NoiseKnown
	}
	out.PriorRule = cmp.Or(out.PriorRule, p.PriorRule, priorsAveraged)
	out.PerCost = out.PerCost || p.PerCost
	return out
}

// bounded says that the confidence parameter matters: the acquisition is made of
// confidence bounds, or priors are eliminated by them.
func (p Parts) bounded() bool {
	return p.Acquisition == "ucb" || p.Acquisition == "ids" || p.PriorRule == priorsElimination
}
