package instrument

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/safety"
)

// link is one device: it keeps at most one read and one write in flight.
type link struct {
	// index is the device's, worker where its calls run.
	index    int
	worker   int
	name     string
	dev      drivers.Device
	act      drivers.Actuator // nil: read only
	listens  bool
	channels map[string]drivers.Channel
	// quiet are the channels that are asked for at any time, all those asked for
	// while shots are taken.
	quiet, all []string
	open       bool
	// asked is the question under way, and the last one with its answer where reading is false.
	reading bool
	asked   read
	// flight is the write under way; nil: none is.
	flight *flight
	calls  calls
	safe   makingSafe
	// parting is what has become of the device's promise to keep its outputs at the end.
	parting parting
	// dead says that the device broke its protocol or could not be opened: it is
	// not called again before it has been reopened.
	dead error
	// reviving says that it is being opened again, and brought to its own safe state.
	reviving bool
	// heard is when the device last answered or spoke.
	heard time.Time
	// trouble is the last transient error, reported once.
	trouble string
	outage  outage
}

func newLinks(devices []Device, worker int) []*link {
	links := make([]*link, len(devices))
	for i, d := range devices {
		act, _ := d.Device.(drivers.Actuator)
		_, listens := d.Device.(drivers.Listener)
		links[i] = &link{index: i, worker: worker + i, name: d.Name, dev: d.Device, act: act, listens: listens}
	}
	return links
}

// ready says that a write can be sent now.
func (k *link) ready() bool {
	return k.act != nil && k.open && k.flight == nil && k.dead == nil && !k.outage.unread
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
	d, ok := k.dev.(drivers.SafeCloser)
	return ok && k.parting != promised && (k.parting == refused || d.SafeOnClose())
}

// What jobs on a device's worker bring, and what devices hand over on their own.
type (
	opened struct {
		k        *link
		channels []drivers.Channel
		err      error
	}
	// read is a question by Poll, or a ping, whose values nobody looks at, and its answer.
	read struct {
		k        *link
		ctx      context.Context
		channels []string
		ping     bool
		heard    Heard
		err      error
	}
	// spoken is a reading, remarked a text that a device sent on its own.
	spoken struct {
		k       *link
		reading drivers.Reading
	}
	remarked struct {
		k    *link
		text string
	}
	shut struct {
		k   *link
		err error
	}
)

// Open connects the devices: each is Opened. Calls of devices end with ctx.
func (x *devices) Open(ctx context.Context) {
	x.ctx = ctx
	for _, k := range x.links {
		x.openLink(k)
	}
}

// openLink connects one device.
func (x *devices) openLink(k *link) {
	if s, ok := k.dev.(drivers.Listener); ok {
		s.Listen(func(r drivers.Reading) {
			if !x.pool.Put(spoken{k, r}) {
				x.dropped.Add(1)
			}
		})
	}
	if s, ok := k.dev.(drivers.Notifier); ok {
		s.Notify(func(text string) { x.pool.Put(remarked{k, text}) })
	}
	x.pool.Post(k.worker, func() any {
		channels, err := k.dev.Open(x.ctx)
		return opened{k, channels, err}
	})
}

// opened takes in that a device is open.
func (x *devices) opened(o opened) {
	k := o.k
	if o.err != nil {
		k.dead = o.err
		x.tell(Opened{Device: k.name, Err: o.err})
		return
	}
	k.open = true
	k.offers(o.channels)
	x.unopened--
	x.tell(Opened{Device: k.name, All: x.unopened == 0})
}

