package mqtt

import (
	"context"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// question is a message that asks a device for its readings. Channels may share one.
type question struct {
	topic, payload string
	every          time.Duration
}

// questions are those of the channels, each once, as often as the most eager channel asks.
func questions(channels []*channel) (all []question) {
next:
	for _, c := range channels {
		if c.poll == nil {
			continue
		}
		for i := range all {
			if q := &all[i]; q.topic == c.poll.topic && q.payload == c.poll.payload {
				q.every = min(q.every, c.poll.every)
				continue next
			}
		}
		all = append(all, *c.poll)
	}
	return all
}

// keepAsking puts the questions while the link is there: each as often as it says, all of them
// on a new connection and where a write waits to hear from the device.
func (d *Device) keepAsking(ctx context.Context, l *link.Link) {
	all := questions(d.channels)
	if len(all) == 0 {
		return
	}
	due := make([]time.Time, len(all))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-d.askNow:
			due = make([]time.Time, len(all))
		case <-ctx.Done():
			return
		}
		now := d.env.Clock.Now()
		next := link.MinBackoff // where there is no connection, one may come at any time
		if conn, err := l.Open(); err == nil {
			next = d.ask(ctx, conn, all, due, now)
		}
		timer.Reset(next)
	}
}

// ask puts the questions that are due, and gives the time until the next one is.
func (d *Device) ask(ctx context.Context, conn *link.Connection, all []question, due []time.Time, now time.Time) time.Duration {
	next := all[0].every
	for i, q := range all {
		if !due[i].After(now) {
			due[i] = now.Add(q.every)
			sending, cancel := context.WithTimeout(ctx, d.options.WriteTimeout)
			err := conn.Publish(sending, q.topic, []byte(q.payload))
			cancel()
			if err != nil {
				due[i] = time.Time{} // over the next connection, which this one's end brings
				return link.MinBackoff
			}
		}
		next = min(next, due[i].Sub(now))
	}
	return max(next, time.Millisecond)
}

// poke has the questions put at once.
func (d *Device) poke() {
	select {
	case d.askNow <- struct{}{}:
	default:
	}
}

var _ drivers.Listener = (*Device)(nil)
