package configs

import (
	"cmp"
	"slices"
	"testing"

	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/notices"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// known are the policies that there are, as the command hands them in.
func known() *Known {
	out := &Known{Drivers: []Driver{{Name: "exec", Introduces: true}, {Name: "mqtt"}, {Name: "serial", IntroducedBy: "profile"}, {Name: "sim", Introduces: true}}}
	out.Notices = notices.Kinds()
	for _, k := range policy.Table() {
		out.Kinds = append(out.Kinds, Parts{Kind: k.Name, Acquisition: k.Acquisition, Confidence: k.Confidence, UsualConfidence: k.UsualConfidence, Schedule: k.Schedule,
			UsualSchedule: k.UsualSchedule, PriorRule: k.PriorRule, Risky: k.Risk, Noise: Noise(k.Noise), PerCost: k.PerCost, Subsets: k.Subsets})
	}
	for _, a := range policy.AcquisitionTable() {
		if a.Name != acquireNone {
			out.Acquisitions = append(out.Acquisitions, a.Name)
		}
		if a.Bounded {
			out.Bounded = append(out.Bounded, a.Name)
		}
	}
	variables, sensors := map[string]*safety.VariableLimits{}, map[string]*safety.SensorLimits{}
	var limits safety.Limits
	var outages plan.Outages
	var spec policy.Spec
	var connection mqtt.Connection
	out.Own = func(section any, name string) []any {
		switch section.(type) {
		case *MQTT:
			return []any{&connection}
		case *Policy:
			return []any{&spec}
		case *Safety:
			return []any{&limits, &outages}
		case *SafetyVariable:
			variables[name] = cmp.Or(variables[name], &safety.VariableLimits{})
			return []any{variables[name]}
		case *SafetySensor:
			sensors[name] = cmp.Or(sensors[name], &safety.SensorLimits{})
			return []any{sensors[name]}
		}
		return nil
	}
	return out
}

// A word that the table has may be written, another may not: the schema knows none of its own.
func TestPoliciesAreHandedIn(t *testing.T) {
	text := []byte(sampleText("laser"))
	if _, err := Parse("laser.toml", text, known()); err != nil {
		t.Fatal(err)
	}
	other := known()
	other.Kinds = slices.DeleteFunc(other.Kinds, func(p Parts) bool { return p.Kind == "rahbo" })
	if _, err := Parse("laser.toml", text, other); err == nil {
		t.Error("a kind that the table does not have was taken")
	}
}

// The schedule where none is named: "auto" for ucb-cvs, but not where values are per cost by themselves.
func TestUsualSchedule(t *testing.T) {
	for want, policies := range map[string][]Policy{
		scheduleAuto:   {{Kind: "ucb-cvs"}, {Kind: "ucb-cvs", Acquisition: "ts"}},
		scheduleETCAda: {{Kind: "ucb-cvs", PerCost: true}, {Kind: "ucb-cvs", Acquisition: "gittins"}, {Kind: "rahbo"}, {Kind: "ucb-cvs-etc-ada"}},
		scheduleNone:   {{Kind: "gp-ucb"}, {Kind: "ucb-cvs", Schedule: scheduleNone}},
	} {
		for _, p := range policies {
			p.known = &known().Policies
			if got := p.Parts().Schedule; got != want {
				t.Errorf("kind %q, acquisition %q, per cost %t: schedule %q, want %q", p.Kind, p.Acquisition, p.PerCost, got, want)
			}
		}
	}
}
