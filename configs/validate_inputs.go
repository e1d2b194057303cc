package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs/internal/schema"
)

const (
	// greatestReading is the greatest amount of what is believed of a sensor: models compute with squares of it, in units
	// of what readings scatter by.
	greatestReading = 1e50
	// widestRatio is how many times apart the ends of a logarithmic scale may be: far more is no number.
	widestRatio = 1e100
)

// sensor checks one [[sensor]].
func (k *checker) sensor(s *Sensor, at string) {
	k.channel(at, s.Device, s.Channel)
	if believed := (Range{Lo: -greatestReading, Hi: greatestReading}); !believed.Covers(s.Range) {
		k.bad(at+".range", fmt.Sprintf("%s: only values within %s can be computed with", schema.FormatRange(s.Range), schema.FormatRange(believed)), "write what the sensor can plausibly read")
	}
	if s.MaxSkew > s.MaxAge {
		k.bad(at+".max_skew", fmt.Sprintf("%s is longer than max_age (%s)", schema.FormatDuration(s.MaxSkew), schema.FormatDuration(s.MaxAge)), "", at+".max_age")
	}
}

// sensorRange checks a section that asks a sensor to lie in a range.
func (k *checker) sensorRange(at, name string, r Range) {
	if !k.refers(at+".sensor", "sensor", name) {
		return
	}
	i := slices.IndexFunc(k.cfg.Sensors, func(s Sensor) bool { return s.Name == name })
	s := k.cfg.Sensors[i]
	if r.Lo > s.Range.Hi || r.Hi < s.Range.Lo {
		k.bad(at+".range", fmt.Sprintf("%s lies outside the sensor's own range %s: it can never hold", schema.FormatRange(r), schema.FormatRange(s.Range)), "", schema.Item("sensor", i)+".range")
	}
}

// variable checks one [[variable]].
func (k *checker) variable(v *Variable, at string) {
	k.source(v, at)
	k.grid(v, at)
	k.scale(v, at)
	k.start(v, at)
	k.frozen(v, at)
	k.whenRandom(&v.WhenRandom, at+".when_random")
	if !v.HasActuator() {
		if v.Kind == "dose" {
			k.bad(at+".kind", "a variable that nothing sets cannot be a dose", "give it device and channel", at+".device", at+".kind")
		}
		return
	}
	if v.Kind == "dose" {
		safetyChecker{k}.dose(v, at)
		return
	}
	tol := v.Readback.Tolerance
	key := at + ".readback.tolerance"
	switch {
	case tol == 0:
		k.bad(at+".readback", fmt.Sprintf("missing: how close to its setpoint %s must be before a shot counts", v.Name), fmt.Sprintf("readback = { tolerance = 0.1, timeout = \"5s\" }, in %s", v.Unit), key, at+".name")
	case tol >= v.Range.Width():
		k.bad(key, fmt.Sprintf("%s is as wide as the variable's range %s: every readback would count as arrived", schema.FormatNumber(tol), schema.FormatRange(v.Range)), "", at+".range")
	case v.Resolution != nil && tol < *v.Resolution/2:
		k.bad(key, fmt.Sprintf("%s is less than half the resolution (%s): a setpoint could never be reached", schema.FormatNumber(tol), schema.FormatNumber(*v.Resolution)), "", at+".resolution")
	}
}

// source checks that a variable is either set by a device or measured by a
// sensor.
func (k *checker) source(v *Variable, at string) {
	device, channel := v.Device != "", v.Channel != ""
	involved := []string{at + ".device", at + ".channel", at + ".sensor"}
	switch {
	case v.Sensor != "" && (device || channel):
		k.bad(at+".sensor", "a variable is set through device and channel, or only measured by a sensor, not both", "remove one of them", involved...)
	case v.Sensor != "":
		if !k.refers(at+".sensor", "sensor", v.Sensor) {
			return
		}
		if s, _ := k.cfg.Sensor(v.Sensor); s.Unit != v.Unit {
			k.bad(at+".unit", fmt.Sprintf("%q differs from the unit of sensor %s, %q", v.Unit, s.Name, s.Unit), "")
		}
	case !device && !channel:
		k.bad(at, "nothing sets it and nothing measures it", "give it device and channel, or sensor where it is only measured", involved...)
	case !channel:
		k.bad(at+".channel", fmt.Sprintf("missing: which channel of device %q", v.Device), "", involved...)
	case !device:
		k.bad(at+".device", fmt.Sprintf("missing: whose channel %q it is", v.Channel), "", involved...)
	default:
		k.channel(at, v.Device, v.Channel)
	}
}

