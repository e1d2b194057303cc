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
	// Confidence is "" where the acquisition has no confidence parameter; UsualConfidence is taken
	// where neither the kind nor the file names one.
	Confidence, UsualConfidence string
	// Schedule of control sets, "none" for the greatest value. UsualSchedule is taken where
	// neither the kind nor the file names one.
	Schedule, UsualSchedule string
	// PriorRule says how priors that compete decide together.
	PriorRule string
	// Subsets: there may be several control sets, and variables that are random.
	Subsets bool
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
	acquireNone       = "none"    // settings come from a design
	acquireGittins    = "gittins" // weighs costs itself
	scheduleNone      = "none"
	scheduleAuto      = "auto"
	scheduleETCAda    = "etc-ada"
	scheduleEpsilon   = "epsilon"
	priorsAveraged    = "averaged"
	priorsElimination = "elimination"
)

// Policies are the words of [policy] kind and acquisition, with what they stand for. They
// are handed in: the schema knows none of its own.
type Policies struct {
	// Kinds are the named policies. Words that they leave to the file are "".
	Kinds []Parts
	// Acquisitions are those that a file may name; Bounded those with a confidence parameter.
	Acquisitions, Bounded []string
}

// KindNames lists the words of [policy] kind.
func (p *Policies) KindNames() []string {
	var words []string
	if p != nil {
		for _, k := range p.Kinds {
			words = append(words, k.Kind)
		}
	}
	return words
}

// Of finds a kind's own parts; a kind that there is not has none.
func (p *Policies) Of(kind string) Parts {
	if p != nil {
		if i := slices.IndexFunc(p.Kinds, func(k Parts) bool { return k.Kind == kind }); i >= 0 {
			return p.Kinds[i]
		}
	}
	return Parts{Kind: kind}
}

// Parts gives the combination that a file names: the kind's own words where it has
// them, else the file's, else the defaults.
func (p *Policy) Parts() Parts {
	out := p.known.Of(p.Kind)
	out.Acquisition = cmp.Or(p.Acquisition, out.Acquisition)
	out.Schedule = cmp.Or(out.Schedule, p.Schedule)
	out.PerCost = out.PerCost || p.PerCost
	if out.Schedule == "" {
		out.Schedule = out.usualSchedule()
	}
	out.Confidence = cmp.Or(out.Confidence, p.Confidence)
	if p.NoiseSD != "" {
		out.Noise = NoiseKnown
	}
	out.PriorRule = cmp.Or(out.PriorRule, p.PriorRule, priorsAveraged)
	if out.Confidence == "" && p.bounded(out) {
		usual := "irgp" // shifted exponential: no horizon and no constant to tune
		if out.PriorRule == priorsElimination {
			usual = "srinivas" // priors are eliminated by a bound that holds
		}
		out.Confidence = cmp.Or(out.UsualConfidence, usual)
	}
	return out
}

// usualSchedule is the schedule where none is named. "auto" weighs what the sets cost: values that do so
// themselves take "etc-ada".
func (p Parts) usualSchedule() string {
	if p.UsualSchedule == scheduleAuto && (p.PerCost || p.Acquisition == acquireGittins) {
		return scheduleETCAda
	}
	return cmp.Or(p.UsualSchedule, scheduleNone)
}

// bounded says that the confidence parameter matters: the acquisition is made of
// confidence bounds, or priors are eliminated by them.
func (p *Policy) bounded(parts Parts) bool {
	return p.known != nil && slices.Contains(p.known.Bounded, parts.Acquisition) || parts.PriorRule == priorsElimination
}
