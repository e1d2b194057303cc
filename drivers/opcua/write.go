package opcua

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// Write sends setpoints and releases in one request and looks at the status of each; see
// [drivers.Actuator]. It gives no values: the readings tell what was achieved. A value that the
// file or the server does not allow is an error before anything is sent. A write that is
// not answered in reply_timeout breaks the connection, and its outcome is not known.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	nodes, err := d.nodes(s)
	if err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	c, err := d.line(ctx, s.Safe)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = s.Late(d.env.Clock.Now())
	}
	if err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	if len(nodes) > 0 {
		if err := c.write(ctx, nodes, s.Safe); err != nil {
			return drivers.Reading{}, d.wrap(err)
		}
		d.askSoon()
	}
	return drivers.Reading{At: d.env.Clock.Now()}, nil
}

// askSoon has what is read by asking be asked for at once.
func (d *Device) askSoon() {
	select {
	case d.askNow <- struct{}{}:
	default:
	}
}

// line gives the connection for a write, once the write before has its answer.
func (d *Device) line(ctx context.Context, safe bool) (*connection, error) {
	if safe {
		return d.urgent(ctx)
	}
	c, err := d.ready()
	if err != nil {
		return nil, err
	}
	return c, c.awaitAnswer(ctx)
}

// one is a value for a node, and the channel that it is of.
type one struct {
	channel *channel
	node    *ua.NodeID
	value   *ua.Variant
}