// Handle takes in what a job has brought. It reports false where that is not of an
// instrument.
func (x *Instrument) Handle(p Present, result any) ([]any, bool) {
	switch r := result.(type) {
	case opened:
		x.opened(r)
	case *read:
		x.answer(&p, r)
	case spoken:
		if len(r.reading.Values) > 0 { // what was not taken shows nothing of the device
			r.k.heard = p.Now
		}
		x.hear(&Heard{r.k.index, r.reading, r.reading.At})
	case remarked:
		x.tell(Said{"warn", "device", fmt.Sprintf("device %q: %s", r.k.name, r.text)})
	case *wrote:
		x.wrote(&p, r)
	case gave:
		x.gave(&p, r)
	case reopened:
		x.reopened(&p, r)
	case halted:
		x.tookHalt(r)
	case revived:
		x.revived(r)
	case parted:
		r.k.parted(r)
	case shut:
		if r.err != nil {
			x.tell(Said{"warn", "close", fmt.Sprintf("device %q: %v", r.k.name, r.err)})
		}
		x.tell(Closed{})
	default:
		return nil, false
	}
	return x.told(), true
}

// Poll asks every device for what is needed now. The objective's channels are asked only
// while shots are taken: asking may be what measures.
func (x *devices) Poll(shots bool) {
	for _, k := range x.links {
		if shots {
			x.poll(k, k.all)
		} else {
			x.poll(k, k.quiet)
		}
	}
}

// poll asks a device for channels unless an answer is still awaited.
func (x *devices) poll(k *link, channels []string) {
	if !k.open || k.reading || k.dead != nil || k.listens || len(channels) == 0 {
		return
	}
	x.ask(read{k: k, channels: channels, heard: Heard{Device: k.index, Asked: x.now()}})
}

// ask puts a question to its device, to which none is under way.
func (x *devices) ask(a read) {
	k := a.k
	a.ctx = k.calls.context(x.ctx)
	k.reading, k.asked = true, a
	x.pool.PostJob(k.worker, &k.asked)
}

// Do implements [worker.Job].
func (a *read) Do() any {
	a.heard.Reading, a.err = a.k.dev.Read(a.ctx, a.channels)
	return a
}

// answer takes in what a device was asked for.
func (x *devices) answer(p *Present, a *read) {
	k := a.k
	k.reading = false
	switch {
	case overtaken(a.ctx, a.err):
	case a.err != nil:
		x.deviceError(p, k, "read", a.err)
		if !a.ping && errors.Is(a.err, drivers.ErrNoValue) {
			k.heard = p.Now
			x.tell(NoValue{a.heard.Asked, a.err})
		}
	default:
		x.answered(p, k)
		if !a.ping {
			k.heard = p.Now
			x.hear(&a.heard)
		}
	}
}

// deviceError sorts a device's error: a refusal is reported once; what may pass is tried
// again; a device that cannot be used any more is opened again, or is Broken where
// outages are not waited out.
func (x *devices) deviceError(p *Present, k *link, doing string, err error) {
	if !errors.Is(err, drivers.ErrNoValue) {
		x.tell(Troubled{k.name, doing})
	}
	passes := errors.Is(err, drivers.ErrUnavailable) && !errors.Is(err, drivers.ErrClosed)
	if passes || errors.Is(err, drivers.ErrRefused) {
		x.tellTrouble(k, doing, err)
		if !errors.Is(err, drivers.ErrRefused) {
			x.strike(p, k, false)
		}
		return
	}
	if k.dead != nil {
		return
	}
	k.dead = err
	if p.Reconnects {
		x.tellTrouble(k, doing, err)
		x.strike(p, k, true)
		return
	}
	x.tell(Broken{k.index, fmt.Errorf("%s of device %q: %w", doing, k.name, err)})
}

// tellTrouble tells of an error once, until another one comes or the device answers.
func (x *devices) tellTrouble(k *link, doing string, err error) {
	if k.trouble == err.Error() {
		return
	}
	k.trouble = err.Error()
	x.tell(Said{"warn", "device", fmt.Sprintf("%s of device %q: %v", doing, k.name, err)})
}

// Close closes the devices: each is Closed.
func (x *devices) Close() {
	for _, k := range x.links {
		x.pool.Post(k.worker, func() any { return shut{k, k.dev.Close()} })
	}
}
