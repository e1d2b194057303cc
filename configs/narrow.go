package configs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// tighter says of a key in which direction it may change while a run goes on.
type tighter struct {
	// key is dotted; * stands for any one part.
	key string
	// how compares the new value with the old one.
	how direction
	// fresh says that the key may also appear where there was none: no limit before.
	fresh bool
}

type direction int

const (
	smaller direction = iota
	larger
	inside
	// anyway: what the key says no longer matters to a run that has begun.
	anyway
)

// String says what the direction asks for.
func (d direction) String() string {
	return [...]string{"be smaller", "be larger", "lie inside", "be anything"}[d]
}

// reloadable lists what a running tuner takes over from a file that was changed.
func reloadable() []tighter {
	return []tighter{
		{"variable.*.range", inside, false},
		{"variable.*.start", anyway, true},
		{"stop.cost", smaller, true},
		{"stop.steps", smaller, true},
		{"stop.time", smaller, true},
		{"safety.hold_max", smaller, false},
		{"safety.comms_timeout", smaller, false},
		{"safety.safe_wait", smaller, false},
		{"safety.explore", smaller, true},
		{"safety.variable.*.hard", inside, false},
		{"safety.variable.*.slew", smaller, false},
		{"safety.variable.*.slew_up", smaller, false},
		{"safety.variable.*.slew_down", smaller, false},
		{"safety.variable.*.dwell", larger, false},
		{"safety.variable.*.exposure.above", smaller, true},
		{"safety.variable.*.exposure.time", smaller, true},
		{"safety.sensor.*.rate", smaller, true},
		{"safety.sensor.*.stuck", smaller, true},
		{"safety.sensor.*.agree.tolerance", smaller, false},
		{"safety.sensor.*.agree.time", smaller, false},
		{"safety.interlock.*.range", inside, false},
		{"safety.permissive.*.range", inside, false},
		{"safety.response.*.within", smaller, false},
		{"safety.dose.*.per_dose", smaller, false},
		{"safety.dose.*.hour", smaller, true},
		{"safety.dose.*.day", smaller, true},
		{"safety.dose.*.run", smaller, true},
		{"safety.dose.*.min_interval", larger, true},
	}
}

// Reloadable lists the keys that a running tuner takes over from a changed file, each
// with what its new value must be, such as "safety.variable.*.hard" and "lie inside".
func Reloadable() [][2]string {
	var out [][2]string
	for _, r := range reloadable() {
		out = append(out, [2]string{r.key, r.how.String()})
	}
	return out
}

// Narrowed compares the file that a run goes by with what has become of it. changes says
// in words what is narrower, "" where nothing differs; problems what a running tuner does
// not take over, each with its line in the new file.
func (c *Config) Narrowed(next *Config) (changes []string, problems []Problem) {
	before := map[string]string{}
	for _, s := range c.Effective() {
		before[s.Key] = s.Value
	}
	for _, s := range next.Effective() {
		old, had := before[s.Key]
		delete(before, s.Key)
		if had && old == s.Value {
			continue
		}
		if !had {
			old = "absent"
		}
		if what := refusal(s.Key, old, s.Value, had); what != "" {
			problems = append(problems, next.Problem(s.Key, what, "restart the tuner to have it act"))
			continue
		}
		changes = append(changes, fmt.Sprintf("%s = %s (was %s)", s.Key, s.Value, old))
	}
	for _, s := range c.Effective() {
		if _, gone := before[s.Key]; !gone {
			continue
		}
		if refusal(s.Key, s.Value, s.Value, true) == "" && strings.HasSuffix(s.Key, ".start") {
			changes = append(changes, s.Key+" left out (was "+s.Value+")")
			continue
		}
		problems = append(problems, next.Problem(s.Key, fmt.Sprintf("was %s and is left out: that needs a restart", s.Value), "restart the tuner to have it act"))
	}
	return changes, schema.Sorted(problems)
}

// refusal says why a running tuner does not take a value over, "" if it does.
func refusal(key, old, value string, had bool) string {
	for _, r := range reloadable() {
		if !matches(key, r.key) {
			continue
		}
		switch {
		case r.how == anyway:
			return ""
		case !had && r.fresh:
			return ""
		case !had:
			return fmt.Sprintf("%s was absent: that needs a restart", value)
		case !r.how.holds(old, value):
			return fmt.Sprintf("%s is wider than %s: a running tuner only narrows, and this must %s", value, old, r.how)
		}
		return ""
	}
	return fmt.Sprintf("%s, was %s: that needs a restart", value, old)
}

// holds compares two values as Effective writes them. What it cannot read is refused.
func (d direction) holds(old, value string) bool {
	a, b := numbersOf(old), numbersOf(value)
	switch {
	case len(a) == 1 && len(b) == 1 && d == smaller:
		return b[0] <= a[0]
	case len(a) == 1 && len(b) == 1 && d == larger:
		return b[0] >= a[0]
	case len(a) == 2 && len(b) == 2 && d == inside:
		return b[0] >= a[0] && b[1] <= a[1]
	}
	return false
}

// numbersOf reads a number, a duration in seconds or a list of two numbers.
func numbersOf(value string) []float64 {
	if text, err := strconv.Unquote(value); err == nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil
		}
		return []float64{d.Seconds()}
	}
	var out []float64
	for part := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil
		}
		out = append(out, x)
	}
	return out
}

// matches says whether a dotted key is one of a pattern.
func matches(key, pattern string) bool {
	parts, want := strings.Split(key, "."), strings.Split(pattern, ".")
	if len(parts) != len(want) {
		return false
	}
	for i, p := range want {
		if p != "*" && p != parts[i] {
			return false
		}
	}
	return true
}
