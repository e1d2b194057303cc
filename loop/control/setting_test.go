package control

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Every variable of a setting is there, with what it does; the command names what is set to the last
// bit, and what is held as well where one control set holds both.
func TestSettingIsWhole(t *testing.T) {
	nan := math.NaN()
	o := &plan.Options{Variables: []plan.Variable{
		{Name: "set", Unit: "V", Actuated: true, High: 1},
		{Name: "kept", Unit: "mm", Actuated: true, High: 7, OnRelease: plan.Hold},
		{Name: "park", Actuated: true, OnRelease: plan.Park, Limits: safety.VariableLimits{Safe: 2}},
		{Name: "free", Unit: "A", Actuated: true, OnRelease: plan.Release},
		{Name: "room", Unit: "degC"},
		{Name: "pump", Unit: "mL", Actuated: true, Dose: true, OnRelease: plan.Hold},
	}, ControlSets: []plan.ControlSet{{Variables: []int{0}}, {Variables: []int{0, 1}}}}
	x := []float64{1.0 / 3, nan, nan, nan, nan, nan}
	left := []policy.Left{{Mean: nan, SD: nan}, {Kind: policy.Held, Mean: 7.25}, {Kind: policy.TruncatedNormal, Mean: 2.01, SD: 0.1}, {Kind: policy.Learnt, Mean: 5, SD: 0.5},
		{Kind: policy.Uniform, Mean: 21, SD: 3}, {Kind: policy.TruncatedNormal, SD: 0.1}}
	parts := SettingOf(o, x, left)
	for i, want := range []SettingPart{
		{How: HowSet, Value: 1.0 / 3, Text: "0.33333 V"},
		{How: HowHeld, Value: 7.25, Text: "held at 7.25 mm"},
		{How: HowParked, Value: 2, Text: "parked at 2"},
		{How: HowReleased, Value: 5, SD: 0.5, Distribution: "learnt", Text: "let go: 5 A on average, sd 0.5 A (learnt)"},
		{How: HowMeasured, Value: 21, SD: 3, Distribution: "uniform", Text: "only measured: 21 degC on average, sd 3 degC (uniform)"},
		{How: HowNotGiven, Text: "gives nothing"},
	} {
		want.Variable, want.Unit = o.Variables[i].Name, o.Variables[i].Unit
		if parts[i] != want {
			t.Errorf("%+v, want %+v", parts[i], want)
		}
	}
	if got := TryLine("lab", parts); got != "tuner try lab set=0.3333333333333333" {
		t.Error(got)
	}
	if got := TryAllLine(o, "lab", parts); got != "tuner try lab set=0.3333333333333333,kept=7" {
		t.Error(got)
	}
	o.ControlSets = o.ControlSets[:1]
	if got := TryAllLine(o, "lab", parts); got != "" {
		t.Errorf("no control set holds both: %q", got)
	}
	if got := TryLine("lab", SettingOf(o, policy.NaNs(6), nil)); got != "" {
		t.Errorf("nothing is set: %q", got)
	}
	for _, p := range SettingOf(o, policy.NaNs(6), nil) { // of an older record
		if p.Text == "" {
			t.Errorf("%+v", p)
		}
	}
}
