package configs

import (
	"slices"
	"strings"
	"testing"
)

// doubtful makes one thing of safeBench legal and odd each, as badSafety makes it wrong.
var doubtful = []struct{ old, new, at, want string }{
	{`slew = 1.0`, `slew = 1e-5`, "slew =", "the way over the range [1, 5] takes 4.63 days"},
	{`slew = 1.0`, `slew = 1e300`, "slew =", "within one tick: it limits nothing"},
	{"slew = 1.0", "slew_up = 1.0\nslew_down = 1e300", "slew_down =", "within one tick: it limits nothing"},
	{"range = [1.0, 5.0]", "range = [1.0, 5.0]\nresolution = 0.15", "", ""},
	{`hard = [0.5, 6.0]`, `hard = [0.5, 60000.0]`, "hard =", "more than 1000 times as wide as the range [1, 5]"},
	{`tolerance = 0.1`, `tolerance = 1.0`, "tolerance =", "a quarter of the range [1, 5] or more"},
	{`timeout = "2s"`, `timeout = "240h"`, "timeout =", "240h is longer than an hour"},
	{`lease = "3s"`, `lease = "1000h"`, "lease =", "that long a device goes on alone when this computer dies"},
	{`dwell = "1s"`, `dwell = "100h"`, "dwell =", "longer than a day between two changes"},
	{`start = 2.0`, "start = 2.0\non_release = \"park\"", "safe =", "0.5 is where gap is parked, outside the range [1, 5]"},
	{"range = [0.0, 1.0]\nmax_age = \"1s\"", "range = [0.0, 1.0]\nmax_age = \"1h\"", "max_age =+2", "for that long a cut wire of an interlock goes unnoticed"},
	{`hold_max = "30s"`, `hold_max = "100h"`, "hold_max =", "longer than a day"},
	{`comms_timeout = "30s"`, `comms_timeout = "100h"`, "comms_timeout =", "longer than an hour"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nretry_window = \"1h\"", "retry_window =", "an outage of that length is not held"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nretries = 500", "retries =", "500: a device may fail so often in 30s"},
	{`on_stale = "hold"`, "on_stale = \"hold\"\nexplore = 1e-12", "explore =", "a run hardly leaves where it began"},
	{`[safety]`, "[journal]\nmin_free = 0.0\n\n[safety]", "min_free =", "a full disk is noticed only"},
	{`time = "10s" }`, `time = "1ms" }`, "exposure", "1ms is shorter than a tick (100ms): any setpoint above 4 falls back"},
	{`time = "10s" }`, `time = "9000h" }`, "exposure", "longer than a week"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = 1e-12, window = "1m" }`, "duty", "less than a tick (100ms)"},
	{`rate = 1.0`, `rate = 1e300`, "rate =", "no reading is ever a spike"},
	{`rate = 1.0`, `rate = 1e-300`, "rate =", "any noise is a spike"},
	{`stuck = 20`, `stuck = 1000000000`, "stuck =", "never come together"},
	{`range = [0.5, 1.0]`, `range = [1.0, 5.0]`, "range = [1.0, 5.0]+2", "have one value in common: any noise breaks it"},
	{`[[safety.permissive]]`, "[[safety.interlock]]\nsensor = \"door\"\nrange = [0.5, 1.0]\n\n[[safety.permissive]]", "[[safety.interlock]]+2", "says what the one on line 58 says too"},
	{"within = \"10s\"\n", "within = \"10s\"\n\n[[safety.response]]\nvariable = \"gap\"\nsensor = \"power\"\nchange = 1.0\nmoves = 0.6\nwithin = \"10s\"\n", "[[safety.response]]+2", "asks for what the one on line 66 asks for too"},
	{`within = "10s"`, `within = "100h"`, "within =", "for so long nothing notices a failure"},
	{`within = "10s"`, `within = "200ms"`, "within =", "the newest reading may be from before the change"},
	{`change = 1.0`, `change = 1e-300`, "change =", "next to nothing of the range [1, 5]"},
	{"sensor = \"power\"\nchange = 1.0\nmoves = 0.5", "change = 1.0\nmoves = 0.05", "moves =", "within the readback's tolerance (0.1)"},
	{`run = 50.0`, `run = 1e300`, "run =", "it limits nothing"},
	{`min_interval = "1m"`, `min_interval = "2h"`, "hour =", "10 is more than doses of 2 every 2h can come to, 2 in 1h"},
	{`rule = 13`, `rule = 10`, "rule =", "rule 10 has nothing to look at in this file"},
	{"lease = \"3s\"\non_fault = \"safe\"\nexposure = { above = 4.0, time = \"10s\" }", `on_fault = "hold"`, "[[safety.interlock]]", `every actuator has on_fault = "hold"`},
	{`shots = 4`, "shots = 4\ntimeout = \"10ms\"", "timeout =", "10ms is shorter than a tick"},
	{`kind = "rahbo"`, "kind = \"rahbo\"\ndeadline = \"1h\"", "deadline =", "1h: the instrument may stand so long at a setting"},
}

// timed are odd beside the length of a run.
var timed = []struct{ old, new, want string }{
	{`slew = 1.0`, `slew = 0.0001`, "takes longer than the whole run (1h)"},
	{`time = "10s" }`, `time = "9h" }`, "9h is longer than the whole run (1h)"},
	{`exposure = { above = 4.0, time = "10s" }`, `duty = { above = 4.0, fraction = 0.2, window = "900h" }`, "900h is longer than the whole run (1h)"},
	{`within = "10s"`, `within = "2h"`, "2h is longer than the whole run (1h)"},
	{`min_interval = "1m"`, `min_interval = "2h"`, "2h is longer than the whole run (1h)"},
	{`start = 2.0`, "start = 2.0\nsettle = \"2h\"", "2h is longer than the whole run (1h)"},
}

// TestDoubts: what is legal and odd is reported at its line, and nothing else is; a file
// without oddities has none, and neither have the samples.
func TestDoubts(t *testing.T) {
	for _, c := range doubtful {
		if n := strings.Count(safeBench, c.old); n != 1 {
			t.Fatalf("%q stands %d times in the file", c.old, n)
		}
		text := strings.Replace(safeBench, c.old, c.new, 1)
		list := doubtsOf(t, text)
		switch {
		case c.want == "" && len(list) == 0:
		case len(list) != 1:
			t.Errorf("%q for %q: %v, want one doubt", c.new, c.old, list)
		case list[0].Line != lineOf(text, c.at) || !strings.Contains(list[0].String(), c.want):
			t.Errorf("%q for %q: %s; want line %d and %q", c.new, c.old, list[0], lineOf(text, c.at), c.want)
		}
	}
	for _, c := range timed {
		text := strings.Replace(strings.Replace(safeBench, "steps = 20", "time = \"1h\"", 1), c.old, c.new, 1)
		found := false
		for _, p := range doubtsOf(t, text) {
			found = found || strings.Contains(p.What, c.want)
		}
		if !found {
			t.Errorf("%q: %v, want %q", c.new, doubtsOf(t, text), c.want)
		}
	}
	for _, sample := range Samples() {
		if list := doubtsOf(t, string(sample.Text)); len(list) > 0 {
			t.Errorf("sample %s: %v", sample.Name, list)
		}
	}
	dose := strings.Replace(doseBench, "change = 1.0", "change = 4.9", 1)
	if list := doubtsOf(t, dose); len(list) != 1 || !strings.Contains(list[0].What, "doses below 4.9 are not looked at") {
		t.Errorf("a response that sees few doses: %v", list)
	}
}

// TestDoubtsOfSingleShots: risk over control sets is learnt from one shot a step too, less surely.
func TestDoubtsOfSingleShots(t *testing.T) {
	sample := string(Samples()[slices.IndexFunc(Samples(), func(s Sample) bool { return s.Name == "quiet-and-cheap" })].Text)
	single := strings.Replace(sample, "shots = 5\n", "shots = 1\n", 1)
	if list := doubtsOf(t, single); len(list) != 1 || list[0].Line != lineOf(single, "shots =") || !strings.Contains(list[0].What, "a lucky shot can pass for a good setting") {
		t.Errorf("one shot a step: %v", list)
	}
	one := strings.Replace(single, "[[control_set]]\nvariables = [\"mirror_x\", \"mirror_y\", \"grating\"]\ncost = 4.0\n\n", "", 1)
	if list := doubtsOf(t, one); len(list) != 1 || !strings.Contains(list[0].What, "a lucky shot can pass for a good setting") {
		t.Errorf("one shot a step, one control set, which leaves a variable random: %v", list)
	}
	none := strings.Replace(strings.Replace(single, "risk = 0.5\n", "risk = 0.0\n", 1), "kind = \"rahbo\"", "kind = \"ucb-cvs\"", 1)
	none = strings.Replace(none, "random_draws = \"shot\"\n", "", 1)
	if list := doubtsOf(t, none); len(list) > 0 {
		t.Errorf("without risk: %v", list)
	}
}

func doubtsOf(t *testing.T, text string) []Problem {
	t.Helper()
	c, err := Parse("bench.toml", []byte(text), known())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c.Doubts()
}
