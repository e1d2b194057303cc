package intenttest

import (
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
)

// TestIntentsAreTheRule: each case of the rule, against a real journal.
func TestIntentsAreTheRule(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	none, err := ReadIntents(path)
	if err != nil || none.Setpoint("power", 1, 1) != nil || none.Setpoint("power", 3, 1) == nil {
		t.Errorf("without a journal nothing but the safe value may be told: %v", err)
	}
	run := journal.Run{ID: "r", Name: "oven", Variables: []journal.Column{{Name: "power"}}}
	j, err := journal.Create(path, run, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, a := range []journal.Action{
		{Device: "oven", Kind: "setpoint", Values: map[string]float64{"power": 3}},
		{Device: "pump", Kind: "dose", Values: map[string]float64{"feed": 2}},
	} {
		if _, err := j.Intend(a); err != nil {
			t.Fatal(err)
		}
	}
	in, err := ReadIntents(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		err     error
		allowed bool
	}{
		{"an intended setpoint", in.Setpoint("power", 3, 1), true},
		{"the safe value without an intent", in.Setpoint("power", 1, 1), true},
		{"another setpoint without an intent", in.Setpoint("power", 4, 1), false},
		{"the setpoint of another channel", in.Setpoint("fan", 3, 1), false},
		{"a dose's amount as a setpoint", in.Setpoint("feed", 2, 0), false},
		{"an intended dose", in.Dose("r-2", "feed", 2), true},
		{"another amount", in.Dose("r-2", "feed", 2.5), false},
		{"another name", in.Dose("r-3", "feed", 2), false},
		{"a setpoint's number", in.Dose("r-1", "power", 3), false},
	} {
		if (c.err == nil) != c.allowed {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
}
