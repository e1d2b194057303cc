package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/safety"
)

// Lanes: blocking work that must not overtake itself shares one.
const (
	laneJournal = iota
	laneControl // latches and doses, which do not wait for the journal
	laneMark    // that something is latched, which does not wait for latches and doses
	laneSpace   // the free space on the disk
	lanePolicy
	laneDevice // and one more for each further device
)

// link is the loop's side of one device: it keeps at most one read and one write
// in flight and never waits for either.
type link struct {
	name     string
	dev      drivers.Device
	act      drivers.Actuator // nil: read only
	listens  bool
	lane     int
	channels map[string]drivers.Channel
	// quiet are the channels that are asked for at any time, all those asked for
	// while shots are taken.
	quiet, all []string
	open       bool
	reading    bool
	// flight is the write under way; nil: none is.
	flight *flight
	calls  calls
	safe   makingSafe
	// dead says that the device broke its protocol or could not be opened: it is
	// not called again before it has been reopened.
	dead error
	// revived says that reopening has been tried: it is tried once.
	revived bool
	// heard is when the device last answered or spoke.
	heard time.Time
	// trouble is the last transient error, told once.
	trouble string
	mend    mend
}

func newLinks(devices []Device) []*link {
	links := make([]*link, len(devices))
	for i, d := range devices {
		act, _ := d.Device.(drivers.Actuator)
		_, listens := d.Device.(drivers.Listener)
		links[i] = &link{name: d.Name, dev: d.Device, act: act, listens: listens, lane: laneDevice + i}
	}
	return links
}

// ready says that a write can be sent now.
func (k *link) ready() bool {
	return k.act != nil && k.open && k.flight == nil && k.dead == nil && !k.mend.unread
}

// flight is a write under way.
type flight struct {
	// dose says that it is a dose, which may take its time.
	dose bool
	// mode is the layer's when it was given out.
	mode safety.Mode
}

// landed notes that a write is over, unless another has overtaken it.
func (k *link) landed(f *flight) {
	if k.flight == f {
		k.flight = nil
	}
}

// offers notes what channels a device has.
func (k *link) offers(channels []drivers.Channel) {
	k.channels = map[string]drivers.Channel{}
	for _, c := range channels {
		k.channels[c.Name] = c
	}
}

// lapses says that the device goes to its own safe state when it is closed.
func (k *link) lapses() bool {
	d, ok := k.dev.(drivers.Lapser)
	return ok && d.LapsesOnClose()
}

// openLink connects one device; done runs on the loop's goroutine.
func (l *Loop) openLink(k *link, done func(error)) {
	if s, ok := k.dev.(drivers.Listener); ok {
		s.Listen(func(r drivers.Reading) {
			if !l.pool.Put(func() { k.heard = l.now(); l.handleReading(k, r, r.At) }) {
				l.droppedReadings.Add(1)
			}
		})
	}
	if s, ok := k.dev.(drivers.Teller); ok {
		s.Tell(func(text string) {
			l.pool.Put(func() { l.event("warn", "device", fmt.Sprintf("device %q: %s", k.name, text)) })
		})
	}
	l.post(k.lane, func() func() {
		channels, err := k.dev.Open(l.deviceCtx)
		return func() {
			if err != nil {
				k.dead = err
				done(err)
				return
			}
			k.open = true
			k.offers(channels)
			done(nil)
		}
	})
}

// poll asks a device for channels unless an answer is still awaited.
func (l *Loop) poll(k *link, channels []string) {
	if !k.open || k.reading || k.dead != nil || k.listens || len(channels) == 0 {
		return
	}
	k.reading = true
	asked := l.now()
	ctx := k.calls.context(l.deviceCtx)
	l.post(k.lane, func() func() {
		r, err := k.dev.Read(ctx, channels)
		return func() {
			k.reading = false
			if overtaken(ctx, err) {
				return
			}
			if err != nil {
				l.deviceError(k, "read", err)
				if errors.Is(err, drivers.ErrNoValue) {
					k.heard = l.now()
					l.noShot(asked, err)
				}
				return
			}
			l.answered(k)
			k.heard = l.now()
			l.handleReading(k, r, asked)
		}
	})
}

