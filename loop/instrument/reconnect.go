package instrument

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

const (
	// reopenFirst is the wait before a device is opened again, reopenMost the longest.
	// Not shorter: a port or a child needs a moment to be gone. Not longer: an
	// instrument that is back should not wait for minutes.
	reopenFirst = 100 * time.Millisecond
	reopenMost  = 10 * time.Second
	// reopenSafe is the longest wait where the safe value of a trip, or the state that the end of a run
	// brings it to, waits for the device. Not shorter: a child may need as long to start.
	reopenSafe = time.Second
	// spentFirst is how long a device must answer after its budget was spent, before
	// the run goes on; it doubles up to spentMost while failures come back soon.
	spentFirst = time.Second
	spentMost  = 5 * time.Minute
	// powerCycle is how long an outage must last for the device to be taken for one
	// that has been switched off and on. Not longer: few instruments boot faster.
	powerCycle = time.Second
	// hush is the silence after which nothing is held against an actuator.
	hush = time.Second
	// pingEvery is how often a device that speaks on its own is asked whether its
	// connection is there.
	pingEvery = time.Second
)

// outage is what is known of one device's failures.
type outage struct {
	// failed are the times of the failures within the window.
	failed []time.Time
	// out says that the last call failed, since when.
	out   bool
	since time.Time
	// spent says that the budget is, last when a failure was seen last, patience how
	// long the device must then answer.
	spent    bool
	last     time.Time
	patience time.Duration
	// wait is the last wait before the device was opened again, next when it will be.
	wait    time.Duration
	next    time.Time
	opening bool
	// unread says that nothing is written before the readbacks have been seen: what
	// the device did meanwhile is not known.
	unread bool
	// forgot says that this outage was long enough for that.
	forgot bool
	pinged time.Time
}

// strike notes that a device has failed; reopen says that it must be opened again.
func (x *devices) strike(p *Present, k *link, reopen bool) {
	m, now, o := &k.outage, p.Now, &x.plan.Outages
	if !o.Wait {
		return
	}
	fresh := !m.out || reopen
	if !m.out {
		m.out, m.since = true, now
	}
	m.last = now
	if reopen {
		most := reopenMost
		if p.final() && k.act != nil {
			most = reopenSafe
		}
		k.later(now, most)
	}
	if !fresh {
		return
	}
	kept := m.failed[:0]
	for _, at := range m.failed {
		if now.Sub(at) <= o.Window {
			kept = append(kept, at)
		}
	}
	if m.failed = append(kept, now); len(m.failed) > o.Retries {
		m.failed = m.failed[1:]
		x.spend(k, fmt.Sprintf("failed more than %d times in %v", o.Retries, o.Window))
	}
}

// later puts the next attempt to open a device off, for longer each time, at most for so long.
func (k *link) later(now time.Time, most time.Duration) {
	k.outage.wait = min(max(2*k.outage.wait, reopenFirst), most)
	k.outage.next = now.Add(k.outage.wait)
}

// spend holds the run for a device whose budget is spent.
func (x *devices) spend(k *link, why string) {
	m := &k.outage
	if m.spent {
		return
	}
	m.spent = true
	m.patience = min(max(2*m.patience, spentFirst), spentMost)
	x.tell(Said{"warn", "device", fmt.Sprintf("device %q %s: the run is held, and tries again (%v)", k.name, why, k.trouble)})
}

// answered notes that a device has answered.
func (x *devices) answered(p *Present, k *link) {
	m := &k.outage
	if k.trouble != "" && !m.out {
		k.trouble = ""
	}
	if !m.out {
		return
	}
	m.out, m.wait = false, 0
	gone := p.Now.Sub(m.since)
	k.trouble, m.forgot = "", false
	x.tell(Said{"info", "device", fmt.Sprintf("device %q answers again after %v", k.name, gone.Round(time.Millisecond))})
}

// standsUnknown forgets where a device's actuators stand: it may have been switched
// off and on. They are read before they are driven, and taken over where they are.
func (x *Instrument) standsUnknown(k *link) {
	for i := range x.all {
		v := &x.plan.Variables[i]
		if v.Channel.Device != k.index || !v.Actuated || v.Dose { // a dose is over by its own answer
			continue
		}
		a := &x.all[i]
		if a.drive || a.release {
			x.moved.Add(i)
		}
		a.lost, a.arrived, a.released, a.written = true, false, false, math.NaN()
		if v.Tolerance > 0 {
			x.variables[i].Known = false
			k.outage.unread = true
		}
	}
}

