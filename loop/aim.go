package loop

import (
	"errors"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// aim is where one variable is wanted and how far that has come.
type aim struct {
	// drive says that the variable is driven to dest through the safety layer.
	drive bool
	dest  float64
	// bad says that the policy asked for what is not finite; dest stands in for it.
	bad bool
	// release says that the device is to let go; released that it has.
	release, released bool
	// written is the last setpoint that the device acknowledged, first at writtenAt;
	// NaN: none since it was last released.
	written   float64
	writtenAt time.Time
	// arrived says that written is the destination.
	arrived bool
	// lost says that the outcome of a write is unknown since the last tick.
	lost bool
	// refused is the device's no to what it was told last, refusedSafe that this was a rest
	// state.
	refused     error
	refusedSafe bool
	// dose numbers the dose that is wanted, 0: none; dest is its amount then. failed
	// says that it was not given, or that nobody knows; why is the device's reason.
	dose   int64
	failed bool
	why    error
	// outcome and delivered say what has become of the last one since the last tick;
	// amount is what the step has given.
	outcome           safety.DoseOutcome
	delivered, amount float64
}

func newAims(o *plan.Options) []aim {
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
	*a = aim{drive: true, dest: dest, written: a.written, writtenAt: a.writtenAt, lost: a.lost}
}

// letGo asks for a release, unless the device has let go already.
func (a *aim) letGo() {
	if a.released {
		return
	}
	*a = aim{release: true, written: math.NaN(), lost: a.lost}
}

// batch is what one device is told in one tick, and the variables in it.
type batch struct {
	setpoints drivers.Setpoints
	vars      []int
	// atRest says that all of it are rest states, where they are to stay.
	atRest bool
}

// takeOverFrom is the value that a variable is taken over from when it begins to
// be driven: what was last written, else what was last read.
func (l *Loop) takeOverFrom(i int) float64 {
	if l.opt.Variables[i].Dose {
		return 0 // each dose is all of the way
	}
	if a := &l.aims[i]; !math.IsNaN(a.written) {
		return a.written
	}
	if e := l.board.variables[i]; e.known {
		return e.value
	}
	return math.NaN()
}

// collect gathers what the safety layer has device d told.
func (l *Loop) collect(d int, out *safety.Output) batch {
	b := batch{setpoints: drivers.Setpoints{Values: map[string]float64{}, Safe: l.safety.Mode >= safety.Fallback}}
	b.atRest = b.setpoints.Safe
	for i := range l.aims {
		c := l.opt.Variables[i].Channel
		switch {
		case c.Device != d:
		case out.Write[i] && l.opt.Variables[i].Dose: // see giveAll
		case out.Release[i]:
			b.setpoints.Release = append(b.setpoints.Release, c.Name)
			b.vars = append(b.vars, i)
		case out.Write[i]:
			b.setpoints.Values[c.Name] = out.Setpoint[i]
			b.atRest = b.atRest && out.Setpoint[i] == out.Destination[i]
			l.limit(i, &b.setpoints)
			b.vars = append(b.vars, i)
		}
	}
	return b
}

// limit gives a setpoint the time of its lease where the device takes one: then it ends
// by itself if nobody refreshes it, whatever has become of this process.
func (l *Loop) limit(i int, s *drivers.Setpoints) {
	c, lease := l.opt.Variables[i].Channel, l.limits.Variables[i].Lease
	if !l.links[c.Device].channels[c.Name].Lasts {
		return
	}
	if s.For == nil {
		s.For = map[string]time.Duration{}
	}
	s.For[c.Name] = lease
}

// send writes a batch and notes what the device made of it.
func (l *Loop) send(k *link, b batch) {
	l.drove = true
	l.failpoint("before-write")
	if l.final() {
		l.overtakeDoses(k.lane - laneDevice)
	} else if l.tooLate() {
		return
	}
	if !b.setpoints.Safe {
		b.setpoints.LeaveBy = l.ruledAt.Add(l.leaveWithin(b.vars))
	}
	l.write(k, b.setpoints, func(asked time.Time, err error) {
		l.failpoint("after-write")
		k.straggle(&b, err, asked, l.now())
		for _, i := range b.vars {
			l.acknowledge(i, b, err, asked)
		}
		l.giveWaiting(k) // else a device that is written to in every tick would get none
	})
}

// leaveMost is how long a setpoint without a lease may wait for its device. Not longer:
// nobody remembers what it was for. Not shorter: several channels of a slow instrument
// take seconds.
const leaveMost = 10 * time.Second

// leaveWithin is how long a write may wait before it leaves: as long as the shortest lease
// in it, since what is older than that the device would have dropped.
func (l *Loop) leaveWithin(vars []int) time.Duration {
	within := leaveMost
	for _, i := range vars {
		if lease := l.limits.Variables[i].Lease; lease > 0 {
			within = min(within, lease)
		}
	}
	return within
}

// staleTicks is how many ticks old a setpoint may be when it is handed over: as many as
// slew lets one tick count for.
const staleTicks = 2

// tooLate reports whether the loop has stood still since this tick's decisions: they are
// left to the next tick, which knows what the world has become meanwhile.
func (l *Loop) tooLate() bool { return l.now().Sub(l.ruledAt) > staleTicks*l.opt.Tick }

// acknowledge takes in the outcome of one variable of a write.
func (l *Loop) acknowledge(i int, b batch, err error, asked time.Time) {
	a := &l.aims[i]
	value, set := b.setpoints.Values[l.opt.Variables[i].Channel.Name]
	if errors.Is(err, errRevoked) {
		return // it has not left
	}
	if err != nil {
		// What the device did is not known: the way begins again from what is.
		a.lost = true
		if errors.Is(err, drivers.ErrRefused) {
			a.refused, a.refusedSafe = err, b.setpoints.Safe
		}
		return
	}
	if b.setpoints.Safe {
		a.refused = nil // of an earlier value
	}
	if !set {
		a.released, a.written = true, math.NaN()
		return
	}
	if a.release {
		return // on its way out when it was to let go: what stands is about to go
	}
	if a.written != value {
		a.written, a.writtenAt = value, asked
	}
	a.released = false
}

// destinationOf is a destination as the safety layer clamps it.
func destinationOf(limits *safety.VariableLimits, dest float64) float64 {
	c, _ := limits.Clamp(dest, dest)
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

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
