package configs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sampleText is the text of a sample, empty where there is none.
func sampleText(name string) string {
	for _, s := range Samples() {
		if s.Name == name {
			return string(s.Text)
		}
	}
	return ""
}

// sampleAs is a sample with lines replaced.
func sampleAs(t *testing.T, name string, lines ...string) *Config {
	t.Helper()
	text := sampleText(name)
	for _, line := range lines {
		old, now, _ := strings.Cut(line, " -> ")
		if n := strings.Count(text, old+"\n"); n != 1 {
			t.Fatalf("the sample has %q %d times", old, n)
		}
		text = strings.Replace(text, old+"\n", now+"\n", 1)
	}
	c, err := Parse(name+".toml", []byte(text), known())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNarrowed(t *testing.T) {
	for _, c := range []struct {
		lines    []string
		changes  []string
		problems string
	}{
		{},
		{lines: []string{"hard = [0.0, 100.0] -> hard = [0.0, 96.0]", "steps = 150 -> steps = 100", "slew_up = 2.0 -> slew_up = 1.5"},
			changes: []string{"stop.steps = 100 (was 150)", "safety.variable.pump_current.hard = [0.0, 96.0] (was [0.0, 100.0])",
				"safety.variable.pump_current.slew_up = 1.5 (was 2.0)"}},
		{lines: []string{"range = [60.0, 95.0] -> range = [62.0, 95.0]", "# hold_max = \"30s\" -> hold_max = \"10s\"", `dwell = "500ms" -> dwell = "1s"`},
			changes: []string{"variable.pump_current.range = [62.0, 95.0] (was [60.0, 95.0])", `safety.hold_max = "10s" (was "30s")`,
				`safety.variable.pump_current.dwell = "1s" (was "500ms")`}},
		{lines: []string{"start = 70.0 -> start = 80.0"}, changes: []string{"variable.pump_current.start = 80.0 (was 70.0)"}},
		{lines: []string{"start = 70.0 -> "}, changes: []string{"variable.pump_current.start left out (was 70.0)"}},
		{lines: []string{"hard = [0.0, 100.0] -> hard = [0.0, 101.0]"},
			problems: `laser.toml:LINE: safety.variable.pump_current.hard: [0.0, 101.0] is wider than [0.0, 100.0]: a running tuner only narrows, and this must lie inside`},
		{lines: []string{`dwell = "500ms" -> dwell = "100ms"`}, problems: "pump_current.dwell: \"100ms\" is wider than \"500ms\": a running tuner only narrows, and this must be larger"},
		{lines: []string{"safe = 60.0 -> safe = 61.0"}, problems: "laser.toml:LINE: safety.variable.pump_current.safe: 61.0, was 60.0: that needs a restart"},
		{lines: []string{"cost = 2000.0 -> "}, changes: []string{"stop.cost left out (was 2000.0)"}},
		{lines: []string{"range = [60.0, 95.0] -> range = [50.0, 98.0]", "steps = 150 -> steps = 200"},
			changes: []string{"variable.pump_current.range = [50.0, 98.0] (was [60.0, 95.0])", "stop.steps = 200 (was 150)"}},
		{lines: []string{"shots = 10 -> shots = 9"}, problems: "laser.toml:LINE: objective.shots: 9, was 10"},
		{lines: []string{"baud = 115200 -> baud = 9600"}, problems: "device.meter.baud: 9600, was 115200"},
	} {
		changes, problems := sampleAs(t, "laser").Narrowed(sampleAs(t, "laser", c.lines...))
		var told []string
		for _, p := range problems {
			told = append(told, regexp.MustCompile(`toml:[1-9]\d*:`).ReplaceAllString(p.String(), "toml:LINE:"))
		}
		if len(problems) > 0 != (c.problems != "") || !strings.Contains(strings.Join(told, "\n"), c.problems) {
			t.Errorf("%v: problems %q, want %q", c.lines, told, c.problems)
		}
		if c.problems == "" && !slices.Equal(changes, c.changes) {
			t.Errorf("%v: changes %q, want %q", c.lines, changes, c.changes)
		}
	}
}

// TestReloadableKeysExist: the list has keys of the schema only.
func TestReloadableKeysExist(t *testing.T) {
	keys := map[string]bool{}
	for _, d := range Reference(known()) {
		section := strings.Trim(d.Section, "[]")
		if strings.HasPrefix(d.Section, "[[") {
			section += ".*"
		}
		keys[strings.ReplaceAll(section, "NAME", "*")+"."+d.Key] = true
	}
	for _, r := range Reloadable(known()) {
		if !keys[r[0]] && !keys[strings.TrimSuffix(r[0], ".*")] {
			t.Errorf("there is no key %s", r[0])
		}
	}
}
