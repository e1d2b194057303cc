package setup

import (
	"github.com/labtuner/tuner/configs"
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