// unread reports whether variable i is one of a device that must be read first.
func (x *devices) unread(i int) bool {
	k := x.deviceOf(i)
	return k != nil && k.outage.unread
}

// seen lets a device be written to again once its readbacks have come.
func (x *Instrument) seen(k *link) {
	if !k.outage.unread {
		return
	}
	for i := range x.plan.Variables {
		v := &x.plan.Variables[i]
		if v.Channel.Device == k.index && v.Actuated && v.Tolerance > 0 && !x.variables[i].Known {
			return
		}
	}
	k.outage.unread = false
	for i := range x.plan.Variables {
		if x.deviceOf(i) == k && x.all[i].drive {
			x.cameBack.Add(i)
		}
	}
}

// Reconnect looks after the devices that fail: it opens those again that need it, and
// holds the run for those whose budget is spent.
func (x *Instrument) Reconnect(p Present) []any {
	now := p.Now
	if !p.Reconnects {
		return nil
	}
	for _, k := range x.links {
		m := &k.outage
		switch {
		case k.dead != nil && !m.opening && !now.Before(m.next):
			x.reopen(k)
		case k.listens && k.dead == nil && k.open:
			x.ping(k, now)
		}
		if m.out && !m.forgot && now.Sub(m.since) >= powerCycle {
			m.forgot = true
			x.standsUnknown(k)
		}
		switch {
		case m.out && now.Sub(m.since) > x.plan.Outages.Window:
			x.spend(k, fmt.Sprintf("has not answered for %v", x.plan.Outages.Window))
		case m.spent && !m.out && now.Sub(m.last) >= m.patience:
			m.spent, m.failed = false, nil
		case !m.out && now.Sub(m.last) > spentMost:
			m.patience = 0
		}
	}
	return x.told()
}

// ping asks a device that speaks on its own whether its connection is there. What it
// says is not looked at: that comes by itself.
func (x *devices) ping(k *link, now time.Time) {
	if k.reading || now.Sub(k.outage.pinged) < pingEvery {
		return
	}
	k.outage.pinged = now
	x.ask(read{k: k, channels: k.quiet, ping: true})
}

// reopened is what became of a device that was opened again.
type reopened struct {
	k        *link
	channels []drivers.Channel
	err      error
}

// reopen opens a device again on its worker. It moves nothing.
func (x *devices) reopen(k *link) {
	k.outage.opening = true
	ctx, cancel := context.WithTimeout(x.ctx, drivers.OpenTime(k.dev))
	x.pool.Post(k.worker, func() any {
		defer cancel()
		closing := k.dev.Close()
		channels, err := k.dev.Open(ctx)
		if err != nil {
			err = errors.Join(err, closing)
		}
		return reopened{k, channels, err}
	})
}

// reopened takes a device back if it is what it was.
func (x *Instrument) reopened(p *Present, r reopened) {
	k, err := r.k, r.err
	k.outage.opening = false
	if !p.Reconnects {
		return
	}
	if err == nil {
		before := k.channels
		k.offers(r.channels)
		if err = x.check(k); err != nil {
			k.channels = before
		}
	}
	if err != nil {
		k.dead = err
		x.tellTrouble(k, "open", err)
		x.strike(p, k, true)
		return
	}
	k.dead = nil
	x.answered(p, k)
	x.standsUnknown(k)
}

// Disconnected reports whether a device that the run needs does not answer.
func (x *devices) Disconnected() bool {
	for _, k := range x.links {
		if k.outage.out || k.outage.unread {
			return true
		}
	}
	return false
}

// Devices are the devices as they stand.
func (x *devices) Devices(now time.Time) []control.DeviceStatus {
	out, o := make([]control.DeviceStatus, 0, len(x.links)), &x.plan.Outages
	for _, k := range x.links {
		m := &k.outage
		d := control.DeviceStatus{Name: k.name, Out: m.out || k.dead != nil, OutFor: journal.Number(math.NaN()), Held: m.spent,
			Retries: o.Retries, Window: control.Seconds(o.Window), Trouble: k.trouble}
		for _, at := range m.failed {
			if now.Sub(at) <= o.Window {
				d.Failures++
			}
		}
		if m.out {
			d.OutFor = control.Seconds(now.Sub(m.since))
		}
		out = append(out, d)
	}
	return out
}
