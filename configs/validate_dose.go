package configs

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// doses checks every [[safety.dose]], and that every variable of kind dose has a
// budget and a response to watch.
func (k safetyChecker) doses() {
	s := &k.cfg.Safety
	first := map[string]int{}
	for i := range s.Doses {
		d := &s.Doses[i]
		at := schema.Item("safety.dose", i)
		if j, taken := first[d.Variable]; taken {
			k.bad(at+".variable", fmt.Sprintf("variable %q has a budget already, on line %d", d.Variable, k.Loc.Line(schema.Item("safety.dose", j))), "")
			continue
		}
		first[d.Variable] = i
		if v, ok := k.settable(at+".variable", d.Variable); ok {
			k.doseOf(d, v, at)
		}
		k.budget(d, at)
		k.doseAtRest(d)
	}
	for i, v := range k.cfg.Variables {
		if v.Kind != "dose" || !v.HasActuator() {
			continue
		}
		at := schema.Item("variable", i)
		if _, ok := first[v.Name]; !ok {
			k.bad(at, "missing [[safety.dose]]: what cannot be taken back needs a budget", "", at+".kind", at+".name", "safety", "safety.dose")
		}
		if !slices.ContainsFunc(s.Responses, func(r Response) bool { return r.Variable == v.Name }) {
			k.bad(at, "missing [[safety.response]]: a dose must show somewhere", "", at+".kind", at+".name", "safety", "safety.response")
		}
	}
}

// doseOf compares a budget with its variable.
func (k safetyChecker) doseOf(d *Dose, v *Variable, at string) {
	i := slices.IndexFunc(k.cfg.Variables, func(other Variable) bool { return other.Name == v.Name })
	within := schema.Item("variable", i) + ".range"
	switch {
	case d.Unit != v.Unit:
		k.bad(at+".unit", fmt.Sprintf("%q is not the unit of variable %s, %q", d.Unit, v.Name, v.Unit), "")
	case v.Kind != "dose" && d.OnFault != "":
		k.bad(at+".on_fault", fmt.Sprintf("variable %s is not of kind dose: [safety.variable.%s] says what it does", v.Name, v.Name), "remove it")
	case v.Kind != "dose":
	case d.PerDose < v.Range.Lo:
		k.bad(at+".per_dose", fmt.Sprintf("%s is less than the least dose of the range, %s: none could ever be given", schema.FormatNumber(d.PerDose), schema.FormatRange(v.Range)), "", within)
	case d.PerDose < v.Range.Hi:
		k.bad(at+".per_dose", fmt.Sprintf("%s is less than the largest dose of the range, %s: such a dose would hold the run", schema.FormatNumber(d.PerDose), schema.FormatRange(v.Range)), "narrow the range, or allow more", within)
	}
}

// dose checks a [[variable]] of kind dose: it is an event, and what only a place to be
// at has means nothing.
func (k safetyChecker) dose(v *Variable, at string) {
	if v.Range.Lo < 0 {
		k.bad(at+".range", fmt.Sprintf("a dose cannot be negative, got %s: it cannot be taken back", schema.FormatRange(v.Range)), "begin the range at 0, which gives nothing")
	}
	for _, key := range []struct{ key, what, hint string }{
		{"on_release", "a step that does not control a dose gives none: there is nothing to hold, let go or park", "remove it"},
		{"when_random", "a step that does not control a dose gives none: that is known", "remove it"},
		{"readback", "a dose is given once and is no place to be at: nothing is compared", "remove it; settle waits, and [[safety.response]] sees that it shows"},
	} {
		if k.given(at + "." + key.key) {
			k.bad(at+"."+key.key, key.what, key.hint, at+".kind")
		}
	}
	left := slices.IndexFunc(k.cfg.Sets(), func(s ControlSet) bool { return !slices.Contains(s.Variables, v.Name) })
	if left >= 0 && v.Range.Lo > 0 {
		k.bad(at+".range", fmt.Sprintf("control set %d leaves %s out, which is a dose of 0, outside %s", left+1, v.Name, schema.FormatRange(v.Range)), "begin the range at 0", "variable", "control_set")
	}
}

// doseLimits refuses limits of a place to be at.
func (k safetyChecker) doseLimits(given bool, at string) {
	if !given {
		return
	}
	what, hint := "a dose has no way to go, no safe value and no limits but its range and its budget", "remove the section; on_fault stands in [[safety.dose]]"
	for _, key := range []string{"slew", "slew_up", "slew_down"} {
		if k.given(at + "." + key) {
			k.bad(at+"."+key, "a dose is given at once, as it is: there is no slew", hint)
			return
		}
	}
	k.bad(at, what, hint, "variable")
}

// doseAtRest refuses a rest state that would be a dose: on the way there no budget is
// looked at.
func (k safetyChecker) doseAtRest(d *Dose) {
	s, ok := k.cfg.Safety.Variables[d.Variable]
	if !ok || s.Safe <= s.Hard.Lo || !s.Hard.Contains(s.Safe) {
		return
	}
	at := schema.Join("safety.variable", d.Variable)
	for _, rest := range []struct{ key, state string }{{"on_fault", s.OnFault}, {"boot", s.Boot}, {"shutdown", s.Shutdown}} {
		if rest.state == "safe" {
			k.bad(at+"."+rest.key, fmt.Sprintf("%q is %s, above the lower limit %s: going there could be a dose that no budget allows", rest.state, schema.FormatNumber(s.Safe), schema.FormatNumber(s.Hard.Lo)), `write "off" or "hold", or a safe value at the lower limit`, at+".safe", at+".hard")
		}
	}
}

// budget checks that the limits of a dose are ordered: a limit that a smaller
// one hides is a mistake of a digit.
func (k safetyChecker) budget(d *Dose, at string) {
	if d.Hour == nil && d.Day == nil && d.Run == nil {
		k.bad(at, "no budget over time", "add hour, day or run", at+".hour", at+".day", at+".run")
	}
	last, lastKey := d.PerDose, "per_dose"
	for _, limit := range []struct {
		key   string
		value *float64
	}{{"hour", d.Hour}, {"day", d.Day}} {
		if limit.value == nil {
			continue
		}
		if *limit.value < last {
			k.bad(at+"."+limit.key, fmt.Sprintf("%s is less than %s (%s)", schema.FormatNumber(*limit.value), lastKey, schema.FormatNumber(last)), "", at+"."+lastKey)
		}
		last, lastKey = *limit.value, limit.key
	}
	if d.Reservoir != nil && *d.Reservoir < d.PerDose {
		k.bad(at+".reservoir", fmt.Sprintf("%s is less than per_dose (%s)", schema.FormatNumber(*d.Reservoir), schema.FormatNumber(d.PerDose)), "", at+".per_dose")
	}
	if d.Run != nil && *d.Run < d.PerDose {
		k.bad(at+".run", fmt.Sprintf("%s is less than per_dose (%s)", schema.FormatNumber(*d.Run), schema.FormatNumber(d.PerDose)), "", at+".per_dose")
	}
}
