package web

import (
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// DosePart is what was given through one variable of doses, in its unit.
type DosePart struct {
	Variable string `json:"variable"`
	Unit     string `json:"unit"`
	// Doses counts those that were given or may have been, and Given is their amount: it is
	// what the budgets are charged with. Unknown of them, UnknownAmount in all, have an outcome
	// that is unknown.
	Doses         int            `json:"doses"`
	Given         journal.Number `json:"given"`
	Unknown       int            `json:"unknown"`
	UnknownAmount journal.Number `json:"unknown_amount"`
	// Refused counts those that were certainly not given.
	Refused int `json:"refused"`
	// Largest is the largest dose, PerDose its limit, Limit the run's; null: none.
	Largest journal.Number `json:"largest"`
	PerDose journal.Number `json:"per_dose"`
	Limit   journal.Number `json:"limit"`
}

// doseCounter adds up the doses of a journal.
type doseCounter struct {
	parts []DosePart
	// of gives the part of a device's channel.
	of map[[2]string]int
}

// newDoseCounter opens the account of a run whose devices have these names.
func newDoseCounter(o *plan.Options, devices []string) *doseCounter {
	b := &doseCounter{parts: []DosePart{}, of: map[[2]string]int{}}
	for i := range o.Variables {
		v := &o.Variables[i]
		if !v.Dose || v.Channel.Device >= len(devices) {
			continue
		}
		b.of[[2]string{devices[v.Channel.Device], v.Channel.Name}] = len(b.parts)
		part := DosePart{Variable: v.Name, Unit: v.Unit, PerDose: none, Limit: none}
		for _, d := range o.Safety.Doses {
			if d.Variable == i {
				part.PerDose, part.Limit = bound(d.PerDose), bound(d.Run)
			}
		}
		b.parts = append(b.parts, part)
	}
	return b
}

// bound is a limit of which 0 says that there is none.
func bound(x float64) journal.Number {
	if x <= 0 {
		return none
	}
	return journal.Number(x)
}

// add books an action. One without a known outcome counts as given, and so does the
// larger of what was asked for and what the device says that it gave.
func (b *doseCounter) add(a journal.ActionRecord) {
	if a.Kind != "dose" {
		return
	}
	for channel, amount := range a.Values {
		i, ok := b.of[[2]string{a.Device, channel}]
		if !ok {
			continue
		}
		p, state := &b.parts[i], journal.Unknown
		for _, s := range a.Resolutions {
			amount, state = max(amount, s.Readback[channel]), s.State
		}
		if state == journal.Failed {
			p.Refused++
			continue
		}
		p.Doses++
		p.Given += journal.Number(amount)
		p.Largest = max(p.Largest, journal.Number(amount))
		if state != journal.Confirmed {
			p.Unknown++
			p.UnknownAmount += journal.Number(amount)
		}
	}
}
