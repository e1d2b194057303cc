package configs

import (
	"slices"
	"strings"
	"testing"
)

// TestOverride: what stands in place of the file's value is checked as that is, and what
// differs between two files is what brings the one to the other.
func TestOverride(t *testing.T) {
	parse := func(all ...Override) (*Config, error) {
		return Parse("laser.toml", []byte(sampleText("laser")), known(), all...)
	}
	c, err := parse(Override{"variable.pump_current.range", "[62, 90.5]"}, Override{"stop.no_improvement.steps", "40"}, Override{"stop.steps", ""},
		Override{"variable.mirror_x.frozen", "0.5"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"variable.pump_current.range": "[62.0, 90.5]", "stop.no_improvement.steps": "40", "stop.steps": "", "variable.mirror_x.frozen": "0.5"} {
		if got := c.ValueOf(key); got != want {
			t.Errorf("%s = %s, want %s", key, got, want)
		}
	}
	plain, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	back, err := parse(plain.Changed(c)...)
	if err != nil || !slices.Equal(c.Changed(back), nil) || len(plain.Changed(c)) != 5 {
		t.Errorf("%v brings it to %v (%v)", plain.Changed(c), c.Changed(back), err)
	}
	for _, bad := range []struct {
		o    Override
		want string
	}{
		{Override{"variable.pump_current.range", "[95.0, 60.0]"}, "variable.pump_current.range"},
		{Override{"variable.pump_current.range", "[60.0, 95.0]\nname = \"x\""}, "is no value of this key"},
		{Override{"variable.pump.range", "[60.0, 95.0]"}, `there is no "pump" among`},
		{Override{"variable.mirror_x.frozen", "99.0"}, "99 lies outside the range"},
		{Override{"stop.no_improvement.by", "1.0"}, "after how much without a better bound"},
		{Override{"name.x", "1"}, "name is no section"},
	} {
		if _, err := parse(bad.o); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v, want %q", bad.o, err, bad.want)
		}
	}
	for key, want := range map[string]bool{"stop.steps": true, "cost.per_move.mirror_x": true, "control_set.1.cost": true, "safety.variable.mirror_x.hard": false, "policy.beta": false} {
		if Changeable(key, known()) != want {
			t.Errorf("%s is changeable: %v", key, !want)
		}
	}
}

// TestOverrideInline: tables that stand in one line are sections as well.
func TestOverrideInline(t *testing.T) {
	tree := map[string]any{"variable": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}, "list": []any{int64(1)}}
	if p := override(tree, []Override{{"variable.b.range", "[1.0, 2.0]"}}); p != nil {
		t.Fatal(p)
	}
	if got := tree["variable"].([]any)[1].(map[string]any)["range"]; got == nil {
		t.Errorf("%v", tree)
	}
	if p := override(tree, []Override{{"list.b.range", "1.0"}}); p == nil || !strings.Contains(p.What, "list is no section") {
		t.Errorf("a list of numbers: %v", p)
	}
}
