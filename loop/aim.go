package loop

import (
	"errors"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/safety"
)

// aim is where one variable is wanted and how far that has come.
type aim struct {
	// drive says that the variable is driven to dest through the safety layer.
	drive  bool
	dest   float64
	atOnce bool
	// release says that the device is to let go; released that it has.
	release, released bool
	// written is the last setpoint that the device acknowledged, at writtenAt; NaN:
	// none since it was last released.
	written   float64
	writtenAt time.Time
	// arrived says that written is the destination.
	arrived bool
	refused error
}

func newAims(o *Options) []aim {
	aims := make([]aim, len(o.Variables))
	for i := range aims {
		aims[i].written = math.NaN()
	}
	return aims
}

// driveTo aims a variable at a destination.
func (a *aim) driveTo(dest float64) {
	if a.drive && a.dest == dest && !a.release {
		a.refused = nil
		return
	}
	*a = aim{drive: true, dest: dest, written: a.written, writtenAt: a.writtenAt}
}

// letGo asks for a release, unless the device has let go already.
func (a *aim) letGo() {
	if a.released {
		return
	}
	*a = aim{release: true, written: math.NaN()}
}

// batch is what one device is told in one tick.
type batch struct {
	setpoints drivers.Setpoints
	// vars are the variables in it; arrives whether the setpoint of each is its
	// destination.
	vars    []int
	arrives []bool
}

// actuate passes every driven variable through the safety layer and writes what
// changed. Nothing reaches an actuator except from here.
func (l *Loop) actuate(now time.Time) {
	if l.opt.Mode == Shadow {
		return
	}
	var p safety.Proposal
	var in safety.Inputs
	for i := range l.aims {
		a := &l.aims[i]
		p.Drive[i], p.Destination[i], p.AtOnce[i] = a.drive, a.dest, a.atOnce
		in.Readback[i] = l.takeOverFrom(i)
	}
	var out safety.Output
	before := l.safety
	l.safety, out = safety.Step(&l.limits, l.safety, in, p, now.Sub(l.start))
	for i := range l.aims {
		if l.aims[i].drive && !l.canWrite(i) {
			// The way goes on from what was written, not from what would have been.
			l.safety.Variable[i] = before.Variable[i]
		}
	}
	for d, k := range l.links {
		if !k.ready() {
			continue
		}
		if b := l.collect(d, &out); len(b.vars) > 0 {
			l.send(k, b)
		}
	}
}

// canWrite says that a setpoint of variable i can go out in this tick.
func (l *Loop) canWrite(i int) bool {
	d := l.opt.Variables[i].Channel.Device
	return d >= 0 && l.links[d].ready() && l.aims[i].refused == nil
}

// takeOverFrom is the value that a variable is taken over from when it begins to
// be driven: what was last written, else what was last read.
func (l *Loop) takeOverFrom(i int) float64 {
	if a := &l.aims[i]; !math.IsNaN(a.written) {
		return a.written
	}
	if e := l.board.variables[i]; e.known {
		return e.value
	}
	return math.NaN()
}

// collect gathers what device d has to be told.
func (l *Loop) collect(d int, out *safety.Output) batch {
	b := batch{setpoints: drivers.Setpoints{Values: map[string]float64{}}}
	for i := range l.aims {
		a, v := &l.aims[i], &l.opt.Variables[i]
		if v.Channel.Device != d || a.refused != nil {
			continue
		}
		switch {
		case a.release && !a.released:
			b.setpoints.Release = append(b.setpoints.Release, v.Channel.Name)
			b.vars, b.arrives = append(b.vars, i), append(b.arrives, true)
		case out.Write[i] && (out.Setpoint[i] != a.written || out.Arrived[i] && !a.arrived):
			if v.Stepped && !out.Arrived[i] {
				continue
			}
			b.setpoints.Values[v.Channel.Name] = out.Setpoint[i]
			b.vars, b.arrives = append(b.vars, i), append(b.arrives, out.Arrived[i])
		}
	}
	return b
}

// send writes a batch and notes what the device made of it.
func (l *Loop) send(k *link, b batch) {
	l.drove = true
	l.failpoint("before-write")
	l.write(k, b.setpoints, func(asked time.Time, err error) {
		l.failpoint("after-write")
		for j, i := range b.vars {
			l.acknowledge(i, b, j, err, asked)
		}
	})
}

// acknowledge takes in the outcome of one variable of a write.
func (l *Loop) acknowledge(i int, b batch, j int, err error, asked time.Time) {
	a, name := &l.aims[i], l.opt.Variables[i].Channel.Name
	value, set := b.setpoints.Values[name]
	if err != nil {
		// What the device did is not known: the way begins again from what is.
		l.safety.Variable[i].Known = false
		if errors.Is(err, drivers.ErrRefused) {
			a.refused = err
		}
		return
	}
	if !set {
		if a.release {
			a.released = true
		}
		return
	}
	if !a.drive {
		return
	}
	a.written, a.writtenAt = value, asked
	a.released = false
	a.arrived = b.arrives[j] && value == destinationOf(&l.limits.Variable[i], a.dest)
}

// destinationOf is a destination as the safety layer clamps it.
func destinationOf(limits *safety.VariableLimits, dest float64) float64 {
	c, _ := safety.Clamp(limits, dest, dest)
	return c
}

// inPlace reports whether a driven variable has arrived: acknowledged, and its
// readback, taken after that, within tolerance.
func (l *Loop) inPlace(i int) bool {
	a, v := &l.aims[i], &l.opt.Variables[i]
	if a.release {
		return a.released
	}
	if !a.drive {
		return true
	}
	if !a.arrived {
		return false
	}
	if v.Tolerance <= 0 {
		return true
	}
	e := l.board.variables[i]
	return e.known && !e.at.Before(a.writtenAt) && math.Abs(e.value-a.written) <= v.Tolerance
}
