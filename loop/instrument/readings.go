package instrument

import (
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
)

// readings hold the latest value of every channel that the run uses.
type readings struct {
	plan *plan.Options
	// sensors and variables have one entry each, in the order of the plan.
	sensors, variables []plan.Reading
	// oddSensors and oddVariables are the last values that were not believed.
	oddSensors, oddVariables []plan.Reading
	// toldOdd is when it was last reported of each sensor that its values are no data.
	toldOdd []time.Time
	// low and high bound what is believed of each variable: what its device says it
	// can have, and a tenth of that range more, because a readback has noise.
	low, high []float64
	// renewed are the sensors of the newest reading.
	renewed []int
}

func newReadings(o *plan.Options) readings {
	n := len(o.Variables)
	b := readings{plan: o, sensors: make([]plan.Reading, len(o.Sensors)), variables: make([]plan.Reading, n),
		oddSensors: make([]plan.Reading, len(o.Sensors)), oddVariables: make([]plan.Reading, n), low: make([]float64, n), high: make([]float64, n), toldOdd: make([]time.Time, len(o.Sensors))}
	for i := range n {
		b.low[i], b.high[i] = math.Inf(-1), math.Inf(1)
	}
	return b
}

// believe sets what is believed of variable i from what its device declares.
func (b *readings) believe(i int, c drivers.Channel) {
	if margin := 0.1 * (c.Max - c.Min); !math.IsNaN(margin) {
		b.low[i], b.high[i] = c.Min-margin, c.Max+margin
	}
}

// hear passes on what a device said. A time that the device does not tell, or that has not
// come yet, is now: what is here was taken by now, and a clock that is ahead must not make
// a value fresh for longer.
func (x *devices) hear(h *Heard) {
	r := &h.Reading
	for name, err := range r.Missing {
		x.why[plan.Channel{Device: h.Device, Name: name}] = err
	}
	if len(r.Values) == 0 {
		return
	}
	now := x.now()
	if r.At.IsZero() || r.At.After(now) {
		r.At = now
	}
	if h.Asked.After(now) {
		h.Asked = now
	}
	x.tell(h)
}

// Accept keeps the values of a reading and reports which sensors it renewed. believed says
// what the safety layer makes of a sensor's value: what it does not believe is no data. A value
// that was taken before the one that is known, such as one of a device that answers late, is
// no news: an actuator is not where it was before. What it reports holds until the next call.
func (x *Instrument) Accept(h *Heard, believed func(sensor int, value float64, at time.Time) bool) (renewed []int) {
	b, r := &x.readings, &h.Reading
	b.renewed = b.renewed[:0]
	if len(x.why) > 0 {
		for name := range r.Values {
			delete(x.why, plan.Channel{Device: h.Device, Name: name})
		}
	}
	for i := range x.plan.Sensors {
		c := &x.plan.Sensors[i].Channel
		if c.Device != h.Device {
			continue
		}
		v, ok := r.Values[c.Name]
		switch {
		case !ok || b.sensors[i].After(r.At):
		case believed(i, v, r.At):
			b.sensors[i] = plan.Reading{Value: v, At: r.At, Known: true}
			b.renewed = append(b.renewed, i)
		default:
			b.oddSensors[i] = plan.Reading{Value: v, At: r.At, Known: true}
		}
	}
	for i := range x.plan.Variables {
		s := &x.plan.Variables[i]
		if s.Channel.Device != h.Device {
			continue
		}
		v, ok := r.Values[s.Channel.Name]
		switch {
		case !ok || s.Dose || b.variables[i].After(r.At):
		case v >= b.low[i] && v <= b.high[i] && isFinite(v):
			b.variables[i] = plan.Reading{Value: v, At: r.At, Known: true}
		default:
			b.oddVariables[i] = plan.Reading{Value: v, At: r.At, Known: true}
		}
	}
	x.seen(x.links[h.Device])
	return b.renewed
}

// oddAgain is the least time between two reports of a sensor whose values are no data: one at the
// edge of its range would fill the record.
const oddAgain = time.Minute

// NewOdd tells of sensors that give what is no data.
func (x *readings) NewOdd(now time.Time) (told []string) {
	for i := range x.plan.Sensors {
		s := &x.plan.Sensors[i]
		odd := s.OddWords(x.sensors[i], x.oddSensors[i], now)
		if last := x.toldOdd[i]; odd != "" && (last.IsZero() || now.Sub(last) >= oddAgain) {
			x.toldOdd[i] = now
			told = append(told, fmt.Sprintf("sensor %s: %s: no data", s.Name, odd))
		}
	}
	return told
}

// Sensor is what was read of sensor i last, OddSensor what was not believed last.
func (x *readings) Sensor(i int) plan.Reading    { return x.sensors[i] }
func (x *readings) OddSensor(i int) plan.Reading { return x.oddSensors[i] }

// Variable is what was read of variable i last.
func (x *readings) Variable(i int) plan.Reading { return x.variables[i] }

// Answer says what a channel gave in place of a value, "" where it says nothing.
func (x *devices) Answer(c plan.Channel) string {
	if err := x.why[c]; err != nil {
		return ": " + err.Error()
	}
	return ""
}

// Unread is the first actuator with a readback that has not been read, -1 where all have.
func (x *readings) Unread() int {
	for i := range x.plan.Variables {
		if v := &x.plan.Variables[i]; v.Actuated && v.Tolerance > 0 && !x.variables[i].Known {
			return i
		}
	}
	return -1
}

// Odd says why what an actuator reads is no reading, or what its channel gave in place of
// one, "" where it gave nothing.
func (x *Instrument) Odd(i int) string {
	odd, v := x.oddVariables[i], &x.plan.Variables[i]
	switch {
	case !odd.Known, !odd.After(x.variables[i].At):
		return x.Answer(v.Channel)
	case !isFinite(odd.Value):
		return fmt.Sprintf(": it reads %g, which is no number", odd.Value)
	}
	return fmt.Sprintf(": it reads %s, and its device can only have %.5g to %s", plan.InUnit(odd.Value, v.Unit), x.low[i], plan.InUnit(x.high[i], v.Unit))
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
