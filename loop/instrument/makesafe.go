package instrument

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// A safe value always gets out. What keeps a proposal back does not keep it back:
//
//	a write, a dose or a read under way    is overtaken: its context ends (calls), and the
//	                                       driver lets go of the line as soon as it can
//	a device that broke its protocol       is told all the same, and opened again at once
//	an actuator that has not been read     is told all the same
//	a setpoint that was refused            is another value than the safe one
//	a stall of the loop, revoked orders    the safe value is as right now as it was then
//	a latch that is not durable yet        is made durable meanwhile
//	a connection that is not trusted       drivers.Setpoints.Safe tells the driver
//
// What does not arrive is written again in the next tick, for as long as it takes: the
// layer gives it out until the device has acknowledged it, so no driver has to remember
// it over a connection.

// repeatSafe is the time between two repeats of a safe value while something older may
// still arrive. Not longer: so long the older one may be in force. Not shorter: the repeats
// share a slow connection with the readings.
const repeatSafe = time.Second

// makingSafe is what is known of the older messages of one device that may still
// arrive.
type makingSafe struct {
	// unknown is when a write left of which it is not known what became; repeated when the
	// rest states were last written again for that.
	unknown, repeated time.Time
	// left is when the last write began of which the driver says that it has left.
	left time.Time
	// told says that the wait for what may still arrive has been reported.
	told bool
}

// calls is the context of the calls of one device. The loop's goroutine and the watchdog's
// end it.
type calls struct {
	mu  sync.Mutex
	ctx context.Context
	end context.CancelCauseFunc
}

// context is that of the calls from now on, until they are overtaken.
func (c *calls) context(parent context.Context) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == nil {
		c.ctx, c.end = context.WithCancelCause(parent)
	}
	return c.ctx
}

// overtake ends the calls under way, so that a safe value need not wait for them.
func (c *calls) overtake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx != nil {
		c.end(drivers.ErrPreempted)
		c.ctx = nil
	}
}

// overtaken says that a call has failed because it was overtaken.
func overtaken(ctx context.Context, err error) bool {
	return err != nil && errors.Is(context.Cause(ctx), drivers.ErrPreempted)
}

// overtakeAll ends what is under way when the layer takes the actuators away, and has
// what is out of order opened again without waiting for its turn. The end of a run is no
// fault: nothing is cut short for it.
func (x *devices) overtakeAll(p *Present) {
	if p.Mode < safety.Fallback || p.Mode == safety.Fallback && p.Ending {
		return
	}
	for _, k := range x.links {
		if k.act == nil {
			continue
		}
		if k.flight == nil || k.flight.mode < safety.Tripped { // else safe values are on their way
			k.calls.overtake()
		}
		k.outage.next = p.Now
	}
}

// overtakeDoses ends the wait for the doses of a device that is to be brought to rest
// states: they count as given.
func (x *Instrument) overtakeDoses(k *link) {
	for _, g := range x.giving {
		if g.sent && !g.cancelled && x.deviceOf(g.variable) == k {
			g.cancelled = true
			g.cancel(drivers.ErrPreempted)
		}
	}
}

// canMakeSafe says that the rest state of variable i can be handed to its driver in this
// tick: all that keeps it back is that it is on its way already, or was refused.
func (x *Instrument) canMakeSafe(p *Present, i int) bool {
	k, a := x.deviceOf(i), &x.all[i]
	if k == nil {
		return false
	}
	free := k.flight == nil || k.flight.mode < safety.Fallback || p.final() && k.flight.mode < safety.Tripped
	return k.act != nil && k.open && free && (a.refused == nil || !a.refusedSafe)
}

// straggle notes what became of a write that began at asked, whose messages may arrive late.
func (k *link) straggle(b *batch, err error, asked, now time.Time) {
	if errors.Is(err, errRevoked) || errors.Is(err, drivers.ErrNotSent) || errors.Is(err, drivers.ErrRefused) {
		return
	}
	k.noteLoss()
	switch {
	case err == nil:
		k.safe.left = asked
	case !b.atRest: // else it is written again anyway
		k.safe = makingSafe{unknown: now}
	}
}

// noteLoss makes unknown what was written before a connection ended: no error has reported it.
func (k *link) noteLoss() {
	s, ok := k.dev.(drivers.DelayedActuator)
	if !ok || k.safe.left.IsZero() || !s.LastLoss().After(k.safe.left) {
		return
	}
	if k.safe.left.After(k.safe.unknown) {
		k.safe.unknown = k.safe.left
	}
	k.safe.left = time.Time{}
}

// straggles says that an older message may still reach a device after its rest states.
func (k *link) straggles() bool {
	s, ok := k.dev.(drivers.DelayedActuator)
	return ok && !k.safe.unknown.IsZero() && k.safe.repeated.Before(k.safe.unknown.Add(s.MaxDelay()))
}

// awaitStragglers reports whether the end of the run waits for a device that an older
// message may still reach, and tells how long that may take, at most until the given time.
func (x *Instrument) awaitStragglers(p *Present, most time.Time) (waits bool) {
	for _, k := range x.links {
		if !k.straggles() || !x.hasRest(p, k) {
			continue
		}
		waits = true
		if until := k.safe.unknown.Add(k.dev.(drivers.DelayedActuator).MaxDelay()); !k.safe.told && p.Now.Before(until) {
			k.safe.told = true
			left := min(until.Sub(p.Now), most.Sub(p.Now))
			x.tell(Said{"info", journal.EventShutdown, fmt.Sprintf("device %q: an earlier setpoint may still arrive; its rest states are written again every second, for %v more at most", k.name, left.Round(time.Second))})
		}
	}
	return waits
}

// hasRest says that bringing a device to rest takes a write.
func (x *Instrument) hasRest(p *Present, k *link) bool {
	for i := range x.plan.Variables {
		if v := &x.plan.Variables[i]; v.Channel.Device == k.index && v.Actuated && (p.restOf(v) != plan.RestHold || x.bounded(i)) {
			return true
		}
	}
	return false
}

// bounded says that variable i may not be left at any of its values.
func (x *Instrument) bounded(i int) bool {
	_, bounded := x.plan.Lasting(i)
	return bounded
}

// RepeatRest has the rest states written again while an older message may still arrive,
// so that they are what the device sees last.
func (x *Instrument) RepeatRest(p Present) {
	if p.Mode < safety.Fallback {
		return
	}
	for _, k := range x.links {
		k.noteLoss()
		if !k.straggles() || p.Now.Sub(k.safe.repeated) < repeatSafe || k.flight != nil {
			continue
		}
		k.safe.repeated = p.Now
		for i := range x.all {
			a, v := &x.all[i], &x.plan.Variables[i]
			switch {
			case v.Channel.Device != k.index || !v.Actuated:
			case p.restOf(v) != plan.RestHold:
				a.written, a.released, a.arrived = math.NaN(), false, false
			case x.bounded(i): // what stands is said again
				a.lost = true
			}
		}
	}
}
