package configs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
	"github.com/labtuner/tuner/configs/internal/tricky"
)

const smallText = `schema = 1
name = "bench"
objective.sensor = "power"
stop.steps = 3
policy.kind = "random"

[[sensor]]
name = "power"
unit = "W"
device = "meter"
channel = "p"
range = [0, 1]
max_age = "1m30s"

[[variable]]
name = "gap"
unit = "mm"
range = [0, 1.5]
device = "meter"
channel = "z"
readback.tolerance = 0.1

[safety]
explore = 0.1
comms_timeout = "336h"
[safety.variable.gap]
hard = [0, 2]
slew_up = 1
slew_down = 2
safe = 0
exposure = { above = 1, time = "1h" }
on_fault = "safe"
[[safety.bypass]]
rule = 8
who = "A. Person"
why = "new probe"
until = 2026-03-01T18:00:00+01:00
[[device]]
name = "meter"
driver = "exec"
`

// TestParseFillsEveryKind compares a whole file with the values it says, key by
// key: every kind of value that the walker knows, and the defaults around them.
func TestParseFillsEveryKind(t *testing.T) {
	c, err := Parse("dir/bench.toml", []byte(smallText), known())
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Name, want.File, want.Dir = "bench", "dir/bench.toml", "dir"
	want.Objective.Sensor = "power"
	want.Objective.Timeout = 15 * time.Minute // ten times max_age
	want.Stop.Steps = new(3)
	want.Policy.Kind, want.Policy.Schedule, want.Policy.known = "random", "none", c.Policy.known
	want.Sensors = []Sensor{{Name: "power", Unit: "W", Device: "meter", Channel: "p", Range: Range{Lo: 0, Hi: 1}, MaxAge: 90 * time.Second, MaxSkew: 90 * time.Second}}
	gap := Variable{Name: "gap", Unit: "mm", Range: Range{Lo: 0, Hi: 1.5}, Device: "meter", Channel: "z"}
	schema.SetDefaults(&gap)
	gap.Readback.Tolerance = 0.1
	want.Variables = []Variable{gap}
	want.Safety.Explore = new(0.1)
	limits := SafetyVariable{Hard: Range{Lo: 0, Hi: 2}, SlewUp: new(1.0), SlewDown: new(2.0), Exposure: &Exposure{Above: 1, Time: time.Hour}}
	schema.SetDefaults(&limits)
	limits.OnFault = "safe"
	want.Safety.Variables = map[string]SafetyVariable{"gap": limits}
	want.Safety.Bypasses = []Bypass{{Rule: 8, Who: "A. Person", Why: "new probe", Until: time.Date(2026, 3, 1, 17, 0, 0, 0, time.UTC)}}

	if got := c.Safety.Bypasses[0].Until; !got.Equal(want.Safety.Bypasses[0].Until) {
		t.Errorf("until %v, want %v", got, want.Safety.Bypasses[0].Until)
	}
	c.Safety.Bypasses[0].Until = want.Safety.Bypasses[0].Until
	if got := value[time.Duration](c, "safety.comms_timeout"); got != 14*24*time.Hour {
		t.Errorf("comms_timeout, which the safety layer owns, is %v", got)
	}
	if len(c.Devices) != 1 || c.Devices[0].Name != "meter" || c.Devices[0].Driver != "exec" {
		t.Errorf("devices %+v", c.Devices)
	}
	c.Devices, c.Text, c.SHA256, c.loc, c.known, c.owned = nil, nil, "", nil, nil, nil
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	up, down := c.Safety.Variables["gap"].Slews()
	if up != 1 || down != 2 {
		t.Errorf("slews %v, %v", up, down)
	}
}

// problemsOf parses a text that has problems.
func problemsOf(t *testing.T, text string) []Problem {
	t.Helper()
	_, err := Parse("x.toml", []byte(text), known())
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	return e.Problems
}

// TestMisspeltKeyMakesOneProblem: a typing error in a required key must not also
// be reported as the key's absence, nor as what follows from it.
func TestMisspeltKeyMakesOneProblem(t *testing.T) {
	for _, key := range []string{
		"name = \"bench\"", "sensor = \"power\"", "steps = 3", "kind = \"random\"", "unit = \"W\"", "device = \"meter\"\nchannel = \"p\"",
		"range = [0, 1]", "max_age = ", "range = [0, 1.5]", "hard = ", "slew_up = ", "safe = 0", "who = ", "driver = ", "tolerance = ", "name = \"power\"", "name = \"meter\"",
	} {
		if strings.Count(smallText, key) != 1 && key != "sensor = \"power\"" {
			t.Fatalf("%q is not unique", key)
		}
		i := strings.Index(smallText, key)
		// Double the second letter.
		text := smallText[:i+2] + smallText[i+1:i+2] + smallText[i+2:]
		problems := problemsOf(t, text)
		line := 1 + strings.Count(smallText[:i], "\n")
		if len(problems) != 1 || problems[0].Line != line || !strings.HasPrefix(problems[0].Hint, "did you mean") {
			t.Errorf("%q misspelt on line %d:\n%s", key, line, render(&Error{Problems: problems}))
		}
	}
}

// TestEveryIsBelowTheLongestWait: shots that are further apart than one is waited for are refused, also where the
// wait is not in the file: ten times max_age.
func TestEveryIsBelowTheLongestWait(t *testing.T) {
	for every, refused := range map[string]bool{"300ms": false, "14m59s": false, "15m": true, "1h": true} {
		text := strings.Replace(smallText, "stop.steps", "objective.every = \""+every+"\"\nstop.steps", 1)
		_, err := Parse("x.toml", []byte(text), known())
		if got := err != nil && strings.Contains(err.Error(), "is no less than 15m, the longest wait for a shot"); got != refused || err != nil && !refused {
			t.Errorf("every %s: %v", every, err)
		}
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	text := strings.NewReplacer(
		"steps = 3", "steps = -3",
		"unit = \"W\"\n", "",
		"hard = [0, 2]", "hard = [0, 1]",
		"slew_up = 1", "slew_up = \"fast\"",
		"rule = 8", "rule = 8\nwhen = \"now\"",
	).Replace(smallText)
	var keys []string
	for _, p := range problemsOf(t, text) {
		keys = append(keys, p.Key)
	}
	want := []string{"stop.steps", "sensor.power.unit", "safety.variable.gap.hard", "safety.variable.gap.slew_up", "safety.bypass.1.when"}
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("problems of %q, want %q", keys, want)
	}
}

// FuzzParse looks for a text on which reading panics, and for a problem that
// points outside of the file.
func FuzzParse(f *testing.F) {
	f.Add(smallText)
	f.Add(deviceText)
	for _, text := range tricky.TOML {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x.toml", []byte(text), known())
		if err == nil {
			c.Effective()
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) == 0 {
			t.Fatalf("error %v, want an *Error with problems", err)
		}
		lines := 1 + strings.Count(text, "\n")
		for _, p := range e.Problems {
			if p.Line < 0 || p.Line > lines || p.What == "" {
				t.Errorf("problem %+v in a file of %d lines", p, lines)
			}
		}
	})
}