// grid checks the values that a variable can take: integer, levels, resolution.
func (k *checker) grid(v *Variable, at string) {
	if v.Resolution != nil && *v.Resolution > v.Range.Width() {
		k.bad(at+".resolution", fmt.Sprintf("%s is larger than the range %s", schema.FormatNumber(*v.Resolution), schema.FormatRange(v.Range)), "", at+".range")
	}
	if v.Integer {
		if len(v.Levels) > 0 {
			k.bad(at+".integer", "a variable is an integer or has levels, not both", "levels alone may list whole numbers", at+".levels")
		}
		if !isWhole(v.Range.Lo) || !isWhole(v.Range.Hi) {
			k.bad(at+".range", fmt.Sprintf("the range of an integer must end in whole numbers, got %s", schema.FormatRange(v.Range)), "")
		}
		if v.Resolution != nil && !isWhole(*v.Resolution) {
			k.bad(at+".resolution", fmt.Sprintf("the resolution of an integer must be whole, got %s", schema.FormatNumber(*v.Resolution)), "")
		}
	}
	if v.Levels == nil {
		return
	}
	levels := at + ".levels"
	if len(v.Levels) < 2 {
		k.bad(levels, fmt.Sprintf("must list at least two values, got %d", len(v.Levels)), "")
	}
	if v.Resolution != nil {
		k.bad(at+".resolution", "has no effect beside levels", "remove it")
	}
	for i, level := range v.Levels {
		item := schema.Item(levels, i)
		switch {
		case !v.Range.Contains(level):
			k.bad(item, fmt.Sprintf("%s lies outside the range %s", schema.FormatNumber(level), schema.FormatRange(v.Range)), "", at+".range")
		case i > 0 && level <= v.Levels[i-1]:
			k.bad(item, fmt.Sprintf("levels must ascend, got %s after %s", schema.FormatNumber(level), schema.FormatNumber(v.Levels[i-1])), "")
		}
	}
}

// scale checks that a logarithm can be taken of what it is taken of.
func (k *checker) scale(v *Variable, at string) {
	if v.Scale != "log" {
		return
	}
	if v.Range.Lo <= 0 {
		k.bad(at+".scale", fmt.Sprintf("a logarithm needs a range above 0, and it is %s", schema.FormatRange(v.Range)), "write a range above 0, such as range = [1.0, 1000.0], or leave scale out", at+".range")
	} else if v.Range.Hi/v.Range.Lo > widestRatio {
		k.bad(at+".scale", fmt.Sprintf("the ends of the range %s are more than %s times apart", schema.FormatRange(v.Range), schema.FormatNumber(widestRatio)), "write what the variable can take", at+".range")
	}
	if v.WhenRandom.Distribution == "normal" {
		k.bad(at+".when_random.distribution", "a normal distribution of the value does not go with a logarithmic scale", `write "learn", or "uniform", which is uniform in the logarithm`, at+".scale")
	}
}

// start checks the starting setting.
func (k *checker) start(v *Variable, at string) {
	if v.Start == nil {
		return
	}
	start := *v.Start
	switch {
	case !v.Range.Contains(start):
		k.bad(at+".start", fmt.Sprintf("%s lies outside the range %s", schema.FormatNumber(start), schema.FormatRange(v.Range)), "", at+".range")
	case v.Integer && !isWhole(start):
		k.bad(at+".start", fmt.Sprintf("must be a whole number, got %s", schema.FormatNumber(start)), "")
	case len(v.Levels) > 0 && !slices.Contains(v.Levels, start):
		k.bad(at+".start", fmt.Sprintf("%s is not one of the levels", schema.FormatNumber(start)), "", at+".levels")
	}
}

