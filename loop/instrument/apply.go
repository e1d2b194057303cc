package instrument

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
)

// Inputs sets in, which is empty or was set before, to what the safety layer knows of the instrument in this tick; clock
// turns a time into its own. Command, Durable and other faults are not the instrument's.
func (x *Instrument) Inputs(in *safety.Inputs, p Present, clock func(time.Time) time.Duration) {
	in.Ready, in.Faults = x.Unread() < 0, safety.Causes{}
	for i := range x.all {
		a, e := &x.all[i], x.variables[i]
		in.Variable[i] = safety.VariableInput{Readback: safety.Sample{Value: e.Value, At: clock(e.At), Known: e.Known}, CanWrite: x.canWrite(i), CanMakeSafe: x.canMakeSafe(&p, i), Lost: a.lost, Silent: x.silent(i, p.Now), Released: a.released,
			Written: a.sample(clock), Dose: a.outcome, Delivered: a.delivered}
	}
	for d, k := range x.links {
		if d < safety.MaxLinks {
			in.Heard[d] = safety.Sample{At: clock(k.heard), Known: !k.heard.IsZero()}
			if k.flight != nil && k.flight.dose { // its line is taken until the dose is over, by the driver's own time
				in.Heard[d] = safety.Sample{At: clock(p.Now), Known: true}
			}
		}
		if k.outage.spent {
			in.Faults.Add(safety.RuleInstrument, d)
		}
	}
}

// sample is what the device acknowledged last. Its time is rounded up, so that no
// reading of the same millisecond counts as taken after it.
func (w *wire) sample(clock func(time.Time) time.Duration) safety.Sample {
	return safety.Sample{Value: w.written, At: clock(w.writtenAt.Add(trace.Unit - 1)), Known: !math.IsNaN(w.written)}
}

// canWrite says that a setpoint of variable i can go out in this tick.
func (x *Instrument) canWrite(i int) bool {
	k := x.deviceOf(i)
	return k != nil && k.ready() && x.all[i].refused == nil
}

// silent says that the device of variable i is not heard of, or that what it was told
// last is.
func (x *devices) silent(i int, now time.Time) bool {
	k := x.deviceOf(i)
	if k == nil || !x.plan.Outages.Wait {
		return false
	}
	return k.outage.out || k.outage.unread || now.Sub(k.heard) > hush
}

// CameBack has each driven variable whose device has come back since the last
// Rule.
func (x *actuators) CameBack() safety.Set { return x.cameBack }

// Rule takes in what the safety layer said in this tick; turned says that its mode has
// changed, so that nothing that was said before may leave any more.
func (x *Instrument) Rule(p Present, out *safety.Output, turned bool) {
	x.ruledAt, x.cameBack = p.Now, safety.Set{}
	if turned {
		x.orders.Add(1)
		x.overtakeAll(&p)
	}
	for i := range x.all {
		a := &x.all[i]
		if a.lost {
			a.lostAt, a.unsure = p.Now, true
		}
		// Until it has been read, nothing is known of it. A safe value does not wait for that.
		a.lost, a.outcome = x.unread(i) && !x.plan.Variables[i].Dose && !p.final(), safety.DosePending
		if a.drive {
			a.arrived, a.failed = out.Arrived[i], out.Failed[i]
		}
	}
}

// Apply tells the devices what the safety layer has given out. Nothing reaches an actuator
// except from here. The doses in it are to be recorded first.
func (x *Instrument) Apply(p Present, out *safety.Output) (doses []*Dose) {
	for d, k := range x.links {
		if b := x.collect(&p, d, out); !b.vars.Empty() {
			x.send(&p, k, b)
		}
	}
	for i := range x.all {
		if x.plan.Variables[i].Dose && out.Write[i] {
			doses = append(doses, x.grant(i, out.Setpoint[i]))
		}
	}
	return doses
}

// batch is what one device is sent in one tick, and the variables in it.
type batch struct {
	setpoints drivers.Setpoints
	vars      safety.Set
	// atRest says that all of it are rest states, where they are to stay.
	atRest bool
}

// collect gathers what the safety layer has sent to device d.
func (x *Instrument) collect(p *Present, d int, out *safety.Output) batch {
	b := batch{setpoints: drivers.Setpoints{Safe: p.Mode >= safety.Fallback}}
	b.atRest = b.setpoints.Safe
	for i := range x.all {
		c := x.plan.Variables[i].Channel
		switch {
		case c.Device != d:
		case out.Write[i] && x.plan.Variables[i].Dose: // see grant
		case out.Release[i]:
			b.add(i)
			b.setpoints.Release = append(b.setpoints.Release, c.Name)
		case out.Write[i]:
			b.add(i)
			b.setpoints.Values[c.Name] = out.Setpoint[i]
			x.all[i].unsure = x.all[i].unsure || x.all[i].written != out.Setpoint[i]
			b.atRest = b.atRest && out.Setpoint[i] == out.Destination[i]
			x.limit(i, &b.setpoints)
		}
	}
	return b
}

// add notes that variable i is in the batch.
func (b *batch) add(i int) {
	if b.setpoints.Values == nil {
		b.setpoints.Values = map[string]float64{}
	}
	b.vars.Add(i)
}

// limit gives a setpoint the time of its lease where the device takes one: then it ends
// by itself if nobody refreshes it, whatever has become of this process.
func (x *Instrument) limit(i int, s *drivers.Setpoints) {
	c, lease := x.plan.Variables[i].Channel, x.plan.Variables[i].Limits.Lease
	if !x.links[c.Device].channels[c.Name].Lasts {
		return
	}
	if s.For == nil {
		s.For = map[string]time.Duration{}
	}
	s.For[c.Name] = lease
}

