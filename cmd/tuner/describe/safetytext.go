package describe

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// Safety prints what the safety layer does with this file.
func Safety(w *setup.Setup, t *tabwriter.Writer) {
	if slices.ContainsFunc(w.Options.Variables, func(v plan.Variable) bool { return v.Actuated && !v.Dose }) {
		fmt.Fprint(t, "\nactuator\tsafe value\ton a fault\tat the end\tdwell\tlease\twatched\n")
	}
	for i := range w.Options.Variables {
		v := &w.Options.Variables[i]
		if !v.Actuated || v.Dose {
			continue
		}
		lease := "-"
		if d := v.Limits.Lease; d > 0 {
			lease = fmt.Sprintf("%s, written again every %s", show.Duration(d), show.Duration(d/3))
		}
		dwell := "one tick"
		if v.Limits.Dwell > 0 {
			dwell = show.Duration(v.Limits.Dwell)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, show.Quantity(v.Limits.Safe, v.Unit), v.OnFault, v.Shutdown, dwell, lease, watchWords(w, i))
	}
	checkDoses(w, t)
	checkWaits(w, t)
	fmt.Fprint(t, "\ncondition\trule\treaction\tcleared\n")
	for _, line := range conditionLines(w) {
		i := safety.About(line.rule)
		reaction := i.Reaction
		if line.falls {
			reaction = safety.ReactFall
		}
		fmt.Fprintf(t, "%s\t%d %s\t%v\t%s\n", line.words, i.Number, i.Name, reaction, cleared(i))
	}
	t.Flush()
	fmt.Fprintf(t, "a hold longer than %s becomes a fallback; a stop acts at once\n", show.Duration(w.Options.Safety.HoldMax))
	if w.Config.Web == nil && (w.Config.MQTT == nil || !w.Config.MQTT.Commands) {
		fmt.Fprintln(t, "there is neither [web] nor [mqtt] with commands: tuner resume on this computer acknowledges; a trip, and a fallback for anything but an outage, end the run")
	}
	now := time.Now()
	for _, b := range w.Config.Safety.Bypasses {
		fmt.Fprintln(t, Bypass(b, now))
	}
	t.Flush()
}

