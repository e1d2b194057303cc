package setup

import (
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// KnownPolicies hands loop/policy's table of kinds and acquisitions to the schema.
func KnownPolicies() *configs.Policies {
	out := &configs.Policies{}
	for _, k := range policy.Table() {
		out.Kinds = append(out.Kinds, configs.Parts{Kind: k.Name, Acquisition: k.Acquisition, Confidence: k.Confidence,
			Schedule: k.Schedule, UsualSchedule: k.UsualSchedule, PriorRule: k.PriorRule, Risky: k.Risk, Noise: noiseOf(k.Noise), PerCost: k.PerCost})
	}
	for _, a := range policy.AcquisitionTable() {
		if a.Description != "" { // else settings come from a design
			out.Acquisitions = append(out.Acquisitions, a.Name)
		}
		if a.Bounded {
			out.Bounded = append(out.Bounded, a.Name)
		}
	}
	return out
}

func noiseOf(n policy.NoiseSource) configs.Noise {
	switch n {
	case policy.LearntNoise:
		return configs.NoiseLearnt
	case policy.KnownNoise:
		return configs.NoiseKnown
	}
	return configs.NoiseConstant
}
