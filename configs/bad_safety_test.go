package configs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// safeBench is a file without fault; the edits of badSafety break it.
const safeBench = `schema = 1
name = "bench"

[objective]
sensor = "power"
shots = 4

[[sensor]]
name = "power"
unit = "W"
device = "meter"
channel = "p"
range = [0.0, 10.0]
max_age = "1s"

[[sensor]]
name = "door"
unit = "1"
device = "meter"
channel = "d"
range = [0.0, 1.0]
max_age = "1s"

[[variable]]
name = "gap"
unit = "mm"
range = [1.0, 5.0]
start = 2.0
device = "stage"
channel = "z"
readback = { tolerance = 0.1, timeout = "2s" }

[policy]
kind = "rahbo"
risk = 0.5

[stop]
steps = 20

[safety]
hold_max = "30s"
comms_timeout = "30s"
on_stale = "hold"

[safety.variable.gap]
hard = [0.5, 6.0]
slew = 1.0
safe = 0.5
dwell = "1s"
lease = "3s"
on_fault = "safe"
exposure = { above = 4.0, time = "10s" }

[safety.sensor.door]
rate = 1.0
stuck = 20

[[safety.interlock]]
sensor = "door"
range = [0.5, 1.0]

[[safety.permissive]]
sensor = "power"
range = [0.0, 9.0]

[[safety.response]]
variable = "gap"
sensor = "power"
change = 1.0
moves = 0.5
within = "10s"

[[safety.dose]]
variable = "gap"
unit = "mm"
per_dose = 2.0
hour = 10.0
day = 20.0
run = 50.0
min_interval = "1m"

[[safety.bypass]]
rule = 13
who = "A. Person"
why = "door switch is being replaced"
until = 2026-03-01T18:00:00Z

[[device]]
name = "meter"
driver = "mqtt"
broker = "tcp://127.0.0.1:1883"
[device.channel.p]
read = { topic = "bench/p" }
[device.channel.d]
read = { topic = "bench/d" }

[[device]]
name = "stage"
driver = "mqtt"
broker = "tcp://127.0.0.1:1883"
[device.channel.z]
read = { topic = "bench/z" }
write = { topic = "bench/z/set" }
`

