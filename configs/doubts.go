package configs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Doubts lists what is legal in the file and looks like a slip: limits that limit nothing, times
// that are longer than a person would wait, two sections that say the same, one shot to learn noise from,
// a budget that leaves a part of the file without effect.
// Each has its line, and what to do if it was not meant.
func (c *Config) Doubts() []Problem {
	d := doubter{checker{cfg: c, Walker: schema.NewWalker(c.loc, c.known.enum, nil)}}
	for i := range c.Variables {
		v := &c.Variables[i]
		if s, ok := c.Safety.Variables[v.Name]; ok && v.HasActuator() && v.Kind != "dose" {
			d.actuator(v, &s, schema.Item("variable", i), schema.Join("safety.variable", v.Name))
		}
	}
	d.doubtful()
	d.patience()
	d.singleShots()
	d.budgets()
	for _, name := range slices.Sorted(maps.Keys(c.Safety.Sensors)) {
		d.sensor(name, c.Safety.Sensors[name])
	}
	d.conditions()
	for i := range c.Safety.Responses {
		d.response(i)
	}
	for i := range c.Safety.Doses {
		d.dose(&c.Safety.Doses[i], schema.Item("safety.dose", i))
	}
	d.bypasses()
	return schema.Sorted(d.Problems)
}

// doubter collects doubts as a checker collects problems.
type doubter struct{ checker }

// outlasts doubts a time that is longer than the whole run.
func (k *doubter) outlasts(at string, t time.Duration) {
	if run := k.runTime(); run > 0 && t > run {
		k.bad(at, fmt.Sprintf("%s is longer than the whole run (%s)", schema.FormatDuration(t), schema.FormatDuration(run)), "shorten it, or leave it out")
	}
}

// pointless is how often a limit may be multiplied before it cannot be meant.
const pointless = 1000

func (k *doubter) actuator(v *Variable, s *SafetyVariable, variable, at string) {
	for _, slew := range []struct {
		key   string
		value *float64
	}{{"slew", s.Slew}, {"slew_up", s.SlewUp}, {"slew_down", s.SlewDown}} {
		if slew.value == nil {
			continue
		}
		way := v.Range.Width() / *slew.value // in seconds
		switch run := k.runTime(); {
		case way*pointless < k.cfg.Tick.Seconds():
			k.bad(at+"."+slew.key, fmt.Sprintf("%s %s per second crosses the range %s in %.3g s, within one tick: it limits nothing", schema.FormatNumber(*slew.value), v.Unit, schema.FormatRange(v.Range), way), "write the fastest change that the instrument bears")
		case run > 0 && way > run.Seconds():
			k.bad(at+"."+slew.key, fmt.Sprintf("%s %s per second: the way over the range %s takes longer than the whole run (%s)", schema.FormatNumber(*slew.value), v.Unit, schema.FormatRange(v.Range), schema.FormatDuration(run)), "slew is in units per second, not per minute or hour")
		case way > (24 * time.Hour).Seconds():
			k.bad(at+"."+slew.key, fmt.Sprintf("%s %s per second: the way over the range %s takes %.3g days", schema.FormatNumber(*slew.value), v.Unit, schema.FormatRange(v.Range), way/86400), "slew is in units per second, not per minute or hour")
		}
		if v.Resolution != nil && *slew.value*k.cfg.Tick.Seconds()*pointless*60 < *v.Resolution {
			k.bad(at+"."+slew.key, fmt.Sprintf("%s %s per second: one step of the resolution (%s) takes %.3g s", schema.FormatNumber(*slew.value), v.Unit, schema.FormatNumber(*v.Resolution), *v.Resolution / *slew.value), "slew is in units per second, not per minute or hour")
		}
	}
	k.outlasts(variable+".settle", v.Settle)
	if s.Hard.Width() > pointless*v.Range.Width() {
		k.bad(at+".hard", fmt.Sprintf("%s is more than %d times as wide as the range %s: it limits nothing", schema.FormatRange(s.Hard), pointless, schema.FormatRange(v.Range)), "write the limits of the instrument")
	}
	if tol := v.Readback.Tolerance; tol >= v.Range.Width()/4 {
		k.bad(variable+".readback.tolerance", fmt.Sprintf("%s is a quarter of the range %s or more: most setpoints count as reached before anything has moved", schema.FormatNumber(tol), schema.FormatRange(v.Range)), "write how close the actuator comes")
	}
	if t := v.Readback.Timeout; t < k.cfg.Tick {
		k.bad(variable+".readback", fmt.Sprintf("timeout is %s by default, shorter than a tick (%s): setpoints are sent again before a reading can come", schema.FormatDuration(t), schema.FormatDuration(k.cfg.Tick)), "write the timeout that fits the tick")
	}
	if e := s.Exposure; e != nil {
		k.outlasts(at+".exposure.time", e.Time)
		if e.Time < k.cfg.Tick {
			k.bad(at+".exposure.time", fmt.Sprintf("%s is shorter than a tick (%s): any setpoint above %s falls back", schema.FormatDuration(e.Time), schema.FormatDuration(k.cfg.Tick), schema.FormatNumber(e.Above)), "a hard limit says the same without a fallback", "tick")
		}
	}
	if u := s.Duty; u != nil {
		k.outlasts(at+".duty.window", u.Window)
		if t := u.Fraction * u.Window.Seconds(); t < k.cfg.Tick.Seconds() {
			k.bad(at+".duty.fraction", fmt.Sprintf("%s of %s is %.3g s, less than a tick (%s): any setpoint above %s falls back", schema.FormatNumber(u.Fraction), schema.FormatDuration(u.Window), t, schema.FormatDuration(k.cfg.Tick), schema.FormatNumber(u.Above)), "a hard limit says the same without a fallback", "tick")
		}
	}
	if v.OnRelease == "park" && !v.Range.Contains(s.Safe) {
		k.bad(at+".safe", fmt.Sprintf("%s is where %s is parked, outside the range %s that decisions are made in", schema.FormatNumber(s.Safe), v.Name, schema.FormatRange(v.Range)), "", variable+".range")
	}
}

