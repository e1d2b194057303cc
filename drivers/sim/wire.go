package sim

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// assign says which outputs show the model's signals, and gives every sensor that
// the plant knows nothing of a constant.
func (p *Plant) assign() error {
	goal := p.layout.pick(func(output) bool { return true })
	if goal < 0 {
		return errors.New("every sensor is on the channel of a variable; the objective needs one of its own")
	}
	p.layout.objective = goal
	signals := []int{goal}
	if p.laser != nil {
		signals = []int{p.layout.pick(func(s output) bool { return !isPointing(s.Sensor) }), p.layout.pick(func(s output) bool { return isPointing(s.Sensor) })}
	}
	for k, i := range signals {
		if i < 0 {
			continue
		}
		s := &p.layout.outputs[i]
		s.from, s.index, s.event = optimum.Signal, k, true
		if p.laser != nil {
			p.layout.note("sensor %q is the laser's %s", s.Name, []string{"pulse energy", "pointing"}[k])
		}
	}
	for i := range p.layout.outputs {
		s := &p.layout.outputs[i]
		if s.from != optimum.Constant {
			continue
		}
		if what := p.ofReservoir(s.Unit); what != "" {
			s.from = optimum.Reservoir
			switch s.Unit { // to who asks for the plant's truth
			case levelUnit:
				s.value = p.tank.volume
			case dosingAxes[0].unit:
				s.value = p.tank.ec()
			case dosingAxes[1].unit:
				s.value = p.tank.ph()
			}
			p.layout.note("sensor %q is the reservoir's %s", s.Name, what)
			continue
		}
		s.event = s.Objective
		if s.Interlock != nil {
			s.value = middle(max(s.Interlock[0], s.Low), min(s.Interlock[1], s.High))
			p.layout.note("sensor %q is constant at %v %s, inside its interlock", s.Name, s.value, s.Unit)
			continue
		}
		s.value = middle(s.Low, s.High)
		p.layout.note("sensor %q is constant at %v %s: this plant knows no such quantity", s.Name, s.value, s.Unit)
	}
	return nil
}

// isPointing reports whether a sensor looks like the laser's pointing.
func isPointing(s Sensor) bool {
	return strings.Contains(strings.ToLower(s.Name), "pointing") || slices.Contains([]string{"mrad", "urad", "rad"}, s.Unit)
}

// middle returns a number between low and high, either of which may be infinite;
// low where they are crossed.
func middle(low, high float64) float64 {
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return 0
	case math.IsInf(low, -1):
		return high
	case math.IsInf(high, 1), low > high:
		return low
	}
	return low + (high-low)/2
}
