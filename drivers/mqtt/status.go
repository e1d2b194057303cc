package mqtt

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// status is what the device said last about being there. A retained message
// counts here: it is the broker's memory of it, and a last will mends it. It
// counts for the connection that it came over only; the next one brings it again.
type status struct {
	from *connection // nil: nothing was said yet
	text string
	// spoke says that the device has given a reading since. Who speaks is there: the
	// status was garbled, or it is the will of a connection that the device has replaced.
	spoke bool
}

// takeStatus remembers a status, of the receiving goroutine.
func (d *Device) takeStatus(m message) {
	text := string(m.payload[:min(len(m.payload), wire.Excerpt)])
	d.mu.Lock()
	before := d.status
	d.status = status{from: m.from, text: text}
	d.mu.Unlock()
	if before.text != text {
		d.env.Log.Info("the device's status", slog.String("topic", m.topic), slog.String("says", text))
	}
	d.wake()
}

// ready gives the connection if it is to be trusted and the device is there, as
// far as its status topic says.
func (d *Device) ready() (*connection, error) {
	l, err := d.openLink()
	if err != nil {
		return nil, err
	}
	if err := d.owner.owned(); err != nil {
		return nil, err
	}
	conn, err := l.stable()
	if err != nil || d.options.Status == nil {
		return conn, err
	}
	d.mu.Lock()
	s := d.status
	d.mu.Unlock()
	switch {
	case s.from != conn:
		return nil, fmt.Errorf("%w: nothing was said on the status topic %q yet", drivers.ErrUnavailable, d.options.Status.Topic)
	case s.text != d.options.Status.Online && !s.spoke:
		return nil, fmt.Errorf("%w: the device's status on %q is %s", drivers.ErrUnavailable, d.options.Status.Topic, wire.Quote([]byte(s.text)))
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
