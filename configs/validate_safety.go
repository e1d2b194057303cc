package configs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// safetyChecker checks [safety] and everything in it.
type safetyChecker struct{ *checker }

// safety checks it all.
func (k safetyChecker) safety() {
	s := &k.cfg.Safety
	for i := range k.cfg.Variables {
		k.actuator(&k.cfg.Variables[i], schema.Item("variable", i))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		at := schema.Join("safety.variable", name)
		if !k.refers(at, "variable", name) {
			continue
		}
		if v, _ := k.cfg.Variable(name); !v.HasActuator() {
			k.bad(at, fmt.Sprintf("variable %q is only measured: there is nothing to limit", name), "remove the section")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sensors)) {
		k.safetySensor(name, s.Sensors[name])
	}
	for i, lock := range s.Interlocks {
		k.condition(schema.Item("safety.interlock", i), lock)
	}
	for i, permissive := range s.Permissives {
		k.condition(schema.Item("safety.permissive", i), permissive)
	}
	k.neverTogether()
	for i := range s.Responses {
		k.response(&s.Responses[i], schema.Item("safety.response", i))
		k.neverAnswers(i)
	}
	k.doses()
	for i, b := range s.Bypasses {
		if !slices.Contains(bypassable, b.Rule) {
			k.bad(schema.Item("safety.bypass", i)+".rule", fmt.Sprintf("rule %d can never be bypassed", b.Rule), "rules 6 to 14, 18 and 21 can; those on values, doses, the record and stopping always hold")
		}
	}
}

// condition checks an interlock or a permissive: a sensor that can be wrong, and
// that the range can tell to be.
func (k safetyChecker) condition(at string, c Interlock) {
	k.sensorRange(at, c.Sensor, c.Range)
	if s, ok := k.cfg.Sensor(c.Sensor); ok && c.Range.Covers(s.Range) {
		k.bad(at+".range", fmt.Sprintf("%s holds every value that sensor %s can have, %s: it would only notice silence", schema.FormatRange(c.Range), s.Name, schema.FormatRange(s.Range)), "narrow the range, or widen the sensor's")
	}
}

// bypassable are the rules that a bypass may name: those that look at sensors, links
// and actuators.
var bypassable = []int{6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 21}

// actuator checks that a variable which is set has limits, and the limits.
func (k safetyChecker) actuator(v *Variable, variable string) {
	s, ok := k.cfg.Safety.Variables[v.Name]
	at := schema.Join("safety.variable", v.Name)
	switch {
	case !v.HasActuator():
		return
	case v.Kind == "dose":
		k.doseLimits(ok, at)
		return
	}
	if !ok {
		k.bad(variable, fmt.Sprintf("missing section [%s]: what is set needs hard limits, a slew and a safe value", at),
			fmt.Sprintf("such as hard = %s, slew = 1.0, safe = %s, each on a line of its own; slew is in %s per second", schema.FormatRange(v.Range), schema.FormatNumber(v.Range.Lo), v.Unit), "safety", "safety.variable", variable+".name")
		return
	}
	if !s.Hard.Covers(v.Range) {
		k.bad(at+".hard", fmt.Sprintf("%s does not contain the variable's range %s", schema.FormatRange(s.Hard), schema.FormatRange(v.Range)), "widen hard, or narrow the range", variable+".range")
	}
	switch {
	case !s.Hard.Contains(s.Safe):
		k.bad(at+".safe", fmt.Sprintf("%s lies outside the hard limits %s", schema.FormatNumber(s.Safe), schema.FormatRange(s.Hard)), "", at+".hard")
	case v.Integer && !isWhole(s.Safe):
		k.bad(at+".safe", fmt.Sprintf("must be a whole number, as the variable is an integer, got %s", schema.FormatNumber(s.Safe)), "")
	}
	k.slew(&s, v.Unit, at)
	k.neverArrives(v, &s, at)
	k.duty(&s, v.Name, at)
	if s.Exposure != nil {
		if !s.Hard.Contains(s.Exposure.Above) {
			k.bad(at+".exposure.above", fmt.Sprintf("%s lies outside the hard limits %s", schema.FormatNumber(s.Exposure.Above), schema.FormatRange(s.Hard)), "", at+".hard")
		}
		k.neverAbove(&s, v.Name, at, "exposure", s.Exposure.Above)
		k.comesDown(&s, at, "exposure", s.Exposure.Above)
	}
}

// duty checks the limit on the time above a value.
func (k safetyChecker) duty(s *SafetyVariable, name, at string) {
	d := s.Duty
	if d == nil {
		return
	}
	if !s.Hard.Contains(d.Above) {
		k.bad(at+".duty.above", fmt.Sprintf("%s lies outside the hard limits %s", schema.FormatNumber(d.Above), schema.FormatRange(s.Hard)), "", at+".hard")
	}
	k.neverAbove(s, name, at, "duty", d.Above)
	k.comesDown(s, at, "duty", d.Above)
}

