package configs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// direction says how a key may change while a run goes on, as its tag reload says:
// "smaller", "larger", "inside", "anyway" or "change"; with " or new" it may also appear where there
// was none: no limit before.
type direction int

const (
	smaller direction = iota
	larger
	inside
	// anyway: what the key says no longer matters to a run that has begun.
	anyway
	// changeable: whatever a file may say; see [Override].
	changeable
)

// String says what the direction asks for.
func (d direction) String() string {
	return [...]string{"be smaller", "be larger", "lie inside", "be anything", "be what a file may have"}[d]
}

// directions are the words of the tag.
var directions = map[string]direction{"smaller": smaller, "larger": larger, "inside": inside, "anyway": anyway, "change": changeable}

// Reloadable lists the keys that a running tuner takes over from a changed file, each
// with what its new value must be, such as "safety.variable.*.hard" and "lie inside"; *
// stands for any one part.
func Reloadable(known *Known) [][2]string {
	out := schema.Tagged(&Config{}, "reload", known.owner())
	for i := range out {
		how, _, _ := strings.Cut(out[i][1], " ")
		out[i][1] = directions[how].String()
	}
	return out
}

// Narrowed compares the file that a run goes by with what has become of it. changes says
// in words what is narrower, "" where nothing differs; problems what a running tuner does
// not take over, each with its line in the new file.
func (c *Config) Narrowed(next *Config) (changes []string, problems []Problem) {
	tags := schema.Tagged(&Config{}, "reload", next.known.owner())
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
		if what := refusal(tags, s.Key, old, s.Value, had); what != "" {
			problems = append(problems, next.Problem(s.Key, what, "restart the tuner to have it act"))
			continue
		}
		changes = append(changes, fmt.Sprintf("%s = %s (was %s)", s.Key, s.Value, old))
	}
	for _, s := range c.Effective() {
		if _, gone := before[s.Key]; !gone {
			continue
		}
		if refusal(tags, s.Key, s.Value, s.Value, true) == "" && strings.HasSuffix(s.Key, ".start") {
			changes = append(changes, s.Key+" left out (was "+s.Value+")")
			continue
		}
		if Changeable(s.Key, next.known) {
			changes = append(changes, s.Key+" left out (was "+s.Value+")")
			continue
		}
		problems = append(problems, next.Problem(s.Key, fmt.Sprintf("was %s and is left out: that needs a restart", s.Value), "restart the tuner to have it act"))
	}
	return changes, schema.Sorted(problems)
}

// refusal says why a running tuner does not take a value over, "" if it does.
func refusal(tags [][2]string, key, old, value string, had bool) string {
	for _, r := range tags {
		if !matches(key, r[0]) {
			continue
		}
		word, fresh := strings.CutSuffix(r[1], " or new")
		switch how := directions[word]; {
		case how == anyway || how == changeable:
			return ""
		case !had && fresh:
			return ""
		case !had:
			return fmt.Sprintf("%s was absent: that needs a restart", value)
		case !how.holds(old, value):
			return fmt.Sprintf("%s is wider than %s: a running tuner only narrows, and this must %s", value, old, how)
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
