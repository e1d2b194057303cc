package configs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// This file refuses limits that could never act, or never be kept: each alone is a legal
// value, and together they say nothing.

// yearsMax bounds the time that the way over a range may take: what takes longer is a slip of
// the pen, and no run lasts as long.
const yearsMax = 365 * 24 * time.Hour

// neverArrives refuses limits of an actuator that no setpoint could pass in its life.
func (k safetyChecker) neverArrives(v *Variable, s *SafetyVariable, at string) {
	if math.IsInf(s.Hard.Width(), 0) {
		k.bad(at+".hard", fmt.Sprintf("%s is wider than numbers can tell", schema.FormatRange(s.Hard)), "write the limits of the instrument")
	}
	for _, slew := range []struct {
		key   string
		value *float64
	}{{"slew", s.Slew}, {"slew_up", s.SlewUp}, {"slew_down", s.SlewDown}} {
		if slew.value != nil && *slew.value > 0 && v.Range.Width() / *slew.value > yearsMax.Seconds() {
			k.bad(at+"."+slew.key, fmt.Sprintf("%s %s per second: the way over the range %s takes more than a year", schema.FormatNumber(*slew.value), v.Unit, schema.FormatRange(v.Range)), "slew is in units per second", at+".hard")
		}
	}
	if v.Readback.Timeout > 0 && v.Readback.Timeout < k.cfg.Tick {
		i := slices.IndexFunc(k.cfg.Variables, func(other Variable) bool { return other.Name == v.Name })
		k.ifGiven(schema.Item("variable", i)+".readback.timeout", fmt.Sprintf("%s is shorter than a tick (%s): no reading could come in time", schema.FormatDuration(v.Readback.Timeout), schema.FormatDuration(k.cfg.Tick)), "", "tick")
	}
	dwell := value[time.Duration](k.cfg, at+".dwell")
	if run := k.runTime(); run > 0 && dwell >= run {
		k.bad(at+".dwell", fmt.Sprintf("%s is as long as the run (%s): nothing could be changed a second time", schema.FormatDuration(dwell), schema.FormatDuration(run)), "", "stop.time")
	}
}

// ifGiven reports a problem of a key that the file has: a default that does not fit is only
// doubted.
func (k safetyChecker) ifGiven(at, what, hint string, involved ...string) {
	if k.given(at) {
		k.bad(at, what, hint, involved...)
	}
}

// neverAbove refuses an exposure or a duty whose value no setpoint, or every one, is above.
func (k safetyChecker) neverAbove(s *SafetyVariable, name, at, rule string, above float64) {
	v, _ := k.cfg.Variable(name)
	switch {
	case !s.Hard.Contains(above) || v != nil && !s.Hard.Covers(v.Range): // said already
	case above == s.Hard.Hi:
		k.bad(at+"."+rule+".above", fmt.Sprintf("%s is the upper hard limit: nothing is ever above it", schema.FormatNumber(above)), "", at+".hard")
	case v != nil && above < v.Range.Lo:
		k.bad(at+"."+rule+".above", fmt.Sprintf("the whole range %s is above %s: the first setpoint would begin the time", schema.FormatRange(v.Range), schema.FormatNumber(above)), "", at+".hard")
	}
}

// neverDisagree refuses a comparison of two sensors that can never, or must always, fail.
func (k safetyChecker) neverDisagree(a, b *Sensor, agree *Agree, at string) {
	most := max(math.Abs(a.Range.Hi-b.Range.Lo), math.Abs(b.Range.Hi-a.Range.Lo))
	least := max(a.Range.Lo-b.Range.Hi, b.Range.Lo-a.Range.Hi)
	switch {
	case agree.Tolerance >= most:
		k.bad(at+".tolerance", fmt.Sprintf("%s: %s in %s and %s in %s can never differ by more", schema.FormatNumber(agree.Tolerance), a.Name, schema.FormatRange(a.Range), b.Name, schema.FormatRange(b.Range)), "")
	case agree.Tolerance < least:
		k.bad(at+".tolerance", fmt.Sprintf("%s: %s in %s and %s in %s always differ by more", schema.FormatNumber(agree.Tolerance), a.Name, schema.FormatRange(a.Range), b.Name, schema.FormatRange(b.Range)), "")
	}
}

// apart reports whether two ranges have no value in common.
func apart(a, b Range) bool { return a.Hi < b.Lo || b.Hi < a.Lo }

// neverTogether refuses conditions on one sensor of which one is always broken.
func (k safetyChecker) neverTogether() {
	s := &k.cfg.Safety
	clash := func(a, b Interlock) bool {
		sensor, ok := k.cfg.Sensor(a.Sensor)
		return ok && a.Sensor == b.Sensor && apart(a.Range, b.Range) &&
			!apart(a.Range, sensor.Range) && !apart(b.Range, sensor.Range) // which is said already
	}
	for i, lock := range s.Interlocks {
		for j := range i {
			if clash(lock, s.Interlocks[j]) {
				k.bad(schema.Item("safety.interlock", i)+".range", fmt.Sprintf("%s and %s of the interlock on line %d can never both hold: one of them always trips",
					schema.FormatRange(lock.Range), schema.FormatRange(s.Interlocks[j].Range), k.Loc.Line(schema.Item("safety.interlock", j))), "one interlock with the range that is healthy is enough")
			}
		}
	}
	for i, permissive := range s.Permissives {
		for j, lock := range s.Interlocks {
			if clash(permissive, lock) {
				k.bad(schema.Item("safety.permissive", i)+".range", fmt.Sprintf("%s and %s of the interlock on line %d can never both hold: no run could start",
					schema.FormatRange(permissive.Range), schema.FormatRange(lock.Range), k.Loc.Line(schema.Item("safety.interlock", j))), "")
			}
		}
	}
	first := map[int]int{}
	for i, b := range s.Bypasses {
		if j, taken := first[b.Rule]; taken {
			k.bad(schema.Item("safety.bypass", i)+".rule", fmt.Sprintf("rule %d is set aside already, on line %d", b.Rule, k.Loc.Line(schema.Item("safety.bypass", j))), "one bypass has one end: remove one of them")
			continue
		}
		first[b.Rule] = i
	}
}

// neverAnswers refuses a response that contradicts another one, or the readback itself.
func (k safetyChecker) neverAnswers(i int) {
	s := &k.cfg.Safety
	r, at := &s.Responses[i], schema.Item("safety.response", i)
	for j := range i {
		other := &s.Responses[j]
		if other.Variable == r.Variable && other.Sensor == r.Sensor && (other.Moves > 0) != (r.Moves > 0) {
			k.bad(at+".moves", fmt.Sprintf("%s and %s of the response on line %d ask for opposite ways: one of them always trips", schema.FormatNumber(r.Moves), schema.FormatNumber(other.Moves), k.Loc.Line(schema.Item("safety.response", j))), "")
		}
	}
	if r.Sensor == "" && r.Moves > r.Change && r.Change > 0 {
		k.bad(at+".moves", fmt.Sprintf("%s is more than change (%s): a readback moves as far as its setpoint", schema.FormatNumber(r.Moves), schema.FormatNumber(r.Change)), "", at+".change")
	}
}
