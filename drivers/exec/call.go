package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// pendingReply is an answer that is still due.
type pendingReply struct {
	id       int64
	op       string
	sent     time.Time // by the environment's clock
	deadline time.Time // by the machine's clock, as contexts have it
}

// call sends one request and waits for its answer. An error that wraps
// drivers.ErrProtocol or drivers.ErrUnavailable means that the child is gone.
//
// A context that is cancelled ends the wait and keeps the child: the answer is
// then due before the next request goes out. A context whose deadline passes
// makes the answer late, which is a fault.
func (d *Device) call(ctx context.Context, c *child, req request) (map[string]float64, time.Time, error) {
	none := time.Time{}
	if err := ctx.Err(); err != nil {
		return nil, none, fmt.Errorf("%s not sent: %w: %w", req.Op, drivers.ErrNotSent, err)
	}
	if o := d.pending; o != nil {
		if _, _, err := d.await(ctx, c, o); err != nil && !errors.Is(err, drivers.ErrRefused) {
			return nil, none, fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
		}
	}
	if req.late != nil {
		if err := req.late(d.env.Clock.Now()); err != nil {
			return nil, none, fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
		}
	}
	o, err := d.send(ctx, c, req)
	if err != nil {
		return nil, none, err
	}
	d.pending = o
	return d.await(ctx, c, o)
}

// send writes a request's line.
func (d *Device) send(ctx context.Context, c *child, req request) (*pendingReply, error) {
	select {
	case s, more := <-c.lines:
		if !more {
			return nil, fmt.Errorf("%w: %w", drivers.ErrNotSent, d.gone(c))
		}
		return nil, fmt.Errorf("%w: %w", drivers.ErrNotSent, d.fault(c, fmt.Errorf("%w: the child said %s without being asked; it must answer each request once", drivers.ErrProtocol, wire.Quote(s.text))))
	default:
	}
	d.lastID++
	deadline := time.Now().Add(cmp.Or(req.patience, d.options.ReplyTimeout))
	if earlier, has := ctx.Deadline(); has && earlier.Before(deadline) {
		deadline = earlier
	}
	req.ID = d.lastID
	req.DeadlineMS = max(1, time.Until(deadline).Milliseconds())
	line, err := req.encode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
	}
	o := &pendingReply{id: req.ID, op: req.Op, sent: d.env.Clock.Now(), deadline: deadline}
	if err := c.in.SetWriteDeadline(deadline); err != nil {
		return nil, d.gone(c)
	}
	if _, err := c.in.Write(line); err != nil {
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, d.gone(c)
		}
		return nil, d.fault(c, fmt.Errorf("%w: the child did not read its %s request within %v; is it hanging?", drivers.ErrProtocol, req.Op, d.options.ReplyTimeout))
	}
	return o, nil
}

// await waits for one answer.
func (d *Device) await(ctx context.Context, c *child, o *pendingReply) (map[string]float64, time.Time, error) {
	timer := time.NewTimer(time.Until(o.deadline))
	defer timer.Stop()
	select {
	case s, more := <-c.lines:
		if !more {
			return nil, time.Time{}, d.gone(c)
		}
		d.pending = nil
		return d.accept(c, o, s)
	case <-timer.C:
		return nil, time.Time{}, d.late(c, o)
	case <-c.quit:
		return nil, time.Time{}, errClosed
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, time.Time{}, d.late(c, o)
		}
		return nil, time.Time{}, fmt.Errorf("%s given up before its answer: %w", o.op, ctx.Err())
	}
}

func (d *Device) late(c *child, o *pendingReply) error {
	return d.fault(c, fmt.Errorf("%w: no answer to %s (request %d) in time; is the child hanging? A slow instrument needs a longer reply_timeout than %v", drivers.ErrProtocol, o.op, o.id, d.options.ReplyTimeout))
}

// accept reads the answer to o: its values, and when they were taken.
func (d *Device) accept(c *child, o *pendingReply, s outputLine) (map[string]float64, time.Time, error) {
	if s.at.Before(o.sent) {
		return nil, time.Time{}, d.fault(c, fmt.Errorf("%w: the child said %s before it was asked; it must answer each request once", drivers.ErrProtocol, wire.Quote(s.text)))
	}
	a, err := parseAnswer(s.text, o.id)
	if err != nil {
		return nil, time.Time{}, d.fault(c, fmt.Errorf("%w: answer to %s (request %d): %w%s", drivers.ErrProtocol, o.op, o.id, err, hintFor(s.text, err)))
	}
	if a.refusal != nil {
		a.refusal.Op = o.op
		return nil, time.Time{}, a.refusal
	}
	return a.values, s.at.Add(-a.age), nil
}
