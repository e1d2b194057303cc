package setup

import (
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// Known hands loop/policy's table of kinds and acquisitions, the drivers, and the keys of the
// packages that act on them to the schema.
func Known() *configs.Known { return new(Setup).known() }

// known is what Known gives; what a file says of the packages' keys goes into w.
func (w *Setup) known() *configs.Known {
	out := &configs.Known{Own: w.own}
	for _, d := range Drivers() {
		out.Drivers = append(out.Drivers, configs.Driver{Name: d.Name, Introduces: d.Introduces, IntroducedBy: d.IntroducedBy})
	}
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