// patience doubts times after which nobody is at the instrument any more.
func (k *doubter) patience() {
	s := &k.cfg.Safety
	if t := k.cfg.Objective.Timeout; t > 0 && t < k.cfg.Tick {
		k.bad("objective.timeout", fmt.Sprintf("%s is shorter than a tick (%s): a shot that does not come at once is given up", schema.FormatDuration(t), schema.FormatDuration(k.cfg.Tick)), "")
	}
	if t := k.cfg.Policy.Deadline; t > time.Minute {
		k.bad("policy.deadline", fmt.Sprintf("%s: the instrument may stand so long at a setting until a search is cut", schema.FormatDuration(t)), "tuner check says what decisions take on this computer")
	}
	if retries := value[int](k.cfg, "safety.retries"); retries > 100 {
		k.bad("safety.retries", fmt.Sprintf("%d: a device may fail so often in %s without anything being held", retries, schema.FormatDuration(value[time.Duration](k.cfg, "safety.retry_window"))), "")
	}
	if s.Explore != nil && *s.Explore < 1e-3 {
		k.bad("safety.explore", fmt.Sprintf("%s of the range at a step: a run hardly leaves where it began", schema.FormatNumber(*s.Explore)), "it is a fraction of the range, not a percentage")
	}
	if k.given("journal.min_free") && k.cfg.Journal.MinFree == 0 {
		k.bad("journal.min_free", "0: a full disk is noticed only when a record fails", "leave it out for 50 MB")
	}
}

// singleShots doubts a noise that is learnt from the model's own errors, and from nothing else.
func (k *doubter) singleShots() {
	if risk := k.cfg.Policy.Risk; risk != nil && *risk > 0 && k.cfg.Objective.Shots < 2 && k.cfg.Policy.Parts().Noise != NoiseKnown {
		k.bad("objective.shots", "1: the noise that risk weighs is known by the model's own errors alone, and a lucky shot can pass for a good setting", "write shots = 4 or more")
	}
}

func (k *doubter) sensor(name string, s SafetySensor) {
	at := schema.Join("safety.sensor", name)
	of, _ := k.cfg.Sensor(name)
	if rate := value[float64](k.cfg, at+".rate"); rate > 0 {
		switch across := of.Range.Width() / rate; {
		case across*pointless < k.cfg.Tick.Seconds():
			k.bad(at+".rate", fmt.Sprintf("%s %s per second crosses the sensor's range within one tick: no reading is ever a spike", schema.FormatNumber(rate), of.Unit), "")
		case across > yearsMax.Seconds():
			k.bad(at+".rate", fmt.Sprintf("%s %s per second: any noise is a spike", schema.FormatNumber(rate), of.Unit), "rate is in units per second")
		}
	}
	if stuck := value[int](k.cfg, at+".stuck"); stuck > 1_000_000 {
		k.bad(at+".stuck", fmt.Sprintf("%d identical readings never come together", stuck), "")
	}
}

// conditions doubts interlocks that are seen late, or that say what another says.
func (k *doubter) conditions() {
	s := &k.cfg.Safety
	stay := len(k.cfg.Variables) > 0
	for i := range k.cfg.Variables {
		v := &k.cfg.Variables[i]
		limits := s.Variables[v.Name]
		stay = stay && (!v.HasActuator() || v.Kind != "dose" && limits.OnFault == "hold" && limits.Lease == nil)
	}
	if stay && len(s.Interlocks) > 0 {
		k.bad(schema.Item("safety.interlock", 0), `trips, and every actuator has on_fault = "hold": nothing moves then`, `write on_fault = "safe" or "off" for those that the interlock is about`)
	}
	for section, list := range map[string][]Interlock{"safety.interlock": s.Interlocks, "safety.permissive": s.Permissives} {
		for i, c := range list {
			at := schema.Item(section, i)
			sensor, _ := k.cfg.Sensor(c.Sensor)
			if j := slices.IndexFunc(k.cfg.Sensors, func(other Sensor) bool { return other.Name == c.Sensor }); section == "safety.interlock" {
				if sensor.MaxAge > 10*time.Minute {
					k.bad(schema.Item("sensor", j)+".max_age", schema.FormatDuration(sensor.MaxAge)+" is longer than ten minutes: for that long a cut wire of an interlock goes unnoticed", "")
				}
			}
			if c.Range.Lo == sensor.Range.Hi || c.Range.Hi == sensor.Range.Lo {
				k.bad(at+".range", fmt.Sprintf("%s and the sensor's range %s have one value in common: any noise breaks it", schema.FormatRange(c.Range), schema.FormatRange(sensor.Range)), "")
			}
			for j := range i {
				if list[j].Sensor == c.Sensor && (c.Range.Covers(list[j].Range) || list[j].Range.Covers(c.Range)) {
					k.bad(at, fmt.Sprintf("says what the one on line %d says too", k.Loc.Line(schema.Item(section, j))), "remove one of them")
				}
			}
		}
	}
}

