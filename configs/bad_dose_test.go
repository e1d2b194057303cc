package configs

import (
	"errors"
	"strings"
	"testing"
)

// doseBench is a file without fault that doses; the edits of badDoses break it.
const doseBench = `schema = 1
name = "bench"

[objective]
sensor = "growth"

[[sensor]]
name = "growth"
unit = "g"
device = "scale"
channel = "g"
range = [0.0, 10.0]
max_age = "1s"

[[sensor]]
name = "ec"
unit = "mS/cm"
device = "probe"
channel = "ec"
range = [0.0, 5.0]
max_age = "1s"

[[variable]]
name = "feed"
unit = "mL"
kind = "dose"
range = [0.0, 5.0]
resolution = 0.1
start = 2.0
device = "pump"
channel = "dose"
settle = "1m"

[[variable]]
name = "gap"
unit = "mm"
range = [1.0, 5.0]
device = "pump"
channel = "gap"
readback = { tolerance = 0.1 }

[policy]
kind = "gp-ucb"

[stop]
steps = 20

[safety.variable.gap]
hard = [0.5, 6.0]
slew = 1.0
safe = 0.5

[[safety.dose]]
variable = "feed"
unit = "mL"
per_dose = 5.0
hour = 10.0
day = 20.0
run = 50.0
reservoir = 200.0
min_interval = "1m"
on_fault = "hold"

[[safety.response]]
variable = "feed"
sensor = "ec"
change = 1.0
moves = -0.5
within = "10s"

[[device]]
name = "pump"
driver = "exec"
command = ["pump"]

[[device]]
name = "scale"
driver = "exec"
command = ["scale"]

[[device]]
name = "probe"
driver = "exec"
command = ["probe"]
`

// badDoses breaks one thing each, as badSafety does.
var badDoses = []struct{ old, new, at, want string }{
	{`per_dose = 5.0`, `per_dose = 0.0`, "per_dose =", "must be > 0"},
	{`per_dose = 5.0`, `per_dose = -1.0`, "per_dose =", "must be > 0"},
	{`per_dose = 5.0`, `per_dose = 4.0`, "per_dose =", "4 is less than the largest dose of the range, [0, 5]: such a dose would hold the run"},
	{`range = [0.0, 5.0]` + "\nresolution", `range = [6.0, 8.0]` + "\nresolution", "per_dose =", "5 is less than the least dose of the range, [6, 8]: none could ever be given"},
	{`range = [0.0, 5.0]` + "\nresolution", `range = [-1.0, 5.0]` + "\nresolution", "range = [-1.0", "a dose cannot be negative"},
	{`hour = 10.0`, `hour = 0.0`, "hour =", "must be > 0"},
	{`hour = 10.0`, `hour = 1.0`, "hour =", "1 is less than per_dose (5)"},
	{"hour = 10.0\nday = 20.0\nrun = 50.0\n", "", "[[safety.dose]]", "no budget over time"},
	{`reservoir = 200.0`, `reservoir = 1.0`, "reservoir =", "1 is less than per_dose (5)"},
	{`reservoir = 200.0`, `reservoir = 0.0`, "reservoir =", "must be > 0"},
	{`min_interval = "1m"`, `min_interval = "0s"`, "min_interval =", "must be > 0s"},
	{`on_fault = "hold"`, `on_fault = "safe"`, "on_fault =", "on_fault"},
	{`unit = "mL"` + "\nper_dose", `unit = "mg"` + "\nper_dose", `unit = "mg"`, `"mg" is not the unit of variable feed, "mL"`},
	{`settle = "1m"`, `on_release = "hold"`, "on_release =", "a step that does not control a dose gives none"},
	{`settle = "1m"`, `when_random = { distribution = "uniform" }`, "when_random =", "a step that does not control a dose gives none: that is known"},
	{`settle = "1m"`, `readback = { tolerance = 0.1 }`, "readback = { tolerance = 0.1 }", "is no place to be at"},
	{`[safety.variable.gap]`, "[safety.variable.feed]\nhard = [0.0, 5.0]\nslew = 2.0\nsafe = 0.0\n\n[safety.variable.gap]", "slew = 2.0", "there is no slew"},
	{`[safety.variable.gap]`, "[safety.variable.feed]\nhard = [0.0, 5.0]\nsafe = 0.0\n\n[safety.variable.gap]", "[safety.variable.feed]", "no limits but its range and its budget"},
	{"sensor = \"ec\"\nchange", "change", "[[safety.response]]", "a dose, which has no readback: only a sensor can show it"},
	{`moves = -0.5`, `moves = -6.0`, "moves =", "no change could ever show"},
	{`moves = -0.5`, `moves = 0.0`, "moves =", "must not be 0"},
	{`change = 1.0`, `change = 6.0`, "change =", "it would never be checked"},
	{`start = 2.0`, `start = 6.0`, "start =", "6 lies outside the range [0, 5]"},
	{`resolution = 0.1`, `levels = [-1.0, 2.0]`, "levels =", "-1 lies outside the range [0, 5]"},
	{"resolution = 0.1", "integer = true\nresolution = 0.1", "resolution =", "the resolution of an integer must be whole"},
	{"resolution = 0.1\nstart = 2.0", "integer = true\nstart = 2.5", "start =", "must be a whole number"},
	{`kind = "dose"`, `kind = "amount"`, "kind =", "kind"},
	{"device = \"pump\"\nchannel = \"dose\"", `sensor = "growth"`, "kind =", "a variable that nothing sets cannot be a dose"},
}

