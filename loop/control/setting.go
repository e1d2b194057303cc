package control

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// SettingPart is what one variable does in a setting: what it takes to set that again, and
// what the expected value there takes for granted.
type SettingPart struct {
	Variable string `json:"variable"`
	Unit     string `json:"unit"`
	// How is one of the words below.
	How string `json:"how"`
	// Value is where it is, its mean where it varies by itself; SD the standard deviation of
	// that, 0 where it does not; null where nothing is known.
	Value journal.Number `json:"value"`
	SD    journal.Number `json:"sd"`
	// Distribution is the family of what varies by itself: uniform, normal or learnt; else "".
	Distribution string `json:"distribution"`
	// Text says all of this in words.
	Text string `json:"text"`
}

// What a variable does in a setting.
const (
	// HowSet: the setting sets it.
	HowSet = "set"
	// HowHeld: its actuator is left where it was last.
	HowHeld = "held"
	// HowParked: its actuator is driven to its safe value.
	HowParked = "parked"
	// HowReleased: its device lets it go.
	HowReleased = "released"
	// HowMeasured: it has no actuator, and is measured only.
	HowMeasured = "measured"
	// HowNotGiven: it is a dose, and nothing is given.
	HowNotGiven = "not given"
)

// SettingOf says what every variable does in a setting: x has one value per variable, NaN where
// it is left alone, left what those do then (see policy.Recommendation).
func SettingOf(o *plan.Options, x []float64, left []policy.Left) []SettingPart {
	parts := make([]SettingPart, len(o.Variables))
	for i := range parts {
		v := &o.Variables[i]
		p := SettingPart{Variable: v.Name, Unit: v.Unit, How: HowSet, Value: journal.Number(x[i])}
		if math.IsNaN(x[i]) {
			l := policy.Left{Mean: math.NaN(), SD: math.NaN()}
			if i < len(left) {
				l = left[i]
			}
			p.leave(v, l)
		}
		p.Text = p.words()
		parts[i] = p
	}
	return parts
}

// leave fills what a variable does that is left alone.
func (p *SettingPart) leave(v *plan.Variable, l policy.Left) {
	p.Value, p.SD = journal.Number(l.Mean), journal.Number(l.SD)
	varies := true
	switch {
	case v.Dose:
		p.How, p.Value, p.SD, varies = HowNotGiven, journal.Number(v.Low), 0, false
	case !v.Actuated:
		p.How = HowMeasured
	case v.OnRelease == plan.Park:
		p.How, p.Value, p.SD, varies = HowParked, journal.Number(v.Limits.Safe), 0, false
	case v.OnRelease == plan.Hold:
		p.How, varies = HowHeld, false
	default:
		p.How = HowReleased
	}
	if varies && p.SD.Known() {
		p.Distribution = l.Kind.String()
	}
}

// words say what a variable does.
func (p *SettingPart) words() string {
	at := func() string { return plan.InUnit(float64(p.Value), p.Unit) }
	switch {
	case p.How == HowNotGiven:
		return "gives nothing"
	case !p.Value.Known():
		return map[string]string{HowHeld: "held where it is", HowReleased: "let go", HowMeasured: "left alone, only measured"}[p.How]
	case p.How == HowSet:
		return at()
	case p.How == HowHeld || p.How == HowParked:
		return p.How + " at " + at()
	}
	how := map[string]string{HowReleased: "let go", HowMeasured: "only measured"}[p.How]
	if !p.SD.Known() {
		return fmt.Sprintf("%s: %s on average", how, at())
	}
	return fmt.Sprintf("%s: %s on average, sd %s (%s)", how, at(), plan.InUnit(float64(p.SD), p.Unit), p.Distribution)
}

// TryLine is the command that has a running tuner measure a setting again, "" where the setting
// sets nothing. What is held is left out: it is where the setting wants it as long as nothing has
// moved it.
func TryLine(run string, parts []SettingPart) string { return tryLine(run, parts, HowSet) }

// TryAllLine is the same with what is held as well, "" where nothing is or where no control set
// holds all of it.
func TryAllLine(o *plan.Options, run string, parts []SettingPart) string {
	x, held := policy.NaNs(len(parts)), false
	parts = slices.Clone(parts)
	for i := range parts {
		p, v := &parts[i], &o.Variables[i]
		if p.How == HowHeld && p.Value.Known() { // what was read may lie beside the range
			p.Value, held = journal.Number(min(max(float64(p.Value), v.Low), v.High)), true
		}
		if p.How == HowSet || p.How == HowHeld {
			x[i] = float64(p.Value)
		}
	}
	if !held || !o.Settable(x) {
		return ""
	}
	return tryLine(run, parts, HowSet, HowHeld)
}

func tryLine(run string, parts []SettingPart, how ...string) string {
	var pairs []string
	for _, p := range parts {
		if slices.Contains(how, p.How) && p.Value.Known() {
			pairs = append(pairs, p.Variable+"="+strconv.FormatFloat(float64(p.Value), 'g', -1, 64))
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return fmt.Sprintf("tuner try %s %s", run, strings.Join(pairs, ","))
}