// badSafety breaks one thing each: a line of safeBench becomes another (or goes),
// and the problem belongs to the line that contains at.
var badSafety = []struct{ old, new, at, want string }{
	{`hard = [0.5, 6.0]`, `hard = [6.0, 0.5]`, "hard =", "safety.variable.gap.hard: "},
	{`hard = [0.5, 6.0]`, `hard = [2.0, 2.0]`, "hard =", "safety.variable.gap.hard: "},
	{`hard = [0.5, 6.0]`, `hard = [nan, 6.0]`, "hard =", "must be a finite number, got nan"},
	{`hard = [0.5, 6.0]`, `hard = [0.5, inf]`, "hard =", "must be a finite number, got +inf"},
	{`hard = [0.5, 6.0]`, `hard = [0.5, 4.5]`, "hard =", "does not contain the variable's range"},
	{`hard = [0.5, 6.0]`, ``, "[safety.variable.gap]", "hard: missing"},
	{`safe = 0.5`, `safe = 7.0`, "safe =", "7 lies outside the hard limits [0.5, 6]"},
	{`safe = 0.5`, `safe = nan`, "safe =", "safety.variable.gap.safe: "},
	{`safe = 0.5`, ``, "[safety.variable.gap]", "safe: missing"},
	{`slew = 1.0`, `slew = 0.0`, "slew =", "must be > 0"},
	{`slew = 1.0`, `slew = -1.0`, "slew =", "must be > 0"},
	{`slew = 1.0`, `slew_up = 1.0`, "[safety.variable.gap]", "slew_down: missing beside slew_up"},
	{`slew = 1.0`, ``, "[safety.variable.gap]", "missing: the fastest change, in mm per second"},
	{`dwell = "1s"`, `dwell = "-1s"`, "dwell =", "must be >= 0s"},
	{`dwell = "1s"`, `dwell = 1.0`, "dwell =", "safety.variable.gap.dwell: "},
	{`lease = "3s"`, `lease = "200ms"`, "lease =", "200ms is shorter than three ticks (300ms)"},
	{`lease = "3s"`, `lease = "0s"`, "lease =", "must be > 0s"},
	{`on_fault = "safe"`, `on_fault = "stop"`, "on_fault =", "safety.variable.gap.on_fault: "},
	{`exposure = { above = 4.0, time = "10s" }`, `exposure = { above = 8.0, time = "10s" }`, "exposure", "8 lies outside the hard limits"},
	{`exposure = { above = 4.0, time = "10s" }`, `exposure = { above = 4.0 }`, "exposure", "time: missing"},
	{`exposure = { above = 4.0, time = "10s" }`, `exposure = { above = 3.0, time = "10s" }` + "\nduty = { above = 8.0, fraction = 0.2, window = \"1m\" }", "duty", "8 lies outside the hard limits"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = 1.0, window = "1m" }`, "duty", "fraction: must be > 0 and < 1, got 1"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = 0.2, window = "1s" }`, "duty", "1s is shorter than 20 ticks (2s)"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = 0.2 }`, "duty", "window: missing"},
	{`lease = "3s"` + "\non_fault = \"safe\"", `on_fault = "hold"`, "on_fault", "leaves the variable above 4 when exposure says that it must come down"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 0.4, fraction = 0.2, window = "1m" }`, "duty", "0.4 lies outside the hard limits"},
	{`hold_max = "30s"`, `hold_max = "10ms"`, "hold_max =", "10ms is shorter than a tick (100ms)"},
	{`hold_max = "30s"`, `hold_max = "0s"`, "hold_max =", "must be > 0s"},
	{`hold_max = "30s"`, "hold_max = \"30s\"\nsafe_wait = \"0s\"", "safe_wait =", "must be > 0s"},
	{`comms_timeout = "30s"`, `comms_timeout = "200ms"`, "comms_timeout =", "every late answer would be a lost link"},
	{`on_stale = "hold"`, `on_stale = "ignore"`, "on_stale =", "safety.on_stale: "},
	{`on_stale = "hold"`, `on_stail = "hold"`, "on_stail", "unknown key"},
	{`stuck = 20`, `stuck = 1`, "stuck =", "must be >= 2"},
	{`rate = 1.0`, `rate = 0.0`, "rate =", "must be > 0"},
	{`[safety.sensor.door]`, `[safety.sensor.window]`, "[safety.sensor.window]", "window"},
	{"[[safety.interlock]]\nsensor = \"door\"", `[[safety.interlock]]`, "[[safety.interlock]]", "sensor: missing"},
	{"[[safety.interlock]]\nsensor = \"door\"", "[[safety.interlock]]\nsensor = \"gate\"", `sensor = "gate"`, "gate"},
	{`range = [0.5, 1.0]`, `range = [2.0, 3.0]`, "range = [2.0", "safety.interlock.1.range: "},
	{`range = [0.5, 1.0]`, `range = [0.0, 1.0]`, "range = [0.0, 1.0]+2", "it would only notice silence"},
	{`change = 1.0`, `change = 9.0`, "change =", "9 is more than the whole range [1, 5]"},
	{`moves = 0.5`, `moves = 50.0`, "moves =", "no change could ever show"},
	{`moves = 0.5`, `moves = 0.0`, "moves =", "must not be 0"},
	{`within = "10s"`, `within = "10ms"`, "within =", "10ms is shorter than a tick (100ms)"},
	{`unit = "mm"` + "\nper_dose", `unit = "cm"` + "\nper_dose", `unit = "cm"`, `"cm" is not the unit of variable gap, "mm"`},
	{`unit = "mm"` + "\nper_dose", `per_dose`, "[[safety.dose]]", "unit: missing"},
	{`per_dose = 2.0`, `per_dose = 0.0`, "per_dose =", "must be > 0"},
	{`hour = 10.0`, `hour = 1.0`, "hour =", "1 is less than per_dose (2)"},
	{`day = 20.0`, `day = 5.0`, "day =", "5 is less than hour (10)"},
	{"hour = 10.0\nday = 20.0\nrun = 50.0\n", "", "[[safety.dose]]", "no budget over time"},
	{`safe = 0.5`, `safe = 1.0`, "on_fault =", "going there could be a dose that no budget allows"},
	{`rule = 13`, `rule = 2`, "rule =", "rule 2 can never be bypassed"},
	{`rule = 13`, `rule = 20`, "rule =", "rule 20 can never be bypassed"},
	{`until = 2026-03-01T18:00:00Z`, ``, "[[safety.bypass]]", "until: missing"},
	{`who = "A. Person"`, ``, "[[safety.bypass]]", "who: missing"},
	{`slew = 1.0`, `slew = 1e-300`, "slew =", "the way over the range [1, 5] takes more than a year"},
	{`slew = 1.0`, "slew_up = 1.0\nslew_down = 1e-9", "slew_down =", "the way over the range [1, 5] takes more than a year"},
	{`slew = 1.0`, `slew = inf`, "slew =", "must be a finite number, got +inf"},
	{`slew = 1.0`, `slew = "1s"`, "slew =", "must be a number"},
	{`hard = [0.5, 6.0]`, `hard = ["0.5 mm", 6.0]`, "hard =", "must be a number, got the text \"0.5 mm\""},
	{`hard = [0.5, 6.0]`, `hard = [0.5, 6.0, 7.0]`, "hard =", "must be a list of two numbers"},
	{"hard = [0.5, 6.0]\nslew = 1.0\nsafe = 0.5", "hard = [-1e308, 1e308]\nslew = 1.0\nsafe = -1e308", "hard =", "wider than numbers can tell"},
	{`timeout = "2s"`, `timeout = "10ms"`, "timeout =", "10ms is shorter than a tick (100ms): no reading could come in time"},
	{`readback = { tolerance = 0.1, timeout = "2s" }`, `readback = { tolerance = 9.0, timeout = "2s" }`, "tolerance =", "every readback would count as arrived"},
	{"[stop]\nsteps = 20", "[stop]\ntime = \"1s\"", "dwell =", "1s is as long as the run (1s): nothing could be changed a second time"},
	{`above = 4.0`, `above = 6.0`, "exposure", "6 is the upper hard limit: nothing is ever above it"},
	{`above = 4.0`, `above = 0.7`, "exposure", "the whole range [1, 5] is above 0.7"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 6.0, fraction = 0.2, window = "1m" }`, "duty", "6 is the upper hard limit"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = nan, window = "1m" }`, "duty", "must be a finite number, got nan"},
	{`range = [0.5, 1.0]`, `range = [1.0, 0.5]`, "range = [1.0, 0.5]", "range is upside down or empty"},
	{`range = [0.5, 1.0]`, `range = [0.5, nan]`, "range = [0.5, nan]", "must be a finite number, got nan"},
	{`[[safety.permissive]]`, "[[safety.interlock]]\nsensor = \"door\"\nrange = [0.0, 0.4]\n\n[[safety.permissive]]", "range = [0.0, 0.4]", "can never both hold: one of them always trips"},
	{"[[safety.permissive]]\nsensor = \"power\"\nrange = [0.0, 9.0]", "[[safety.permissive]]\nsensor = \"door\"\nrange = [0.0, 0.4]", "range = [0.0, 0.4]", "can never both hold: no run could start"},
	{"[[safety.interlock]]\nsensor = \"door\"", "[[safety.interlock]]\nsensor = \"gap\"", `sensor = "gap"`, `unknown sensor "gap"`},
	{"within = \"10s\"\n", "within = \"10s\"\n\n[[safety.response]]\nvariable = \"gap\"\nsensor = \"power\"\nchange = 1.0\nmoves = -0.5\nwithin = \"10s\"\n", "moves = -0.5", "ask for opposite ways: one of them always trips"},
	{"sensor = \"power\"\nchange = 1.0\nmoves = 0.5", "change = 1.0\nmoves = 2.0", "moves =", "2 is more than change (1): a readback moves as far as its setpoint"},
	{`moves = 0.5`, `moves = nan`, "moves =", "must be a finite number, got nan"},
	{`rate = 1.0`, `agree = { sensor = "window", tolerance = 1.0, time = "1s" }`, "agree", `unknown sensor "window"`},
	{`rate = 1.0`, `agree = { sensor = "door", tolerance = 1.0, time = "1s" }`, "agree", "a sensor always agrees with itself"},
	{`rate = 1.0`, `agree = { sensor = "power", tolerance = 1.0, time = "1s" }`, "agree", `door is in "1", power in "W"`},
	{`per_dose = 2.0`, `per_dose = -2.0`, "per_dose =", "must be > 0"},
	{`day = 20.0`, `day = inf`, "day =", "must be a finite number, got +inf"},
	{`min_interval = "1m"`, `min_interval = "-1m"`, "min_interval =", "must be > 0s"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nretries = 1000000000", "retries =", "must be >= 0 and <= 1000, got 1000000000"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nretries = -1", "retries =", "must be >= 0 and <= 1000, got -1"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nretry_window = \"50ms\"", "retry_window =", "50ms is shorter than a tick (100ms)"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nexplore = 2.0", "explore =", "must be > 0 and <= 1, got 2"},
	{`[safety]`, "[journal]\nmin_free = 1e300\n\n[safety]", "min_free =", "must be >= 0 and <= 10000000"},
	{`why = "door switch is being replaced"`, `why = " "`, "why =", "is empty"},
	{`until = 2026-03-01T18:00:00Z`, `until = 2026-03-01T18:00:00`, "until =", "without an offset"},
	{`rule = 13`, `rule = 99`, "rule =", "must be >= 1 and <= 31, got 99"},
	{"until = 2026-03-01T18:00:00Z\n", "until = 2026-03-01T18:00:00Z\n\n[[safety.bypass]]\nrule = 13\nwho = \"B\"\nwhy = \"x\"\nuntil = 2027-03-01T18:00:00Z\n", "rule = 13+2", "rule 13 is set aside already, on line 82"},
	{`on_fault = "safe"`, "on_fault = \"safe\"\nboot = \"hold\"", "boot =", `must be "read", "safe" or "off", got "hold"`},
	{`on_fault = "safe"`, "on_fault = \"safe\"\nshutdown = \"park\"", "shutdown =", `must be "hold", "safe" or "off", got "park"`},
	{`[safety.sensor.door]`, "[safety.variable.gape]\nhard = [0.0, 1.0]\nslew = 1.0\nsafe = 0.0\n\n[safety.sensor.door]", "[safety.variable.gape]", `unknown variable "gape"`},
}