// watchWords says what is watched of one actuator.
func watchWords(w *setup.Setup, i int) string {
	v := &w.Options.Variables[i]
	var out []string
	if v.Tolerance > 0 {
		out = append(out, "readback")
	}
	if v.Limits.AboveTime > 0 {
		out = append(out, fmt.Sprintf("above %s for %s at most", show.Quantity(v.Limits.Above, v.Unit), show.Duration(v.Limits.AboveTime)))
	}
	for _, d := range w.Options.Safety.Duties {
		if d.Variable == i {
			out = append(out, dutyWords(d, v.Unit))
		}
	}
	for _, d := range w.Options.Safety.Doses {
		if d.Variable == i {
			out = append(out, "dose budget")
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

// dutyWords says how much of the time a variable may be above a value.
func dutyWords(d safety.DutyLimits, unit string) string {
	return fmt.Sprintf("above %s for %s of any %s at most", show.Quantity(d.Above, unit), show.Percent(d.Fraction), show.Duration(d.Window))
}

// conditionLine is one thing that makes the safety layer react.
type conditionLine struct {
	words string
	rule  safety.Rule
	falls bool
}

// conditionLines lists everything that makes it react to this file's instrument.
func conditionLines(w *setup.Setup) (out []conditionLine) {
	s := &w.Options.Safety
	add := func(rule safety.Rule, format string, args ...any) {
		out = append(out, conditionLine{words: fmt.Sprintf(format, args...), rule: rule})
	}
	for _, c := range s.Interlocks {
		add(safety.RuleInterlock, "%s outside %s or silent", w.Options.Sensors[c.Sensor].Name, show.Interval(c.Low, c.High))
	}
	for _, c := range s.Permissives {
		add(safety.RulePermissive, "%s outside %s or silent at the start", w.Options.Sensors[c.Sensor].Name, show.Interval(c.Low, c.High))
	}
	for i := range w.Options.Sensors {
		sensorLines(w, i, add)
		if n := len(out); s.StaleFalls && n > 0 && out[n-1].rule == safety.RuleStale {
			out[n-1].falls = true
		}
	}
	for i := range w.Options.Variables {
		v := &w.Options.Variables[i]
		if v.Actuated && v.Tolerance > 0 {
			add(safety.RuleReadback, "%s does not come within %s in 4 tries of %s", v.Name, show.Quantity(v.Tolerance, v.Unit), show.Duration(v.Timeout))
			add(safety.RuleOverride, "%s is moved from outside", v.Name)
		}
		if v.Limits.AboveTime > 0 {
			add(safety.RuleExposure, "%s above %s for %s", v.Name, show.Quantity(v.Limits.Above, v.Unit), show.Duration(v.Limits.AboveTime))
		}
	}
	for _, d := range s.Duties {
		v := &w.Options.Variables[d.Variable]
		add(safety.RuleExposure, "%s above %s for more than %s of %s", v.Name, show.Quantity(d.Above, v.Unit), show.Percent(d.Fraction), show.Duration(d.Window))
	}
	for _, r := range s.Responses {
		v := &w.Options.Variables[r.Variable]
		change := v.Name + " changes by " + show.Quantity(r.Change, v.Unit)
		if v.Dose {
			change = show.Quantity(r.Change, v.Unit) + " of " + v.Name
		}
		what := "nothing moves"
		if r.Sensor >= 0 {
			what = w.Options.Sensors[r.Sensor].Name + " does not move"
		}
		add(safety.RuleResponse, "%s and %s by %s within %s", change, what, show.Number(r.Moves), show.Duration(r.Within))
	}
	for _, d := range s.Doses {
		add(safety.RuleBudget, "%s over its budget", w.Options.Variables[d.Variable].Name)
		add(safety.RuleUnknownDose, "whether a dose of %s was given is not known", w.Options.Variables[d.Variable].Name)
	}
	if s.Explore > 0 {
		add(safety.RuleExplore, "a step further than %s of the range from what is known to be safe", show.Number(s.Explore))
		add(safety.RuleViolation, "%d steps in a row break a constraint", safety.ViolationsMax)
	}
	add(safety.RuleComms, "a device that is driven is silent for %s", show.Duration(s.Comms))
	o := &w.Options.Outages
	if o.Wait {
		add(safety.RuleInstrument, "a device fails more than %s in %s, or for longer than that", times(o.Retries), show.Duration(o.Window))
		add(safety.RuleInstrument, "%d steps in a row without valid data", w.Options.FailureLimit)
	} else {
		add(safety.RuleInstrument, `a device fails, or %d steps in a row have no valid data (outage = "end": the run ends)`, w.Options.FailureLimit)
		out[len(out)-1].falls = true
	}
	if o.MinFree > 0 {
		add(safety.RuleRecord, "less than %s MB are free for the journal (a warning at twice that), or it cannot be written", show.Number(float64(o.MinFree)/1e6))
	} else {
		add(safety.RuleRecord, "the journal cannot be written (free space is not looked at)")
	}
	add(safety.RulePolicy, "the policy fails, or is late by 10s, three times in a row")
	return out
}

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// sensorLines lists what makes it react to one sensor; silence comes last.
func sensorLines(w *setup.Setup, i int, add func(safety.Rule, string, ...any)) {
	v := &w.Options.Sensors[i]
	if v.Limits.Rate > 0 {
		add(safety.RuleSpike, "3 of 5 readings of %s change faster than %s per s", v.Name, show.Quantity(v.Limits.Rate, v.Unit))
	}
	if v.Limits.Stuck > 0 {
		add(safety.RuleStuck, "%s repeats itself %d times while an actuator moves", v.Name, v.Limits.Stuck)
	}
	if v.Limits.Tolerance > 0 {
		add(safety.RuleDisagree, "%s and %s differ by more than %s for %s", v.Name, w.Options.Sensors[v.Limits.With].Name,
			show.Quantity(v.Limits.Tolerance, v.Unit), show.Duration(v.Limits.AgreeTime))
	}
	if !plan.Watched(&w.Options, i) {
		return
	}
	add(safety.RuleRange, "3 readings in a row of %s outside %s", v.Name, show.Interval(v.Low, v.High))
	add(safety.RuleStale, "%s silent for %s", v.Name, show.Duration(max(v.MaxAge, 3*w.Options.Tick)))
}

// Bypass says which rules are set aside, and for how long.
func Bypass(b configs.Bypass, now time.Time) string {
	rule := safety.About(safety.Rule(b.Rule))
	if left := b.Until.Sub(now); left <= 0 {
		return fmt.Sprintf("rule %d (%s) is active again: its bypass ended at %s", b.Rule, rule.Name, b.Until.Format(time.RFC3339))
	}
	if b.Until.Sub(now) > plan.BypassMax {
		return fmt.Sprintf("rule %d (%s) would be set aside until %s, further away than %s: tuner run refuses it", b.Rule, rule.Name, b.Until.Format(time.RFC3339), show.Duration(plan.BypassMax))
	}
	return fmt.Sprintf("rule %d (%s) is set aside until %s, at most 4 h from the start, by %s: %s", b.Rule, rule.Name, b.Until.Format(time.RFC3339), b.Who, b.Why)
}

// stopWords says what becomes of a dose that runs.
func stopWords(r plan.RestState) string {
	if r == plan.RestOff {
		return "stopped, if it can be"
	}
	return "let end"
}

// checkDoses prints the budgets of everything that adds.
func checkDoses(w *setup.Setup, t *tabwriter.Writer) {
	if len(w.Options.Safety.Doses) == 0 {
		return
	}
	amount := func(x float64, unit string) string {
		if x == 0 {
			return "-"
		}
		return show.Quantity(x, unit)
	}
	interval := func(d time.Duration) string {
		if d == 0 {
			return "-"
		}
		return show.Duration(d)
	}
	fmt.Fprint(t, "\ndose\tat once\tin an hour\tin a day\tin the run\treservoir\tapart\ton a fault\n")
	for _, d := range w.Options.Safety.Doses {
		v := &w.Options.Variables[d.Variable]
		fault := "of each rise of a setpoint"
		if v.Dose {
			fault = stopWords(v.OnFault)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, amount(d.PerDose, v.Unit), amount(d.Hour, v.Unit), amount(d.Day, v.Unit),
			amount(d.Run, v.Unit), amount(d.Reservoir, v.Unit), interval(d.MinInterval), fault)
	}
}

// waitWords say what a safe value waits for on device number i.
func waitWords(w *setup.Setup, i int) string {
	d := &w.Devices[i]
	most := d.SafeWait()
	if most == 0 {
		words := "for nothing: it overtakes what is under way"
		if d.Broker != "" {
			words += "; over a link that has died without a sign it leaves again after " + show.Duration(mqtt.BrokerWait) + ", over a new connection"
		}
		return words
	}
	words := "for the request under way, " + show.Duration(most) + " at most"
	if last := d.LastSafeWait(w.Config); last > 0 {
		words += "; the last of its actuators, which are told one after the other, " + show.Duration(last)
	}
	if d.Exit > 0 {
		if slices.ContainsFunc(w.Options.Variables, func(v plan.Variable) bool { return v.Dose && v.Channel.Device == i }) {
			words += "; for a dose until it has been given, where the child answers only then"
		}
		words += "; where the child hangs, until it has ended (" + show.Duration(most+d.Exit) + " at most) and another has started"
	}
	return words
}

// checkWaits prints what a safe value waits for on each device that is set.
func checkWaits(w *setup.Setup, t *tabwriter.Writer) {
	first := true
	for i := range w.Devices {
		d := &w.Devices[i]
		if !setup.Acts(w.Config, d.Name) || d.Build == nil {
			continue
		}
		if first {
			fmt.Fprint(t, "\ndevice\tdriver\ta safe value waits\n")
			first = false
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.Name, d.Driver, waitWords(w, i))
	}
	t.Flush()
	for i := range w.Devices {
		if d := &w.Devices[i]; d.Late != "" && setup.Acts(w.Config, d.Name) {
			fmt.Fprintf(t, "setpoints to %s that may come late, after a stall: %s\n", d.Name, d.Late)
		}
	}
	t.Flush()
}
