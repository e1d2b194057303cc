package web

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// What counts as given: all that is not known to have been refused, by the larger of what
// was asked for and what the pump says.
func TestDoses(t *testing.T) {
	o := plan.Options{Variables: []plan.Variable{{Name: "mirror", Channel: plan.Channel{Device: 0, Name: "m"}},
		{Name: "nutrient", Unit: "mL", Dose: true, Channel: plan.Channel{Device: 1, Name: "dose"}}, {Name: "acid", Unit: "mL", Dose: true, Channel: plan.Channel{Device: 2, Name: "dose"}}}}
	o.Safety.Doses = []safety.DoseLimits{{Variable: 1, PerDose: 12, Run: 600}, {Variable: 2}}
	book := newDoseCounter(&o, []string{"bench", "pump_n", "pump_a"})
	dose := func(device string, amount float64, settled ...journal.Resolution) {
		book.add(journal.ActionRecord{Action: journal.Action{Device: device, Kind: "dose", Values: map[string]float64{"dose": amount}}, Resolutions: settled})
	}
	sent, failed, unknown := journal.Resolution{State: journal.Sent}, journal.Resolution{State: journal.Failed}, journal.Resolution{State: journal.Unknown}
	gave := func(amount float64) journal.Resolution {
		return journal.Resolution{State: journal.Confirmed, Readback: map[string]float64{"dose": amount}}
	}
	dose("pump_n", 2, sent, gave(2))
	dose("pump_n", 3, sent, gave(3.5))
	dose("pump_n", 4, sent)
	dose("pump_n", 5, unknown)
	dose("pump_n", 6, sent, failed)
	dose("pump_a", 1)
	book.add(journal.ActionRecord{Action: journal.Action{Device: "pump_n", Kind: "move", Values: map[string]float64{"dose": 99}}})
	n, a := book.parts[0], book.parts[1]
	if len(book.parts) != 2 || n.Variable != "nutrient" || n.Doses != 4 || n.Given != 14.5 || n.Unknown != 2 || n.UnknownAmount != 9 || n.Refused != 1 || n.Largest != 5 || n.PerDose != 12 || n.Limit != 600 {
		t.Errorf("nutrient: %+v", n)
	}
	if a.Doses != 1 || a.Given != 1 || a.Unknown != 1 || !math.IsNaN(float64(a.Limit)) || !math.IsNaN(float64(a.PerDose)) {
		t.Errorf("acid: %+v", a)
	}
}
