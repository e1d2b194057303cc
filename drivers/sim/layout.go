package sim

import (
	"fmt"
	"strings"

	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// layout says which channels the plant's devices have, and what each shows or sets. It does
// not change after New.
type layout struct {
	variables []Variable
	outputs   []output
	channels  []channel
	// objective is the output that is the objective.
	objective int
	notes     []string
}

// output is a sensor as the plant has it.
type output struct {
	Sensor
	// from says where its value comes from.
	from optimum.Source
	// index is the signal's or the variable's.
	index int
	// value is the constant's.
	value float64
	// event says that it has a value only when there was a shot.
	event bool
}

// channel is one channel of one device. Its variable or its output is -1 if it
// has none; a variable's channel may also be an output.
type channel struct {
	device, name, unit string
	variable, output   int
}

// wire lists the channels, variables before sensors, and makes an output of every
// sensor. Which of them show the model's signals is for assign to say.
func wire(o *Options) layout {
	l := layout{variables: o.Variables}
	for i, v := range o.Variables {
		l.channels = append(l.channels, channel{v.Device, v.Channel, v.Unit, i, -1})
	}
	for i, s := range o.Sensors {
		out := output{Sensor: s, from: optimum.Constant}
		if c := l.find(s.Device, s.Channel); c >= 0 {
			out.from, out.index = optimum.Variable, l.channels[c].variable
			l.channels[c].output = i
		} else {
			l.channels = append(l.channels, channel{s.Device, s.Channel, s.Unit, -1, i})
		}
		l.outputs = append(l.outputs, out)
	}
	return l
}

// find returns the index of a device's channel, -1 if there is none.
func (l *layout) find(device, name string) int {
	for i := range l.channels {
		if c := &l.channels[i]; c.name == name && c.device == device {
			return i
		}
	}
	return -1
}

// pick returns the first output that is no variable's readback and that fits: the
// first marked as objective, else the first of all; -1 if there is none.
func (l *layout) pick(fits func(s output) bool) int {
	first := -1
	for i, s := range l.outputs {
		if s.from == optimum.Variable || !fits(s) {
			continue
		}
		if s.Objective {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// targetOf finds the channels that a fault strikes.
func (l *layout) targetOf(f Fault) (target, error) {
	t := target{Fault: f}
	motor := f.Kind == faultSlow || f.Kind == faultWrongSign || f.Kind == faultDead
	if f.Where == "" {
		switch {
		case ofDevices(f.Kind):
			return t, nil
		case f.Kind == faultDropout:
			for c := range l.channels {
				if l.event(c) {
					t.channels = append(t.channels, c)
				}
			}
			return t, nil
		}
	}
	for c := range l.channels {
		if ofDevices(f.Kind) && l.channels[c].device == f.Where {
			t.device = f.Where
			return t, nil
		}
		wanted := l.matches(c, f.Where)
		if f.Where == "" {
			wanted = motor || l.channels[c].output == l.objective
		}
		if !wanted || motor && !l.settable(c) {
			continue
		}
		t.channels = append(t.channels, c)
		if f.Where == "" {
			break
		}
	}
	switch {
	case len(t.channels) == 0 && motor:
		return t, fmt.Errorf("it needs a variable that can be set; there are %s", l.names(l.settable))
	case len(t.channels) == 0:
		return t, fmt.Errorf("no channel, sensor or variable is called %q; there are %s", f.Where, l.names(nil))
	case len(t.channels) > 1:
		return t, fmt.Errorf("%d devices have a channel %q; name the sensor or the variable", len(t.channels), f.Where)
	}
	t.device = l.channels[t.channels[0]].device
	return t, nil
}

// matches reports whether channel c, or its sensor or variable, is called name.
func (l *layout) matches(c int, name string) bool {
	channel := l.channels[c]
	return channel.name == name ||
		channel.variable >= 0 && l.variables[channel.variable].Name == name ||
		channel.output >= 0 && l.outputs[channel.output].Name == name
}

func (l *layout) settable(c int) bool {
	i := l.channels[c].variable
	return i >= 0 && l.variables[i].Actuated
}

// names lists the channels that keep holds for, or all.
func (l *layout) names(keep func(c int) bool) string {
	var names []string
	for c, channel := range l.channels {
		if keep == nil || keep(c) {
			names = append(names, channel.name)
		}
	}
	return strings.Join(names, ", ")
}

// outputChannel returns the channel of output i.
func (l *layout) outputChannel(i int) int { return l.find(l.outputs[i].Device, l.outputs[i].Channel) }

// event reports whether channel c has values with shots only.
func (l *layout) event(c int) bool {
	return l.channels[c].variable < 0 && l.outputs[l.channels[c].output].event
}

// goal returns the signal that is the objective.
func (l *layout) goal() int { return l.outputs[l.objective].index }

func (l *layout) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}
