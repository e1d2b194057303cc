package sim

import "math"

// wire lists the channels, variables before sensors, and makes an output of every
// sensor. Which sensor is which signal is the model's to say; see assign.
func (p *Plant) wire() {
	for i, v := range p.opt.Variables {
		p.channels = append(p.channels, channel{v.Device, v.Channel, v.Unit, i, -1})
	}
	for i, s := range p.opt.Sensors {
		out := output{Sensor: s, from: fromConstant}
		if c := p.find(s.Device, s.Channel); c >= 0 {
			out.from, out.index = fromVariable, p.channels[c].variable
			p.channels[c].output = i
		} else {
			p.channels = append(p.channels, channel{s.Device, s.Channel, s.Unit, -1, i})
		}
		p.outputs = append(p.outputs, out)
	}
}

// find returns the index of a device's channel, -1 if there is none.
func (p *Plant) find(device, name string) int {
	for i, c := range p.channels {
		if c.device == device && c.name == name {
			return i
		}
	}
	return -1
}

// objective returns the index of the output that is the plant's objective: the
// first sensor marked so, else the first that no variable owns, else the first.
func (p *Plant) objective() int {
	free := -1
	for i, s := range p.outputs {
		if s.from == fromVariable {
			continue
		}
		if s.Objective {
			return i
		}
		if free < 0 {
			free = i
		}
	}
	return max(free, 0)
}

// assign gives the objective its signal and every sensor that the plant knows
// nothing of a constant.
func (p *Plant) assign() {
	main := p.objective()
	p.outputs[main].from, p.outputs[main].index, p.outputs[main].event = fromSignal, 0, true
	if !p.outputs[main].Objective {
		p.note("sensor %q is the plant's objective", p.outputs[main].Name)
	}
	for i := range p.outputs {
		s := &p.outputs[i]
		if s.from != fromConstant {
			continue
		}
		s.event = s.Objective
		if s.Interlock != nil {
			s.value = middle(max(s.Interlock[0], s.Low), min(s.Interlock[1], s.High))
			p.note("sensor %q is constant at %v %s, inside its interlock", s.Name, s.value, s.Unit)
			continue
		}
		s.value = middle(s.Low, s.High)
		p.note("sensor %q is constant at %v %s: this plant knows no such quantity", s.Name, s.value, s.Unit)
	}
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