// comesDown refuses a fault state that leaves a variable above the value that it must
// not stay above.
func (k safetyChecker) comesDown(s *SafetyVariable, at, rule string, above float64) {
	switch {
	case !s.Hard.Contains(above) || !s.Hard.Contains(s.Safe): // said already
	case s.OnFault == "hold" && s.Lease == nil:
		k.bad(at+".on_fault", fmt.Sprintf("%q leaves the variable above %s when %s says that it must come down", s.OnFault, schema.FormatNumber(above), rule), `write "safe" or "off"`, at+"."+rule)
	case s.OnFault == "safe" && s.Safe > above:
		k.bad(at+".safe", fmt.Sprintf("%s is above %s, where %s says that the variable must not stay", schema.FormatNumber(s.Safe), schema.FormatNumber(above), rule), "", at+"."+rule)
	}
}

func (k safetyChecker) slew(s *SafetyVariable, unit, at string) {
	both, up, down := at+".slew", at+".slew_up", at+".slew_down"
	switch {
	case s.Slew != nil && (s.SlewUp != nil || s.SlewDown != nil):
		k.bad(both, "slew goes both ways: slew_up and slew_down stand in its place, not beside it", "remove slew, or the other two", up, down)
	case s.Slew == nil && s.SlewUp == nil && s.SlewDown == nil:
		k.bad(both, fmt.Sprintf("missing: the fastest change, in %s per second", unit), "write slew, or slew_up and slew_down", up, down)
	case s.Slew == nil && s.SlewUp == nil:
		k.bad(up, "missing beside slew_down", "", both, down)
	case s.Slew == nil && s.SlewDown == nil:
		k.bad(down, "missing beside slew_up", "", both, up)
	}
}

// safetySensor checks one [safety.sensor.X].
func (k safetyChecker) safetySensor(name string, s SafetySensor) {
	at := schema.Join("safety.sensor", name)
	if !k.refers(at, "sensor", name) || s.Agree == nil {
		return
	}
	other := at + ".agree.sensor"
	if s.Agree.Sensor == name {
		k.bad(other, "a sensor always agrees with itself", "name another sensor")
		return
	}
	if !k.refers(other, "sensor", s.Agree.Sensor) {
		return
	}
	a, _ := k.cfg.Sensor(name)
	b, _ := k.cfg.Sensor(s.Agree.Sensor)
	if a.Unit != b.Unit {
		k.bad(other, fmt.Sprintf("cannot be compared: %s is in %q, %s in %q", a.Name, a.Unit, b.Name, b.Unit), "")
		return
	}
	k.neverDisagree(a, b, s.Agree, at+".agree")
}

// settable checks a reference to a variable that can be set, and returns it.
func (k safetyChecker) settable(at, name string) (*Variable, bool) {
	if !k.refers(at, "variable", name) {
		return nil, false
	}
	v, _ := k.cfg.Variable(name)
	if !v.HasActuator() {
		k.bad(at, fmt.Sprintf("variable %q is only measured", name), "name a variable that is set")
		return nil, false
	}
	return v, true
}

// response checks one [[safety.response]].
func (k safetyChecker) response(r *Response, at string) {
	v, ok := k.settable(at+".variable", r.Variable)
	if r.Sensor != "" {
		k.refers(at+".sensor", "sensor", r.Sensor)
	}
	switch {
	case r.Moves == 0:
		k.bad(at+".moves", "must not be 0: then nothing would have to show", "")
	case ok && v.Kind == "dose" && r.Sensor == "":
		k.bad(at+".sensor", fmt.Sprintf("missing: %s is a dose, which has no readback: only a sensor can show it", v.Name), "name the sensor that a dose moves", at+".variable")
	case ok && r.Sensor == "" && r.Moves < 0:
		k.bad(at+".moves", "is negative, and a readback follows its setpoint", "write a positive number, or name a sensor that falls", at+".sensor")
	}
	if ok && r.Sensor == "" && r.Moves > v.Range.Width() {
		k.bad(at+".moves", fmt.Sprintf("%s is more than the whole range %s: no change could ever show", schema.FormatNumber(r.Moves), schema.FormatRange(v.Range)), "")
	}
	if s, found := k.cfg.Sensor(r.Sensor); found && max(r.Moves, -r.Moves) > s.Range.Width() {
		k.bad(at+".moves", fmt.Sprintf("%s is more than the whole range of sensor %s, %s: no change could ever show", schema.FormatNumber(r.Moves), s.Name, schema.FormatRange(s.Range)), "")
	}
	if ok && r.Change > v.Range.Width() {
		k.bad(at+".change", fmt.Sprintf("%s is more than the whole range %s: it would never be checked", schema.FormatNumber(r.Change), schema.FormatRange(v.Range)), "")
	}
}