// TestBadDoses: each problem of a dose is told at its line.
func TestBadDoses(t *testing.T) {
	if _, err := Parse("bench.toml", []byte(doseBench), known()); err != nil {
		t.Fatalf("the file that the others are made from: %v", err)
	}
	for _, c := range badDoses {
		if n := strings.Count(doseBench, c.old); n != 1 {
			t.Fatalf("%q stands %d times in the file", c.old, n)
		}
		text := strings.Replace(doseBench, c.old, c.new, 1)
		_, err := Parse("bench.toml", []byte(text), known())
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%q for %q: %v, want a problem", c.new, c.old, err)
			continue
		}
		line, found := lineOf(text, c.at), false
		for _, p := range bad.Problems {
			found = found || p.Line == line && strings.Contains(p.String(), c.want)
		}
		if !found {
			t.Errorf("%q for %q: %v; want line %d and %q", c.new, c.old, err, line, c.want)
		}
	}
}

// TestDosesLeftOut: what a control set leaves out gets a dose of 0, which must be in its
// range; a dose without budget or response, and a budget's on_fault for another kind of
// variable, are refused.
func TestDosesLeftOut(t *testing.T) {
	sets := "\n[[control_set]]\nvariables = [\"gap\"]\n[[control_set]]\nvariables = [\"gap\", \"feed\"]\n"
	least := strings.Replace(doseBench, "range = [0.0, 5.0]\nresolution", "range = [1.0, 5.0]\nresolution", 1)
	before, after, _ := strings.Cut(doseBench, "[[safety.dose]]")
	_, rest, _ := strings.Cut(after, "[[device]]")
	for _, c := range []struct{ text, want string }{
		{least + sets, "control set 1 leaves feed out, which is a dose of 0, outside [1, 5]"},
		{before + "[[device]]" + rest, "missing [[safety.dose]]: what cannot be taken back needs a budget"},
		{before + "[[device]]" + rest, "missing [[safety.response]]: a dose must show somewhere"},
		{strings.Replace(doseBench, `kind = "dose"`, "readback = { tolerance = 0.1 }", 1), "on_fault: variable feed is not of kind dose"},
	} {
		if _, err := Parse("bench.toml", []byte(c.text), known()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := Parse("bench.toml", []byte(doseBench+sets), known()); err != nil && strings.Contains(err.Error(), "dose") {
		t.Errorf("a dose from 0 on that a set leaves out: %v", err)
	}
}