// nodes are the values of one write, in the order of the file.
func (d *Device) nodes(s drivers.Setpoints) (all []one, err error) {
	if d.env.ReadOnly {
		return nil, errReadOnly
	}
	for name := range s.Values {
		if d.named(name) == nil {
			return nil, fmt.Errorf("%w: %q", errNoChannel, name)
		}
	}
	for _, name := range s.Release {
		c := d.named(name)
		_, set := s.Values[name]
		switch {
		case c == nil:
			return nil, fmt.Errorf("%w: %q", errNoChannel, name)
		case !c.CanRelease:
			return nil, fmt.Errorf("%w: channel %q cannot be released; it has no release", drivers.ErrRefused, name)
		case set:
			return nil, fmt.Errorf("channel %q is set and released in one write", name)
		}
	}
	for name, lasts := range s.For {
		if c := d.named(name); c == nil || !c.Lasts || lasts < time.Millisecond {
			return nil, fmt.Errorf("channel %q is to last for %v: only one with write.lease can, for 1ms at least", name, lasts)
		}
	}
	for _, c := range d.channels {
		var some []one
		if v, set := s.Values[c.Name]; set {
			if err := errors.Join(c.Accepts(v, "it has no write"), s.CheckDose(c.Channel)); err != nil {
				return nil, err
			}
			some, err = d.set(c, v, s.For[c.Name])
		} else if slices.Contains(s.Release, c.Name) {
			some, err = d.put(c, nil, c.release, c.released)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// noLease is for how long a setpoint without a lease holds where the server wants to know.
const noLease = math.MaxInt32 * time.Millisecond

// set are the values that set a channel: its lease, that it is held, its setpoint.
func (d *Device) set(c *channel, v float64, lasts time.Duration) (all []one, err error) {
	if c.lease != nil {
		if lasts == 0 {
			lasts = noLease
		}
		all, err = d.put(c, all, c.lease, float64(lasts.Milliseconds()))
	}
	if err == nil && c.release != nil && c.hold != nil {
		all, err = d.put(c, all, c.release, *c.hold)
	}
	if err == nil {
		all, err = d.put(c, all, c.write, c.ToRaw(v))
	}
	return all, err
}

// put adds a value for a node, in the node's type.
func (d *Device) put(c *channel, all []one, node *ua.NodeID, v float64) ([]one, error) {
	value, err := variant(d.types[node.String()], v)
	if d.types == nil {
		err = errNotOpen
	}
	if err != nil {
		return nil, fmt.Errorf("%w: channel %q, node %v: %w", drivers.ErrRefused, c.Name, node, err)
	}
	return append(all, one{c, node, value}), nil
}

// awaitAnswer waits until the last write has its answer, or the connection has ended.
func (c *connection) awaitAnswer(ctx context.Context) error {
	c.mu.Lock()
	before := c.underWay
	c.mu.Unlock()
	if before == nil {
		return nil
	}
	select {
	case <-before:
	case <-c.gone:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.isGone() {
		return c.why()
	}
	return nil
}

// write sends values and looks at what the server says of each. A caller that goes leaves the
// answer due. A safe write waits for no other; where one was under way, a server may have done
// the two in any order, so it is sent again after both have been answered.
func (c *connection) write(ctx context.Context, all []one, safe bool) error {
	err, beside := c.writeOnce(ctx, all)
	if !safe || err != nil || beside == nil {
		return err
	}
	select {
	case <-beside:
	case <-c.gone:
		return fmt.Errorf("an earlier write may still arrive: %w", c.why())
	case <-ctx.Done():
		return ctx.Err()
	}
	err, _ = c.writeOnce(ctx, all)
	return err
}

// writeOnce sends values. beside is the write that was still under way when they left, nil where
// none was.
func (c *connection) writeOnce(ctx context.Context, all []one) (err error, beside chan struct{}) {
	request := &ua.WriteRequest{}
	for _, o := range all {
		request.NodesToWrite = append(request.NodesToWrite, &ua.WriteValue{NodeID: o.node, AttributeID: ua.AttributeIDValue,
			Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: o.value}})
	}
	answered, result := make(chan struct{}), make(chan error, 1)
	c.mu.Lock()
	if c.underWay != nil {
		select {
		case <-c.underWay:
		default:
			beside = c.underWay
		}
	}
	c.underWay = answered
	c.mu.Unlock()
	c.run(func() {
		defer close(answered)
		a, err := call[*ua.WriteResponse](c.ctx, c, "a write", request, c.options.ReplyTimeout)
		if err == nil && len(a.Results) != len(all) {
			err = c.protocol("%d results for %d values", len(a.Results), len(all))
		}
		if err == nil {
			err = judge(all, a.Results)
		}
		if beside != nil {
			select { // the next write waits for both
			case <-beside:
			case <-c.gone:
			}
		}
		result <- err
	})
	select {
	case err = <-result:
	case <-c.gone:
		err = c.why()
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil, errors.Is(err, drivers.ErrRefused):
	default:
		err = fmt.Errorf("the write's outcome is not known: %w", err)
	}
	return err, beside
}

// unsure are the noes that do not say that nothing was done: the server speaks for something behind it.
var unsure = []ua.StatusCode{ua.StatusBadTimeout, ua.StatusBadCommunicationError, ua.StatusBadNoCommunication, ua.StatusBadNotConnected, ua.StatusBadDeviceFailure,
	ua.StatusBadSensorFailure, ua.StatusBadOutOfService, ua.StatusBadResourceUnavailable, ua.StatusBadServerNotConnected, ua.StatusBadRequestTimeout, ua.StatusBadInternalError, ua.StatusBadUnexpectedError}

// judge says what the server's answers to a write mean.
func judge(all []one, results []ua.StatusCode) error {
	var problems []error
	kind := drivers.ErrRefused
	for i, status := range results {
		if status>>31 == 0 {
			continue // good, or taken with a doubt that the readings settle
		}
		if slices.Contains(unsure, status) {
			kind = drivers.ErrUnavailable
		}
		problems = append(problems, fmt.Errorf("channel %q, node %v: %w", all[i].channel.Name, all[i].node, status))
	}
	switch {
	case len(problems) == 0:
		return nil
	case len(problems) < len(all):
		problems = append(problems, errors.New("what else was in this write is in force"))
	}
	return fmt.Errorf("%w: %w", kind, errors.Join(problems...))
}