// frozen checks the value that a variable is kept at.
func (k *checker) frozen(v *Variable, at string) {
	if v.Frozen == nil {
		return
	}
	key := at + ".frozen"
	value := schema.FormatNumber(*v.Frozen)
	free := func(x Variable) bool { return x.Frozen == nil && x.HasActuator() }
	switch {
	case !v.HasActuator():
		k.bad(key, fmt.Sprintf("nothing sets %s, so nothing can keep it at a value", v.Name), "leave it out")
	case !v.Range.Contains(*v.Frozen):
		k.bad(key, fmt.Sprintf("%s lies outside the range %s", value, schema.FormatRange(v.Range)), "", at+".range")
	case v.Integer && !isWhole(*v.Frozen):
		k.bad(key, fmt.Sprintf("must be a whole number, got %s", value), "")
	case len(v.Levels) > 0 && !slices.Contains(v.Levels, *v.Frozen):
		k.bad(key, fmt.Sprintf("%s is not one of the levels", value), "", at+".levels")
	case k.cfg.Domain != nil:
		k.bad(key, "does not go with a list of candidates: each of them gives its own value", "leave it out, or list the candidates that have it", "domain.candidates")
	case !slices.ContainsFunc(k.cfg.Variables, free):
		k.bad(key, "leaves nothing to tune: every variable is frozen", "leave it out of one")
	}
}

// whenRandom checks a distribution.
func (k *checker) whenRandom(w *WhenRandom, at string) {
	given := map[string]*float64{"mean": w.Mean, "sd": w.SD}
	for _, key := range []string{"mean", "sd"} {
		switch {
		case w.Distribution == "normal" && given[key] == nil:
			k.bad(at+"."+key, "missing: a normal distribution has a mean and a standard deviation", "", at+".distribution")
		case w.Distribution != "normal" && given[key] != nil:
			k.bad(at+"."+key, fmt.Sprintf("has no effect with distribution %q", w.Distribution), `remove it, or write distribution = "normal"`, at+".distribution")
		}
	}
}

// sharedChannels refuses two variables on one channel.
func (k *checker) sharedChannels() {
	first := map[[2]string]int{}
	for i, v := range k.cfg.Variables {
		if v.Device == "" || v.Channel == "" {
			continue
		}
		key := [2]string{v.Device, v.Channel}
		if j, taken := first[key]; taken {
			k.bad(schema.Item("variable", i)+".channel", fmt.Sprintf("channel %q of device %q is set by variable %s already", v.Channel, v.Device, k.cfg.Variables[j].Name), "")
			continue
		}
		first[key] = i
	}
}

// controlSets checks every [[control_set]], and that no two are the same.
func (k *checker) controlSets() {
	first := map[string]int{}
	for i, set := range k.cfg.ControlSets {
		at := schema.Item("control_set", i)
		if set.Variables != nil && len(set.Variables) == 0 {
			k.bad(at+".variables", "is empty: a step that controls nothing decides nothing", "name a variable, or remove the control set")
		}
		for j, name := range set.Variables {
			item := schema.Item(at+".variables", j)
			if !k.refers(item, "variable", name) {
				continue
			}
			if v, _ := k.cfg.Variable(name); !v.HasActuator() {
				k.bad(item, fmt.Sprintf("variable %q is only measured: no step can control it", name), "")
			}
			if slices.Index(set.Variables, name) < j {
				k.bad(item, fmt.Sprintf("variable %q stands in the set twice", name), "")
			}
		}
		key := strings.Join(slices.Sorted(slices.Values(set.Variables)), " ")
		if j, taken := first[key]; taken && key != "" {
			k.bad(at+".variables", fmt.Sprintf("is the same control set as the one on line %d", k.Loc.Line(schema.Item("control_set", j)+".variables")), "remove one of them", at+".variables")
			continue
		}
		first[key] = i
	}
	if len(k.cfg.ControlSets) == 0 && len(k.cfg.Variables) > 0 && len(k.cfg.Sets()[0].Variables) == 0 {
		k.bad("variable", "no variable has an actuator: there is nothing to tune", "give at least one variable device and channel", k.variableSources()...)
	}
}

// variableSources lists the keys that decide whether variables have actuators.
func (k *checker) variableSources() []string {
	var keys []string
	for i := range k.cfg.Variables {
		at := schema.Item("variable", i)
		keys = append(keys, at, at+".device", at+".sensor")
	}
	return keys
}

func isWhole(v float64) bool { return v == math.Trunc(v) }
