package mqtt

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// status is what the device said last about being there. A retained message
// counts here: it is the broker's memory of it, and a last will mends it. It
// counts for the connection that it came over only; the next one brings it again.
type status struct {
	from *link.Connection // nil: nothing was said yet
	text string
	// spoke says that the device has given a reading since. Who speaks is there: the
	// status was garbled, or it is the will of a connection that the device has replaced.
	spoke bool
}

// takeStatus remembers a status, of the receiving goroutine, where the message is one.
func (d *Device) takeStatus(m link.Arrived) {
	for _, o := range d.options.statuses() {
		if o.Topic != m.Topic {
			continue
		}
		text := o.in(m.Payload)
		d.mu.Lock()
		before := d.status[m.Topic]
		d.status[m.Topic] = status{from: m.From, text: text}
		d.mu.Unlock()
		if before.text != text {
			d.env.Log.Info("the device's status", slog.String("topic", m.Topic), slog.String("says", text))
		}
		d.wake()
	}
}

// in is what a message says of being there: what stands at the path of a JSON object, or the
// whole message where it is none, as the firmware of a bridge may be older than its description.
func (o *StatusTopic) in(payload []byte) string {
	if o.Path != "" {
		if root, err := wire.Object(payload); err == nil {
			if p, err := parsePath(o.Path); err == nil {
				if v, there := p.find(root); there {
					return textOf(v)
				}
			}
		}
	}
	return string(payload[:min(len(payload), wire.Excerpt)])
}

// statuses are the topics that say whether the device is there; all of them must.
func (o *Options) statuses() []StatusTopic {
	if o.Status == nil {
		return o.Availability
	}
	return append([]StatusTopic{*o.Status}, o.Availability...)
}

// ready gives the connection if it is to be trusted and the device is there, as
// far as its status topics say.
func (d *Device) ready() (*link.Connection, error) {
	l, err := d.openLink()
	if err != nil {
		return nil, err
	}
	if err := d.owner.owned(); err != nil {
		return nil, err
	}
	conn, err := l.Stable()
	if err != nil {
		return conn, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.options.statuses() {
		s := d.status[o.Topic]
		switch {
		case s.from != conn && o.Optional:
		case s.from != conn:
			return nil, fmt.Errorf("%w: nothing was said on the status topic %q yet", drivers.ErrUnavailable, o.Topic)
		case s.text != o.Online && !s.spoke:
			return nil, fmt.Errorf("%w: the device's status on %q is %s", drivers.ErrUnavailable, o.Topic, wire.Quote([]byte(s.text)))
		}
	}
	return conn, nil
}

// awaitReady waits until the device is there; the broker sends a retained status
// right after the subscription.
func (d *Device) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.options.ConnectTimeout)
	defer cancel()
	for {
		_, err := d.ready()
		if err == nil {
			return nil
		}
		select {
		case <-d.changed:
		case <-ctx.Done():
			return err
		}
	}
}
