package sim

import (
	"bytes"
	"regexp"

	"github.com/labtuner/tuner/drivers"
)

// Served returns the view of a device that tuner plant serves: it is a
// drivers.Corrupter beside what Device returns.
func (p *Plant) Served(name string) drivers.Device {
	switch v := p.Device(name).(type) {
	case *actuatorView:
		v.spoils = true
		return &servedActuator{v}
	case *view:
		v.spoils = true
		return &servedView{v}
	default:
		return v
	}
}

// servedView and servedActuator are views whose answers go over a wire.
type (
	servedView     struct{ *view }
	servedActuator struct{ *actuatorView }
)

var (
	_ drivers.Corrupter = (*servedView)(nil)
	_ drivers.Corrupter = (*servedActuator)(nil)
	_ drivers.Actuator  = (*servedActuator)(nil)
)

// Corrupt implements drivers.Corrupter.
func (s *servedView) Corrupt(answer []byte) []byte { return s.view.corrupt(answer) }

// Corrupt implements drivers.Corrupter.
func (s *servedActuator) Corrupt(answer []byte) []byte { return s.view.corrupt(answer) }

// corrupt marks an answer with the faults at work.
func (v *view) corrupt(answer []byte) []byte {
	p := v.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	if p.faults.cut(faultNaN, v.name) {
		answer = lastNumber.ReplaceAll(answer, []byte("${1}NaN$3"))
	}
	if p.faults.cut(faultGarbage, v.name) {
		answer = p.garble(answer)
	}
	return answer
}

// lastNumber finds the last decimal number of an answer: its value, in the formats
// that devices speak.
var lastNumber = regexp.MustCompile(`(?s)^(.*[^0-9.eE+-]|)([+-]?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)([^0-9]*)$`)

// garble replaces about every fourth byte by another one, never the end of the line:
// noise on a line rarely hits just that.
func (p *Plant) garble(answer []byte) []byte {
	const every = 4
	out := bytes.Clone(answer)
	p.faults.garbled++
	for i := range out {
		draw := p.uniform(streamGarbage, p.faults.garbled<<16|uint64(i))
		if out[i] != '\n' && out[i] != '\r' && draw < 1.0/every {
			out[i] = byte(draw * every * 256)
		}
	}
	return out
}