// agreeing are two sensors of one unit that are compared, with one thing wrong each.
var agreeing = []struct{ agree, want string }{
	{`{ sensor = "power", tolerance = 10.0, time = "1s" }`, "can never differ by more"},
	{`{ sensor = "power", tolerance = 0.5, time = "1ms" }`, "1ms is shorter than a tick (100ms)"},
}

// TestBadSafetySections: a file whose limits contradict themselves does not run. Each
// problem is told at its line, and is the only one.
func TestBadSafetySections(t *testing.T) {
	if _, err := Parse("bench.toml", []byte(safeBench), known()); err != nil {
		t.Fatalf("the file that the others are made from: %v", err)
	}
	if len(badSafety) < 60 {
		t.Errorf("%d broken files, want at least 60", len(badSafety))
	}
	for _, c := range badSafety {
		if n := strings.Count(safeBench, c.old); n != 1 {
			t.Fatalf("%q stands %d times in the file", c.old, n)
		}
		text := strings.Replace(safeBench, c.old, c.new, 1)
		_, err := Parse("bench.toml", []byte(text), known())
		var bad *Error
		if !errors.As(err, &bad) || len(bad.Problems) != 1 {
			t.Errorf("%q for %q: %v, want one problem", c.new, c.old, err)
			continue
		}
		p := bad.Problems[0]
		if line := lineOf(text, c.at); p.Line != line || !strings.Contains(p.String(), c.want) {
			t.Errorf("%q for %q: %s; want line %d and %q", c.new, c.old, p, line, c.want)
		}
	}
}

