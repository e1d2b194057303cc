package sim

import (
	"time"
)

// Variables of doses. A write adds an amount of nutrient or acid, in mL, to a vessel of
// tap water in which one batch grows; the first variable in mL is the nutrient, the
// second the acid:
//
//	EC = tap + saltStrength x / V        pH = tap - acidStrength x / (buffer V)
//
// When a batch ends it is harvested and the vessel filled with fresh tap water, so a
// batch that gets no dose grows in that. A dose may come at any time of a batch, and
// begins its time anew. A dose that is sent twice under one name is given once, as a
// device should have it.

// vesselFull is the volume of the vessel, in L: doses of some mL change it.
const vesselFull = 1.0

// namedDose is a dose that was given.
type namedDose struct {
	name   string
	amount float64
}

// doseCondition says which condition a variable of doses changes, -1: none that is left.
func doseCondition(v Variable, taken map[int]bool) int {
	if v.Unit != dosedUnit {
		return -1
	}
	for condition := range 2 {
		if !taken[condition] {
			return condition
		}
	}
	return -1
}

// byAmount reports whether a variable is an amount.
func (d *dosing) byAmount() bool {
	for _, a := range d.axes {
		if a.dosed {
			return true
		}
	}
	return false
}

// strength is what 1 mL changes the axis's condition by.
func (a *dosedAxis) strength() (tapValue, perML float64) {
	if a.condition == 0 {
		return tapEC, saltStrength / vesselFull
	}
	return tapPH, -acidStrength / (tankBuffer * vesselFull)
}

// reached is the condition at a value of the axis.
func (a *dosedAxis) reached(x float64) float64 {
	if !a.dosed {
		return x
	}
	start, perML := a.strength()
	return start + perML*x
}

// wanted is the value of the axis at which the condition is y.
func (a *dosedAxis) wanted(y float64) float64 {
	if !a.dosed {
		return y
	}
	start, perML := a.strength()
	return (y - start) / perML
}

// renew fills the vessel with fresh tap water.
func (k *tank) renew(now time.Duration) {
	k.move(now)
	k.water = tap(k.volumeFull())
	k.behindEC, k.behindPH = 0, 0
}

func (k *tank) volumeFull() float64 { return tankFull * k.size }

// give adds an amount at the tank's present time. dead says that the pump turns and
// nothing arrives; reversed that the bottle holds the opposite.
func (k *tank) give(a *dosedAxis, amount float64, dead, reversed bool) {
	k.dosed += amount
	if dead {
		return
	}
	sign := 1.0
	if reversed {
		sign = -1
	}
	if a.condition == 0 {
		k.change(k.plus(water{amount / 1000, sign * amount * saltStrength, 0}))
		return
	}
	k.change(k.plus(water{amount / 1000, 0, -sign * amount * acidStrength}))
}

// doseAll gives the doses among the values of a write and returns the others.
func (p *Plant) doseAll(values map[int]float64, name string) map[int]float64 {
	others := map[int]float64{}
	for i, amount := range values {
		if !p.opt.Variables[i].Dose {
			others[i] = amount
			continue
		}
		if last := p.lastDose[i]; name != "" && last.name == name {
			continue
		}
		if p.lastDose == nil {
			p.lastDose = map[int]namedDose{}
		}
		p.lastDose[i] = namedDose{name, amount}
		if k := &p.knobs[i]; amount > 0 && !k.stuck {
			p.tank.advance(p.now)
			p.tank.move(p.now)
			p.tank.give(&p.dosing.axes[i], amount, k.dead, k.wrongSign)
			p.cadence.restart(p.now)
		}
	}
	return others
}

// ofReservoir says in words what a sensor in this unit shows of the reservoir; "":
// nothing.
func (p *Plant) ofReservoir(unit string) string {
	switch {
	case p.tank == nil:
		return ""
	case unit == levelUnit:
		return "level"
	case unit == dosedUnit:
		return "count of all doses"
	case p.renews && unit == dosingAxes[0].unit:
		return "conductivity"
	case p.renews && unit == dosingAxes[1].unit:
		return "pH"
	}
	return ""
}