// errRevoked is the outcome of a write that did not leave: while it waited for its
// device the mode changed, or the watchdog halted everything, or it was too late.
var errRevoked = errors.New("revoked before it left")

// write sends setpoints; done runs on the loop's goroutine after the readback,
// if any, has been taken in, and is told when the write began. Nothing revokes the safe
// values of a trip or a stop.
func (l *Loop) write(k *link, s drivers.Setpoints, done func(asked time.Time, err error)) {
	f := &flight{mode: l.safety.Mode}
	k.flight = f
	orders, final := l.orders.Load(), l.final()
	ctx := k.calls.context(l.deviceCtx)
	l.post(k.lane, func() func() {
		asked := l.deps.Clock.Now()
		if ctx.Err() != nil || !final && l.revoked(orders) || s.Late(asked) != nil {
			return func() { k.landed(f); done(asked, errRevoked) }
		}
		r, err := k.act.Write(ctx, s)
		return func() {
			k.landed(f)
			switch {
			case overtaken(ctx, err): // which says nothing about the device
			case errors.Is(err, drivers.ErrLate): // nor does this
				if errors.Is(err, drivers.ErrNotSent) {
					err = errRevoked
				}
			case err != nil:
				l.deviceError(k, "write", err)
			default:
				l.answered(k)
				k.heard = l.now()
				l.handleReading(k, r, asked)
			}
			done(asked, err)
		}
	})
}

// revoked says that what was decided under orders may not leave any more.
func (l *Loop) revoked(orders int64) bool { return l.halted.Load() || l.orders.Load() != orders }

// deviceError sorts a device's error: a refusal is told once; what may pass is tried
// again; a device that cannot be used any more is opened again, or ends the run where
// outages are not waited out.
func (l *Loop) deviceError(k *link, doing string, err error) {
	if !errors.Is(err, drivers.ErrNoValue) {
		l.meterTrouble(k, doing)
	}
	passes := errors.Is(err, drivers.ErrUnavailable) && !errors.Is(err, drivers.ErrClosed)
	if passes || errors.Is(err, drivers.ErrRefused) {
		l.tellTrouble(k, doing, err)
		if !errors.Is(err, drivers.ErrRefused) {
			l.strike(k, false)
		}
		return
	}
	if k.dead != nil {
		return
	}
	k.dead = err
	if l.mends() {
		l.tellTrouble(k, doing, err)
		l.strike(k, true)
		return
	}
	l.faults.Add(safety.RuleComms, k.lane-laneDevice)
	l.fail(fmt.Errorf("%w: %s of device %q: %w", ErrInstrument, doing, k.name, err))
}

// revive reopens a dead device once and brings it to its own safe state.
func (l *Loop) revive(k *link, done func(error)) {
	ctx, cancel := context.WithTimeout(l.deviceCtx, reviveTimeout)
	l.post(k.lane, func() func() {
		defer cancel()
		err := reviveDevice(ctx, k)
		return func() {
			if err == nil {
				k.dead, k.open = nil, true
			}
			done(err)
		}
	})
}

// reviveTimeout bounds reopening and halting a failed device: long enough for a
// child process to start (10 s by its protocol) and answer.
const reviveTimeout = 15 * time.Second

func reviveDevice(ctx context.Context, k *link) error {
	closing := k.dev.Close()
	if _, err := k.dev.Open(ctx); err != nil {
		return errors.Join(fmt.Errorf("reopen device %q: %w", k.name, err), closing)
	}
	if k.act == nil {
		return nil
	}
	if err := k.act.Halt(ctx); err != nil {
		return fmt.Errorf("bring device %q to its safe state: %w", k.name, err)
	}
	return nil
}
