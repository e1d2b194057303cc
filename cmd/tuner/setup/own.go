package setup

import (
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/notices"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// ownLimits are the limits of the safety layer by the name of a variable or a sensor.
type ownLimits struct {
	variables map[string]*safety.VariableLimits
	sensors   map[string]*safety.SensorLimits
}

// own gives the options of the packages that act on keys of a section: a key of theirs stands
// there, with its default, its bounds and what it says, and nowhere else.
func (w *Setup) own(section any, name string) []any {
	switch section.(type) {
	case *configs.MQTT:
		return []any{&w.broker}
	case *configs.Policy:
		return []any{&w.Spec}
	case *configs.Safety:
		return []any{&w.Options.Safety.Limits, &w.Options.Outages}
	case *configs.SafetyVariable:
		return []any{entry(&w.limits.variables, name)}
	case *configs.SafetySensor:
		return []any{entry(&w.limits.sensors, name)}
	}
	return nil
}

// entry is one of a map, made where there is none.
func entry[T any](all *map[string]*T, name string) *T {
	if *all == nil {
		*all = map[string]*T{}
	}
	if (*all)[name] == nil {
		(*all)[name] = new(T)
	}
	return (*all)[name]
}

// Known hands loop/policy's table of kinds and acquisitions, the drivers, and the keys of the
// packages that act on them to the schema.
func Known() *configs.Known { return new(Setup).known() }

// known is what Known gives; what a file says of the packages' keys goes into w.
func (w *Setup) known() *configs.Known {
	out := &configs.Known{Own: w.own, Notices: notices.Kinds()}
	for _, d := range Drivers() {
		out.Drivers = append(out.Drivers, configs.Driver{Name: d.Name, Introduces: d.Introduces, IntroducedBy: d.IntroducedBy, Declares: declares(d)})
	}
	for _, k := range policy.Table() {
		out.Kinds = append(out.Kinds, configs.Parts{Kind: k.Name, Acquisition: k.Acquisition, Confidence: k.Confidence, UsualConfidence: k.UsualConfidence,
			Schedule: k.Schedule, UsualSchedule: k.UsualSchedule, PriorRule: k.PriorRule, Risky: k.Risk, Noise: noiseOf(k.Noise), PerCost: k.PerCost, Subsets: k.Subsets})
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
