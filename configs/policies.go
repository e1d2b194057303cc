package configs

import (
	"cmp"
	"slices"
)

// parts are the words that a kind of policy stands for: a named policy is one
// combination of them. Keys of [policy] replace or complete them.
type parts struct {
	kind        string
	acquisition string
	// confidence, schedule and priorRule are the kind's own; "" leaves them to the
	// file.
	confidence, schedule, priorRule string
	// risky: the variance of the objective counts, so risk is required.
	risky bool
	// noise is where the variance of one shot comes from.
	noise noiseWord
	// perCost: values are divided by the cost of the step.
	perCost bool
}

// noiseWord says where the variance of one shot comes from.
type noiseWord uint8

const (
	noiseConstant noiseWord = iota // the same at every setting, estimated
	noiseLearnt                    // from the spread of each step's shots
	noiseKnown                     // policy.noise_sd
)

// What keys are called in more than one place.
const (
	acquireNone       = "none" // settings come from a design
	scheduleNone      = "none"
	scheduleEpsilon   = "epsilon"
	priorsAveraged    = "averaged"
	priorsElimination = "elimination"
)

// kinds lists the named policies, by paper.
func kinds() []parts {
	return []parts{
		{kind: "rahbo", acquisition: "ucb", risky: true, noise: noiseLearnt},
		{kind: "rahbo-known-variance", acquisition: "ucb", risky: true, noise: noiseKnown},
		{kind: "rahbo-us", acquisition: "ucb", risky: true, noise: noiseLearnt},
		{kind: "gp-ucb-heteroscedastic", acquisition: "ucb", noise: noiseLearnt},

		{kind: "ucb-cvs", acquisition: "ucb"},
		{kind: "ucb-cvs-etc-50", acquisition: "ucb", schedule: "etc-50"},
		{kind: "ucb-cvs-etc-100", acquisition: "ucb", schedule: "etc-100"},
		{kind: "ucb-cvs-etc-ada", acquisition: "ucb", schedule: "etc-ada"},
		{kind: "ucb-psq", acquisition: "ucb"},
		{kind: "ts-psq", acquisition: "ts"},
		{kind: "ei-psq", acquisition: "ei"},
		{kind: "ucb-psq-per-cost", acquisition: "ucb", perCost: true},
		{kind: "ts-psq-per-cost", acquisition: "ts", perCost: true},
		{kind: "ei-psq-per-cost", acquisition: "ei", perCost: true},

		{kind: "gp-ucb", acquisition: "ucb"},
		{kind: "irgp-ucb", acquisition: "ucb", confidence: "irgp"},
		{kind: "rgp-ucb", acquisition: "ucb", confidence: "rgp"},
		{kind: "ts", acquisition: "ts"},
		{kind: "ei", acquisition: "ei"},
		{kind: "pims", acquisition: "pims"},
		{kind: "mes", acquisition: "mes"},
		{kind: "jes", acquisition: "jes"},

		{kind: "costids", acquisition: "ids"},
		{kind: "ei-per-cost", acquisition: "ei", perCost: true},
		{kind: "multi-fidelity-mes", acquisition: "mf-mes", perCost: true},

		{kind: "hp-gp-ts", acquisition: "ts", priorRule: "sampled"},
		{kind: "map-gp-ts", acquisition: "ts", priorRule: "greedy"},
		{kind: "pe-gp-ts", acquisition: "ts", priorRule: priorsElimination},
		{kind: "pe-gp-ucb", acquisition: "ucb", priorRule: priorsElimination},
		{kind: "gp-ts", acquisition: "ts"},

		{kind: "random", acquisition: acquireNone},
		{kind: "sobol", acquisition: acquireNone},
	}
}

// kindOf finds a kind's own parts; a kind that there is not has none.
func kindOf(kind string) parts {
	all := kinds()
	if i := slices.IndexFunc(all, func(p parts) bool { return p.kind == kind }); i >= 0 {
		return all[i]
	}
	return parts{kind: kind}
}

// Policies lists the words of [policy] kind that the schema knows.
func Policies() []string {
	var words []string
	for _, p := range kinds() {
		words = append(words, p.kind)
	}
	return words
}

// Acquisitions lists the words of [policy] acquisition that the schema knows.
func Acquisitions() []string {
	return []string{"ucb", "ts", "ei", "pims", "mes", "jes", "ids", "mf-mes"}
}

// parts gives the combination that a file names: the kind's own words where it has
// them, else the file's, else the defaults.
func (p *Policy) parts() parts {
	out := kindOf(p.Kind)
	out.acquisition = cmp.Or(p.Acquisition, out.acquisition)
	out.schedule = cmp.Or(out.schedule, p.Schedule)
	if out.schedule == "" {
		out.schedule = scheduleNone
		if p.Kind == "ucb-cvs" {
			// Gives cheap control sets as many turns as their cost allows, so that no
			// count has to be tuned.
			out.schedule = "etc-ada"
		}
	}
	out.confidence = cmp.Or(out.confidence, p.Confidence)
	if out.confidence == "" && out.bounded() {
		// Shifted exponential: no horizon and no constant to tune.
		out.confidence = "irgp"
	}
	out.priorRule = cmp.Or(out.priorRule, p.PriorRule, priorsAveraged)
	out.perCost = out.perCost || p.PerCost
	return out
}

// bounded says that the confidence parameter matters: the acquisition is made of
// confidence bounds, or priors are eliminated by them.
func (p parts) bounded() bool {
	return p.acquisition == "ucb" || p.acquisition == "ids" || p.priorRule == priorsElimination
}
