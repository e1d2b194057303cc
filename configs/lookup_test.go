package configs

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestLookups(t *testing.T) {
	c, err := Parse("dir/bench.toml", []byte(smallText), known())
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := c.Sensor("power"); !ok || s != &c.Sensors[0] {
		t.Errorf("sensor %v, %v", s, ok)
	}
	if v, ok := c.Variable("gap"); !ok || v != &c.Variables[0] || !v.HasActuator() {
		t.Errorf("variable %v, %v", v, ok)
	}
	if d, ok := c.Device("meter"); !ok || d != &c.Devices[0] {
		t.Errorf("device %v, %v", d, ok)
	}
	if _, ok := c.Variable("power"); ok {
		t.Error("a sensor was found as a variable")
	}
	if got := c.Sets(); !reflect.DeepEqual(got, []ControlSet{{Variables: []string{"gap"}}}) {
		t.Errorf("sets %+v", got)
	}
	c.ControlSets = []ControlSet{{Variables: []string{"gap"}, Cost: 3}}
	if got := c.Sets(); !reflect.DeepEqual(got, c.ControlSets) {
		t.Errorf("sets %+v", got)
	}
}

func TestPaths(t *testing.T) {
	c := &Config{Name: "bench", Dir: "/etc/tuner"}
	for in, want := range map[string]string{"": "", "a.csv": "/etc/tuner/a.csv", "../b": "/etc/b", "/c": "/c"} {
		if got := c.Path(in); got != filepath.FromSlash(want) {
			t.Errorf("Path(%q) = %q, want %q", in, got, want)
		}
	}
	if got := c.JournalPath("/var/lib/tuner"); got != "/var/lib/tuner/bench.db" {
		t.Errorf("journal at %q", got)
	}
	if got := c.JournalPath(""); got != "bench.db" {
		t.Errorf("journal at %q", got)
	}
	c.Journal.Path = "run.db"
	if got := c.JournalPath("/var/lib/tuner"); got != "/etc/tuner/run.db" {
		t.Errorf("journal at %q", got)
	}
}

func TestObjectiveSensors(t *testing.T) {
	for formula, want := range map[string][]string{
		"energy - 0.2*abs(pointing)":    {"energy", "pointing"},
		"b + a*b":                       {"b", "a"},
		"let x = a/2; x > 1 ? x : f(b)": {"a", "b"},
		"max(a, 1e3)":                   {"a"},
		"a +":                           nil,
	} {
		c := Config{Objective: Objective{Formula: formula}}
		if got := c.objectiveSensors(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: sensors %q, want %q", formula, got, want)
		}
	}
	c := Config{Objective: Objective{Sensor: "a"}}
	if got := c.objectiveSensors(); !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("sensors %q", got)
	}
	if got := (&Config{}).objectiveSensors(); got != nil {
		t.Errorf("sensors %q", got)
	}
}

// TestShotTimeoutOfFormula: the slowest sensor of the formula counts, and no other.
func TestShotTimeoutOfFormula(t *testing.T) {
	c := Config{
		Objective: Objective{Formula: "a + b"},
		Sensors:   []Sensor{{Name: "a", MaxAge: time.Second}, {Name: "b", MaxAge: 3 * time.Second, MaxSkew: time.Second}, {Name: "c", MaxAge: time.Hour}},
	}
	c.derive()
	if c.Objective.Timeout != 30*time.Second {
		t.Errorf("timeout %v", c.Objective.Timeout)
	}
	if c.Sensors[0].MaxSkew != time.Second || c.Sensors[1].MaxSkew != time.Second || c.Sensors[2].MaxSkew != time.Hour {
		t.Errorf("skews %v", c.Sensors)
	}
}

func TestProblemByLabel(t *testing.T) {
	c, err := Parse("bench.toml", []byte(smallText), known())
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{
		"policy.kind": 5, "variable.gap.device": 19, "variable.gap.settle": 15, "device.meter.driver": 40, "safety.variable.gap.exposure.above": 31, "safety.bypass.1.who": 35, "web.listen": 1,
	} {
		if got := c.Problem(key, "w", "h"); got != (Problem{File: "bench.toml", Line: want, Key: key, What: "w", Hint: "h"}) {
			t.Errorf("%s: %+v, want line %d", key, got, want)
		}
	}
	if got := Default().Problem("tick", "w", ""); got != (Problem{Key: "tick", What: "w"}) {
		t.Errorf("without a file: %+v", got)
	}
}
