package sim

import (
	"fmt"
	"math"
	"time"
)

// The dosing plant: growth over a batch, in g/day, by the conductivity and the pH of a
// reservoir (tank.go) and by a temperature that is not controlled:
//
//	g = 12 exp(-(((EC-1.9)/0.7)² + ((pH-5.9)/0.6)² + ((T-22)/6)²)/2)
//	variance = noise² (0.25² + (0.05 (1 + 2 (1 - g/12)) g)²)
//
// A variable is a target concentration: a write doses once towards it. What cannot be
// reached (a lower EC within drainBelow, more than pumpMost, a dead pump's part, less than
// a pump's step) is not: the readback says what is. A variable of doses is an amount:
// see doses.go.
const (
	dosingPeak  = 12.0 // g/day
	dosingFloor = 0.25 // g/day
	dosingShare = 0.05
	// DefaultDosingBatch lets a dose mix and growth show.
	DefaultDosingBatch = 20 * time.Minute
)

// dosingAxis is one condition: its unit in the file, its best value and how wide growth
// is about it, in that unit.
type dosingAxis struct {
	unit        string
	best, width float64
}

// dosingAxes are the conditions in the order EC, pH, temperature.
var dosingAxes = [3]dosingAxis{{"mS/cm", 1.9, 0.7}, {"pH", 5.9, 0.6}, {"degC", 22, 6}}

// dosing implements model.
type dosing struct {
	source
	noise float64
	// axes gives, for each variable, its condition and its range.
	axes []dosedAxis
}

// dosedAxis is what one variable does: its condition and its range. dosed says that it
// is an amount which changes the condition of tap water.
type dosedAxis struct {
	condition int
	interval
	dosed bool
}

// newDosing reads from the variables' units what they are.
func newDosing(variables []Variable, noise float64, s source) (*dosing, error) {
	d := &dosing{source: s, noise: noise}
	taken := map[int]bool{}
	for _, v := range variables {
		condition := -1
		for i, a := range dosingAxes {
			if a.unit == v.Unit {
				condition = i
			}
		}
		if v.Dose {
			condition = doseCondition(v, taken)
		}
		switch {
		case v.Dose && condition < 0:
			return nil, fmt.Errorf("the dosing plant takes two doses, in %s: nutrient, then acid, and none of what another variable sets; variable %q is one too many, or in %q", dosedUnit, v.Name, v.Unit)
		case condition < 0 || taken[condition]:
			return nil, fmt.Errorf("the dosing plant takes one variable in mS/cm, one in pH and one in degC, each at most once; variable %q is in %q", v.Name, v.Unit)
		case v.Actuated && condition == 2:
			return nil, fmt.Errorf("variable %q: the dosing plant has no heater; leave out device and channel, and give it a sensor", v.Name)
		case !v.Actuated && condition < 2:
			return nil, fmt.Errorf("variable %q is not set by anything; the reservoir's EC and pH are dosed", v.Name)
		}
		taken[condition] = true
		d.axes = append(d.axes, dosedAxis{condition, interval{v.Low, v.High}, v.Dose})
	}
	return d, nil
}

func (d *dosing) signals() int { return 1 }

// growth returns the mean and the standard deviation of a batch.
func (d *dosing) growth(u []float64) (mean, sd float64) {
	q := 0.0
	for i, a := range d.axes {
		x := dosingAxes[a.condition]
		z := (a.reached(a.low+u[i]*a.span()) - x.best) / x.width
		q += z * z
	}
	share := math.Exp(-q / 2)
	mean = dosingPeak * share
	return mean, d.noise * math.Hypot(dosingFloor, dosingShare*(1+2*(1-share))*mean)
}

func (d *dosing) moments(_ int, u []float64, _ float64) (mean, variance float64) {
	mean, sd := d.growth(u)
	return mean, sd * sd
}

func (d *dosing) shot(out, u []float64, _ float64, n uint64) {
	mean, sd := d.growth(u)
	out[0] = mean + sd*d.normal(streamShot, n)
}

func (d *dosing) outcomes(u []float64, _ float64, visit func([]float64, float64)) {
	mean, sd := d.growth(u)
	out := make([]float64, 1)
	for _, node := range hermite {
		out[0] = mean + sd*node[0]
		visit(out, node[1])
	}
}

func (d *dosing) landmarks(float64) [][]float64 {
	u := make([]float64, len(d.axes))
	for i, a := range d.axes {
		u[i] = min(max((a.wanted(dosingAxes[a.condition].best)-a.low)/a.span(), 0), 1)
	}
	return [][]float64{u}
}

// buildDosing makes the law and the reservoir.
func (p *Plant) buildDosing() error {
	d, err := newDosing(p.opt.Variables, p.opt.Noise, p.source)
	if err != nil {
		return err
	}
	p.model, p.dosing, p.cadence.batch = d, d, DefaultDosingBatch
	p.tank = newTank(tapEC, tapPH)
	if d.byAmount() {
		p.tank, p.renews = newVessel(tapEC, tapPH, vesselFull), true
		p.layout.note("every batch grows in %v L of fresh tap water (%v mS/cm, pH %v), to which its doses are added", vesselFull, tapEC, tapPH)
	}
	for i, a := range d.axes {
		v := &p.opt.Variables[i]
		if a.dosed {
			p.layout.note("variable %q is the dose of %s", v.Name, [2]string{"nutrient", "acid"}[a.condition])
			continue
		}
		p.layout.note("variable %q is the reservoir's %s", v.Name, [3]string{"conductivity", "pH", "temperature, which nobody controls"}[a.condition])
		if !v.Actuated {
			continue
		}
		switch start, _ := v.boot(); a.condition {
		case 0:
			p.tank.salt = start * p.tank.volume
		case 1:
			p.tank.base = (start - 7) * tankBuffer * p.tank.volume
		}
	}
	return nil
}

// dosed reports whether variable i is a concentration in the reservoir.
func (p *Plant) dosed(i int) bool { return p.tank != nil && p.dosing.axes[i].condition < 2 }

// concentration is variable i's value at t, which is not before p.now.
func (p *Plant) concentration(i int, t time.Duration) float64 {
	k := *p.tank // the reservoir itself goes on when the plant is advanced
	k.advance(t)
	ec, ph := k.at(t)
	a := &p.dosing.axes[i]
	if a.condition == 0 {
		return a.wanted(ec)
	}
	return a.wanted(ph)
}

// doseTargets doses towards the targets that a write has changed.
func (p *Plant) doseTargets(changed []int) {
	if len(changed) == 0 {
		return
	}
	p.tank.advance(p.now)
	p.tank.move(p.now)
	for _, i := range changed {
		k := &p.knobs[i]
		if k.released || k.stuck {
			continue
		}
		if p.dosing.axes[i].condition == 0 {
			p.tank.doseEC(k.setpoint, k.dead)
		} else {
			p.tank.dosePH(k.setpoint, k.dead, k.wrongSign)
		}
	}
}

// Units of sensors that the reservoir itself has: its level and what the pumps
// have counted.
const (
	levelUnit = "L"
	dosedUnit = "mL"
)

// reservoir returns what a sensor in this unit says of the reservoir at t.
func (p *Plant) reservoir(unit string, t time.Duration) float64 {
	k := *p.tank
	if p.shot.number > 0 && t == p.shot.at {
		k = p.shot.tank // which has been renewed since
	}
	k.advance(t)
	ec, ph := k.at(t)
	switch unit {
	case levelUnit:
		return k.after(t - k.since).volume
	case dosingAxes[0].unit:
		return ec
	case dosingAxes[1].unit:
		return ph
	}
	return k.dosed
}
