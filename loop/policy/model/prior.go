package model

import (
	"math"
	"slices"
)

// weightedValue is one value of a hyperparameter with its prior weight.
type weightedValue struct{ value, weight float64 }

// levels discretises a log-normal prior at so many standard deviations from its median,
// weighted by its density there.
func levels(median, logSD float64, at ...float64) []weightedValue {
	out := make([]weightedValue, len(at))
	for i, q := range at {
		out[i] = weightedValue{median * math.Exp(logSD*q), math.Exp(-q * q / 2)}
	}
	return out
}

// The priors of the fits (hyper.go) are discretised: 4 lengthscales, the same for all
// variables, of LengthscalePrior "range" from 0.1 to 0.86 of the range, of "dimension" from
// 0.07 to 0.6 times the root of the number of variables; 3 noise variances from 0.001 to
// 0.095 of the objective's prior variance, which then follows in closed form; where the
// noise is learnt or known, 2 prior variances instead, that of the data and 5 times it,
// because data gathered near an optimum spread less than the objective does. longLevels come on top,
// and the fitted member (fitted.go).

func noiseLevels() []weightedValue { return levels(noiseMedian, noiseLogSD, -1.5, 0, 1.5) }

func amplitudeLevels() []weightedValue {
	out := levels(1, outputLogSD, 0, 0.8)
	for i := range out {
		out[i].value = math.Sqrt(out[i].value)
	}
	return out
}

// builtIn is the set of a specification that names none: one prior with everything to
// be estimated.
func builtIn() []Prior {
	return []Prior{{Outputscale: math.NaN(), NoiseSD: math.NaN(), Mean: math.NaN()}}
}

// members states the priors of the specification fully.
func (m *Rules) members() []member {
	priors := m.Spec.Priors
	if len(priors) == 0 {
		priors = builtIn()
	}
	var out []member
	for i := range priors {
		kernels, unit := m.kernelsOf(&priors[i])
		for _, k := range kernels {
			k.prior, k.unit, k.mean = i, unit, priors[i].Mean
			if of := priors[i].MeanOf; of != nil {
				k.meanOf = func(x []float64) float64 { return of(m.User(x)) }
			}
			if priors[i].Weight > 0 {
				k.weight *= priors[i].Weight
			}
			for _, timely := range m.withTime(k) {
				out = append(out, m.withNoise(timely, priors[i].NoiseSD)...)
			}
		}
	}
	return append(out, m.fittedMember()...)
}

// Processes is how many processes model the objective, each with a factor of its own.
func (m *Rules) Processes() int {
	if !m.competing() {
		return 1
	}
	return len(m.members())
}

// NoiseProcesses is how many processes model the noise.
func (m *Rules) NoiseProcesses() int {
	switch {
	case !m.Learnt:
		return 0
	case m.competing():
		return len(m.noiseMembers())
	}
	return 1
}

// kernelsOf lists a member for each kernel that the prior leaves open, with its weight
// within the prior, and the process's unit (0: estimated).
func (m *Rules) kernelsOf(p *Prior) (out []member, unit float64) {
	if p.Custom != nil {
		return []member{{kernel: p.Custom, weight: 1}}, 1
	}
	if !math.IsNaN(p.Outputscale) {
		unit = math.Sqrt(p.Outputscale)
	}
	name := p.Kernel
	if name == "" {
		name = m.Spec.Kernel
	}
	switch len(p.Lengthscale) {
	case 0:
		all := m.lengthscaleLevels(-1.5, -0.5, 0.5, 1.5)
		all = append(all, m.longLevels()...)
		for _, l := range all {
			k := newKernel(name, 1, slices.Repeat([]float64{l.value}, m.Dims))
			out = append(out, member{kernel: k, weight: l.weight / totalWeight(all)})
		}
	case 1:
		out = []member{{kernel: newKernel(name, 1, slices.Repeat(p.Lengthscale, m.Dims)), weight: 1}}
	default:
		out = []member{{kernel: newKernel(name, 1, p.Lengthscale), weight: 1}}
	}
	return out, unit
}

// withNoise lists a member for each noise or output scale that is left open.
func (m *Rules) withNoise(b member, noiseSD float64) []member {
	b.ratio, b.shotVariance = math.NaN(), math.NaN()
	given := !math.IsNaN(noiseSD)
	moving := m.Learnt || m.Known != nil
	if given && !moving {
		b.shotVariance = noiseSD * noiseSD
	}
	var open []weightedValue
	set := func(c *member, v float64) { c.ratio = v }
	switch {
	case b.unit > 0 && moving:
		return []member{b}
	case b.unit > 0 && given:
		b.ratio = max(b.shotVariance/(b.unit*b.unit), MinNoise)
		return []member{b}
	case given || moving:
		open, set = amplitudeLevels(), func(c *member, v float64) { c.amplitude = v }
	default:
		open = noiseLevels()
	}
	out := make([]member, len(open))
	for i, l := range open {
		out[i] = b
		out[i].weight *= l.weight / totalWeight(open)
		set(&out[i], l.value)
	}
	return out
}

func totalWeight(all []weightedValue) float64 {
	sum := 0.0
	for _, l := range all {
		sum += l.weight
	}
	return sum
}
