package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/safety"
)

const (
	// mendFirst is the wait before a device is opened again, mendMost the longest.
	// Not shorter: a port or a child needs a moment to be gone. Not longer: an
	// instrument that is back should not wait for minutes.
	mendFirst = 100 * time.Millisecond
	mendMost  = 10 * time.Second
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

// mend is what the loop knows of one device's failures.
type mend struct {
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

// mends reports whether a device that fails now is waited for.
func (l *Loop) mends() bool {
	return l.opt.Outages.Wait && l.phase > booting && l.phase < homing
}

// strike notes that a device has failed; reopen says that it must be opened again.
func (l *Loop) strike(k *link, reopen bool) {
	m, now, o := &k.mend, l.now(), &l.opt.Outages
	if !o.Wait {
		return
	}
	fresh := !m.out || reopen
	if !m.out {
		m.out, m.since = true, now
	}
	m.last = now
	if reopen {
		m.wait = min(max(2*m.wait, mendFirst), mendMost)
		m.next = now.Add(m.wait)
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
		l.spend(k, fmt.Sprintf("failed more than %d times in %v", o.Retries, o.Window))
	}
}

// spend holds the run for a device whose budget is spent.
func (l *Loop) spend(k *link, why string) {
	m := &k.mend
	if m.spent {
		return
	}
	m.spent = true
	m.patience = min(max(2*m.patience, spentFirst), spentMost)
	l.event("warn", "device", fmt.Sprintf("device %q %s: the run is held, and tries again (%v)", k.name, why, k.trouble))
}

// answered notes that a device has answered.
func (l *Loop) answered(k *link) {
	m, now := &k.mend, l.now()
	if k.trouble != "" && !m.out {
		k.trouble = ""
	}
	if !m.out {
		return
	}
	m.out, m.wait = false, 0
	gone := now.Sub(m.since)
	k.trouble, m.forgot = "", false
	l.event("info", "device", fmt.Sprintf("device %q answers again after %v", k.name, gone.Round(time.Millisecond)))
}

// standsUnknown forgets where a device's actuators stand: it may have been switched
// off and on. They are read before they are driven, and taken over where they are.
func (l *Loop) standsUnknown(k *link) {
	for i := range l.aims {
		v := &l.opt.Variables[i]
		if v.Channel.Device != k.lane-laneDevice || !v.Actuated || v.Dose { // a dose is over by its own answer
			continue
		}
		a := &l.aims[i]
		if v.Dose { // its write says itself what became of it
			a.released = false
			continue
		}
		if a.drive || a.release {
			l.moved |= 1 << i
		}
		a.lost, a.arrived, a.released, a.written = true, false, false, math.NaN()
		if v.Tolerance > 0 {
			l.board.variables[i].known = false
			k.mend.unread = true
		}
	}
}

// unread reports whether variable i is one of a device that must be read first.
func (l *Loop) unread(i int) bool {
	d := l.opt.Variables[i].Channel.Device
	return d >= 0 && l.links[d].mend.unread
}

// seen lets a device be written to again once its readbacks have come.
func (l *Loop) seen(k *link) {
	if !k.mend.unread {
		return
	}
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if v.Channel.Device == k.lane-laneDevice && v.Actuated && v.Tolerance > 0 && !l.board.variables[i].known {
			return
		}
	}
	k.mend.unread = false
	for i := range l.opt.Variables {
		if l.opt.Variables[i].Channel.Device == k.lane-laneDevice && l.aims[i].drive {
			l.cameBack |= 1 << i
		}
	}
}

// mendAll looks after the devices that fail: it opens those again that need it, and
// holds the run for those whose budget is spent.
func (l *Loop) mendAll(now time.Time) {
	if !l.mends() {
		return
	}
	for _, k := range l.links {
		m := &k.mend
		switch {
		case k.dead != nil && !m.opening && !now.Before(m.next):
			l.reopen(k)
		case k.listens && k.dead == nil && k.open:
			l.ping(k, now)
		}
		if m.out && !m.forgot && now.Sub(m.since) >= powerCycle {
			m.forgot = true
			l.standsUnknown(k)
		}
		switch {
		case m.out && now.Sub(m.since) > l.opt.Outages.Window:
			l.spend(k, fmt.Sprintf("has not answered for %v", l.opt.Outages.Window))
		case m.spent && !m.out && now.Sub(m.last) >= m.patience:
			m.spent, m.failed = false, nil
		case !m.out && now.Sub(m.last) > spentMost:
			m.patience = 0
		}
	}
}

// ping asks a device that speaks on its own whether its connection is there. What it
// says is not looked at: that comes by itself.
func (l *Loop) ping(k *link, now time.Time) {
	if k.reading || now.Sub(k.mend.pinged) < pingEvery {
		return
	}
	k.reading, k.mend.pinged = true, now
	ctx := k.calls.context(l.deviceCtx)
	l.post(k.lane, func() func() {
		_, err := k.dev.Read(ctx, k.quiet)
		return func() {
			k.reading = false
			if overtaken(ctx, err) {
				return
			}
			if err != nil {
				l.deviceError(k, "read", err)
				return
			}
			l.answered(k)
		}
	})
}

// reopen opens a device again on its lane. It moves nothing.
func (l *Loop) reopen(k *link) {
	k.mend.opening = true
	ctx, cancel := context.WithTimeout(l.deviceCtx, reviveTimeout)
	l.post(k.lane, func() func() {
		defer cancel()
		closing := k.dev.Close()
		channels, err := k.dev.Open(ctx)
		if err != nil {
			err = errors.Join(err, closing)
		}
		return func() {
			k.mend.opening = false
			if l.mends() {
				l.reopened(k, channels, err)
			}
		}
	})
}

// reopened takes a device back if it is what it was.
func (l *Loop) reopened(k *link, channels []drivers.Channel, err error) {
	if err == nil {
		before := k.channels
		k.offers(channels)
		if err = l.checkDevice(k.lane - laneDevice); err != nil {
			k.channels = before
		}
	}
	if err != nil {
		k.dead = err
		l.tellTrouble(k, "open", err)
		l.strike(k, true)
		return
	}
	k.dead, k.revived = nil, false
	l.answered(k)
	l.standsUnknown(k)
}

// tellTrouble tells of an error once, until another one comes or the device answers.
func (l *Loop) tellTrouble(k *link, doing string, err error) {
	if k.trouble == err.Error() {
		return
	}
	k.trouble = err.Error()
	l.event("warn", "device", fmt.Sprintf("%s of device %q: %v", doing, k.name, err))
}

// mending reports whether the step's clocks stand still because a device that the
// run needs does not answer.
func (l *Loop) mending() bool {
	for _, k := range l.links {
		if k.mend.out || k.mend.unread {
			return true
		}
	}
	return false
}

// outOfOrder adds the devices whose budget is spent.
func (l *Loop) outOfOrder(c *safety.Causes) {
	for d, k := range l.links {
		if k.mend.spent {
			c.Add(safety.RuleInstrument, d)
		}
	}
	if l.spell.on {
		c.Add(safety.RuleInstrument, l.spell.device)
	}
}