func (k *doubter) response(i int) {
	s := &k.cfg.Safety
	r, at := &s.Responses[i], schema.Item("safety.response", i)
	v, _ := k.cfg.Variable(r.Variable)
	for j := range i {
		if other := &s.Responses[j]; other.Variable == r.Variable && other.Sensor == r.Sensor {
			k.bad(at, fmt.Sprintf("asks for what the one on line %d asks for too", k.Loc.Line(schema.Item("safety.response", j))), "remove one of them")
		}
	}
	k.outlasts(at+".within", r.Within)
	if sensor, ok := k.cfg.Sensor(r.Sensor); ok && r.Within < sensor.MaxAge {
		k.bad(at+".within", fmt.Sprintf("%s is shorter than the max_age of %s (%s): the newest reading may be from before the change", schema.FormatDuration(r.Within), sensor.Name, schema.FormatDuration(sensor.MaxAge)), "")
	}
	if r.Change < 1e-6*v.Range.Width() {
		k.bad(at+".change", fmt.Sprintf("%s is next to nothing of the range %s: every move must show", schema.FormatNumber(r.Change), schema.FormatRange(v.Range)), "write the smallest change that the sensor can show")
	}
	if v.Kind == "dose" && r.Change > v.Range.Lo+v.Range.Width()/2 {
		k.bad(at+".change", fmt.Sprintf("doses below %s are not looked at, which is most of the range %s", schema.FormatNumber(r.Change), schema.FormatRange(v.Range)), "write the smallest dose that the sensor can show")
	}
	if r.Sensor == "" && r.Moves <= v.Readback.Tolerance {
		k.bad(at+".moves", fmt.Sprintf("%s is within the readback's tolerance (%s): noise alone may show it", schema.FormatNumber(r.Moves), schema.FormatNumber(v.Readback.Tolerance)), "")
	}
}

// dose doubts budgets that can never be used up.
func (k *doubter) dose(d *Dose, at string) {
	least := k.cfg.Tick
	if d.MinInterval != nil {
		least = max(least, *d.MinInterval)
		k.outlasts(at+".min_interval", least)
	}
	for _, budget := range []struct {
		key   string
		value *float64
		time  time.Duration
	}{{"hour", d.Hour, time.Hour}, {"day", d.Day, 24 * time.Hour}, {"run", d.Run, yearsMax}, {"reservoir", d.Reservoir, yearsMax}} {
		if budget.value == nil {
			continue
		}
		if most := d.PerDose * (1 + math.Floor(budget.time.Seconds()/least.Seconds())); *budget.value > most {
			k.bad(at+"."+budget.key, fmt.Sprintf("%s is more than doses of %s every %s can come to, %.4g in %s: it limits nothing", schema.FormatNumber(*budget.value), schema.FormatNumber(d.PerDose), schema.FormatDuration(least), most, schema.FormatDuration(budget.time)), "")
		}
	}
	if v, ok := k.cfg.Variable(d.Variable); ok && d.PerDose > pointless*v.Range.Hi && v.Range.Hi > 0 {
		k.bad(at+".per_dose", fmt.Sprintf("%s is more than %d times the largest value of the range %s: it limits nothing", schema.FormatNumber(d.PerDose), pointless, schema.FormatRange(v.Range)), "")
	}
}

// bypasses doubts one of a rule that the file does not use.
func (k *doubter) bypasses() {
	s := &k.cfg.Safety
	has := func(key string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(s.Sensors)), func(name string) bool {
			return k.given(schema.Join("safety.sensor", name) + "." + key)
		})
	}
	used := map[int]bool{
		8: has("rate"), 9: has("stuck"), 10: has("agree"),
		11: len(s.Responses) > 0, 13: len(s.Interlocks) > 0, 14: len(s.Permissives) > 0,
		21: slices.ContainsFunc(slices.Collect(maps.Values(s.Variables)), func(v SafetyVariable) bool { return v.Exposure != nil || v.Duty != nil }),
	}
	for i, b := range s.Bypasses {
		if use, known := used[b.Rule]; known && !use {
			k.bad(schema.Item("safety.bypass", i)+".rule", fmt.Sprintf("rule %d has nothing to look at in this file: there is nothing to set aside", b.Rule), "is another rule meant?")
		}
	}
}
