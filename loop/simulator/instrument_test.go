package simulator

import (
	"context"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/sim"
)

// The instrument: two knobs that move a laser's light, a door that must be shut, and
// a coolant that must not be silent.
const (
	rangeLow, rangeHigh = 0.0, 10.0
	hardLow, hardHigh   = -1.0, 11.0
	safeValue           = 1.0
	tolerance           = 0.1
	doorShut, doorOpen  = 1.0, 0.0
)

var knobs = []string{"a", "b"}

// newPlant is the simulated laser with the seed's faults.
func newPlant(seed uint64, faults []string) (*sim.Plant, error) {
	o := sim.Options{Kind: "laser", Noise: 1, Seed: seed, Faults: faults,
		Sensors: []sim.Sensor{
			{Name: "energy", Unit: "mJ", Device: "lab", Channel: "energy", Low: 0, High: 20, Objective: true},
			{Name: "door", Unit: "1", Device: "lab", Channel: "door", Low: 0, High: 1},
			{Name: "coolant", Unit: "degC", Device: "lab", Channel: "coolant", Low: 0, High: 40},
		}}
	for _, n := range knobs {
		o.Variables = append(o.Variables, sim.Variable{Name: n, Unit: "V", Low: rangeLow, High: rangeHigh, Start: safeValue,
			Device: "lab", Channel: n, Actuated: true, OnRelease: "hold", Safe: safeValue, Min: hardLow, Max: hardHigh})
	}
	return sim.New(o, drivers.Env{Clock: worldClock{}})
}

// worldClock is the time that nobody sets: the instrument's and the witness's.
type worldClock struct{}

func (worldClock) Now() time.Time { return time.Now() }

// instrument is the plant as its server has it, with the witness at its border.
type instrument struct {
	drivers.Device
	drivers.Actuator
	drivers.Corrupter
	w    *witness
	pump *pump // nil where there is none; the plant knows nothing of it
}

func newInstrument(p *sim.Plant, w *witness) *instrument {
	d := p.Served("lab")
	i := &instrument{Device: d, Actuator: d.(drivers.Actuator), Corrupter: d.(drivers.Corrupter), w: w}
	if w.w.pace.budget != nil {
		i.pump = &pump{w}
	}
	return i
}

// Open offers what the plant has, and the pump.
func (i *instrument) Open(ctx context.Context) ([]drivers.Channel, error) {
	channels, err := i.Device.Open(ctx)
	if err == nil && i.pump != nil {
		channels = append(channels, i.pump.channels()...)
	}
	return channels, err
}

// Read puts the door where the witness has it.
func (i *instrument) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	r, err := i.Device.Read(ctx, slices.DeleteFunc(slices.Clone(channels), func(n string) bool { return n == feed || n == level }))
	if err != nil {
		return r, err
	}
	if i.pump != nil {
		r.Values[level] = i.w.level()
	}
	door, speaks := i.w.door()
	if speaks {
		r.Values["door"] = door
	} else {
		delete(r.Values, "door")
	}
	i.w.readback(r)
	return r, nil
}

// Write shows the witness what was taken.
func (i *instrument) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if s.Dose != "" || slices.Contains(s.Release, feed) {
		return i.pump.write(s)
	}
	r, err := i.Actuator.Write(ctx, s)
	i.w.taken(s, err)
	return r, err
}

// channels are the topics of the instrument; both sides have the same.
func (p *pace) channels() []mqtt.ChannelOptions {
	var out []mqtt.ChannelOptions
	safe, low, high := safeValue, hardLow, hardHigh
	for _, n := range knobs {
		out = append(out, mqtt.ChannelOptions{Channel: n, Unit: "V", ScaleKeys: drivers.ScaleKeys{Min: &low, Max: &high, Safe: &safe, SafeTolerance: tolerance},
			Read:    &mqtt.ReadTopic{Topic: stateTopic, Path: n},
			Write:   &mqtt.WriteTopic{Topic: setTopic(n), TTL: p.ttl},
			Confirm: &mqtt.ConfirmTopic{Topic: "lab/" + n + "/taken", Timeout: p.confirm}})
	}
	for _, n := range []string{"energy", "door", "coolant"} {
		out = append(out, mqtt.ChannelOptions{Channel: n, Read: &mqtt.ReadTopic{Topic: stateTopic, Path: n}})
	}
	if p.budget != nil {
		out = append(out, p.feedChannels()...)
	}
	return out
}

// The topics.
const (
	stateTopic  = "lab/state"
	statusTopic = "lab/status"
)

func setTopic(knob string) string { return "lab/" + knob + "/set" }

// connection is how either side reaches the broker.
func (p *pace) connection(l *line) mqtt.Options {
	o := mqtt.Default()
	o.Broker, o.Dial = "tcp://broker:1883", l.dial
	// No two of them the same: of two timers of one instant either may be first.
	o.KeepAlive, o.PingTimeout = p.keepAlive, 2*p.tick+17*time.Microsecond
	o.WriteTimeout, o.ConnectTimeout, o.HaltTimeout = p.tick*9/10+13*time.Microsecond, p.tick*11/10+19*time.Microsecond, 3*p.tick+23*time.Microsecond
	o.Status = &mqtt.StatusTopic{Topic: statusTopic}
	return o
}