// TestBadAgreement: two sensors that are compared so that they can never differ, or must
// always, or for less than a tick.
func TestBadAgreement(t *testing.T) {
	bench := strings.Replace(safeBench, "unit = \"1\"", "unit = \"W\"", 1)
	for _, c := range agreeing {
		text := strings.Replace(bench, "rate = 1.0", "agree = "+c.agree, 1)
		if _, err := Parse("bench.toml", []byte(text), known()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.agree, err, c.want)
		}
	}
	text := strings.Replace(strings.Replace(bench, "[0.0, 1.0]", "[50.0, 51.0]", 1), "[0.5, 1.0]", "[50.5, 51.0]", 1)
	text = strings.Replace(text, "rate = 1.0", `agree = { sensor = "power", tolerance = 1.0, time = "1s" }`, 1)
	if _, err := Parse("bench.toml", []byte(text), known()); err == nil || !strings.Contains(err.Error(), "always differ by more") {
		t.Errorf("ranges that do not meet: %v", err)
	}
}

// lineOf is the number of the first line that contains words; "+2" after them means
// the second.
func lineOf(text, words string) int {
	skip := 0
	if _, err := fmt.Sscanf(words[max(len(words)-2, 0):], "+%d", &skip); err == nil {
		words = words[:len(words)-2]
		skip--
	}
	for n, line := range strings.Split(text, "\n") {
		if strings.Contains(line, words) {
			if skip--; skip < 0 {
				return n + 1
			}
		}
	}
	return 0
}