// send writes a batch, unless the loop has stood still since it was decided.
func (x *Instrument) send(p *Present, k *link, b batch) {
	x.drove = true
	x.failpoint("before-write")
	if p.final() {
		x.overtakeDoses(k)
	} else if x.tooLate() {
		return
	}
	if !b.setpoints.Safe {
		b.setpoints.SendBy = x.ruledAt.Add(x.leaveWithin(&b.vars))
	}
	x.write(p, k, b)
}

// leaveMost is how long a setpoint without a lease may wait for its device. Not longer:
// nobody remembers what it was for. Not shorter: several channels of a slow instrument
// take seconds.
const leaveMost = 10 * time.Second

// leaveWithin is how long a write may wait before it leaves: as long as the shortest lease
// in it, since what is older than that the device would have dropped.
func (x *Instrument) leaveWithin(vars *safety.Set) time.Duration {
	within := leaveMost
	for i := range x.plan.Variables {
		if lease := x.plan.Variables[i].Limits.Lease; vars.Has(i) && lease > 0 {
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
func (x *Instrument) tooLate() bool { return x.now().Sub(x.ruledAt) > staleTicks*x.plan.Tick }

// errRevoked is the outcome of a write that did not leave: while it waited for its
// device the mode changed, or the watchdog halted everything, or it was too late.
var errRevoked = errors.New("revoked before it left")

// wrote is a write, and what became of it, which began at asked.
type wrote struct {
	x       *Instrument
	k       *link
	flight  flight
	batch   batch
	ctx     context.Context
	asked   time.Time
	reading drivers.Reading
	heard   Heard
	err     error
}

// write sends a batch. Nothing revokes the safe values of a trip or a stop.
func (x *Instrument) write(p *Present, k *link, b batch) {
	k.parting = notAsked // a write takes the device's promise back
	w := &wrote{x: x, k: k, flight: flight{mode: p.Mode}, batch: b}
	k.flight = &w.flight
	if !p.final() {
		w.batch.setpoints.Revoked = x.revoking()
	}
	w.ctx = k.calls.context(x.ctx)
	x.pool.PostJob(k.worker, w)
}

// Do implements [worker.Job]: it writes what has not been revoked meanwhile.
func (w *wrote) Do() any {
	w.asked = w.x.now()
	if w.ctx.Err() != nil || w.batch.setpoints.Late(w.asked) != nil {
		w.err = errRevoked
		return w
	}
	w.reading, w.err = w.k.act.Write(w.ctx, w.batch.setpoints)
	return w
}

// revoking says of what is decided under the present orders whether it may not leave any more; it is the same
// function until they change.
func (x *devices) revoking() func() bool {
	if orders := x.orders.Load(); x.underOrders == nil || x.order != orders {
		x.order, x.underOrders = orders, func() bool { return x.revoked(orders) }
	}
	return x.underOrders
}

// revoked says that what was decided under orders may not leave any more. After a stop of the
// whole process a device's goroutine may be back before the loop and the watchdog, in the middle
// of a write of several messages.
func (x *devices) revoked(orders int64) bool {
	return x.halted.Load() || x.orders.Load() != orders || x.opt.Stood != nil && x.opt.Stood()
}

// Revoke has nothing leave any more that was said before, but for safe values.
func (x *devices) Revoke() { x.orders.Add(1) }

// wrote takes in what a device has made of a write, and the readback, if any.
func (x *Instrument) wrote(p *Present, w *wrote) {
	k := w.k
	k.landed(&w.flight)
	switch {
	case errors.Is(w.err, errRevoked):
	case overtaken(w.ctx, w.err): // which says nothing about the device
	case errors.Is(w.err, drivers.ErrLate): // nor does this
		if errors.Is(w.err, drivers.ErrNotSent) {
			w.err = errRevoked
		}
	case w.err != nil:
		x.deviceError(p, k, "write", w.err)
	default:
		x.answered(p, k)
		k.heard = p.Now
		w.heard = Heard{k.index, w.reading, w.asked}
		x.hear(&w.heard)
	}
	x.failpoint("after-write")
	k.straggle(&w.batch, w.err, w.asked, p.Now)
	for i := range x.all {
		if w.batch.vars.Has(i) {
			x.acknowledge(i, w)
		}
	}
	x.giveWaiting(p, k) // else a device that is written to in every tick would get none
}

// acknowledge takes in the outcome of one variable of a write.
func (x *Instrument) acknowledge(i int, w *wrote) {
	a, safe := &x.all[i], w.batch.setpoints.Safe
	value, set := w.batch.setpoints.Values[x.plan.Variables[i].Channel.Name]
	if errors.Is(w.err, errRevoked) {
		return // it has not left
	}
	if w.err != nil {
		// What the device did is not known: the way begins again from what is.
		a.lost, a.unsure = true, true
		if errors.Is(w.err, drivers.ErrRefused) {
			a.refused, a.refusedSafe = w.err, safe
		}
		return
	}
	if safe {
		a.refused = nil // of an earlier value
	}
	if !set {
		a.released, a.written = true, math.NaN()
		return
	}
	if a.release {
		return // on its way out when it was to let go: what stands is about to go
	}
	if a.written != value || a.unsure {
		a.written, a.writtenAt = value, w.asked
		x.moved.Add(i)
	}
	a.released, a.unsure = false, w.asked.Before(a.lostAt) // the layer waits for one that it has asked for since
}
