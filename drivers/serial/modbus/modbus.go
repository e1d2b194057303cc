package modbus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Protocol is how instruments that speak Modbus are spoken to.
type Protocol struct {
	Station
	framing
	timing   protocol.Timing
	channels []Places // by channel.index
}

// Places are the registers or coils in which one channel's value stands; those it does not have
// are nil. Verify is how far what is read back may lie from what was written, nil: nothing is
// read back.
type Places struct {
	Read, Write *Register
	Verify      *float64
}

// back is where to read what was written.
func (p Places) back() *Register {
	if p.Write == nil || p.Verify == nil {
		return nil
	}
	r := *p.Write
	r.Function = readHolding
	if ofBits(p.Write.Function) {
		r.Function = readCoils
	}
	return &r
}

// RTU prepares an instrument on a serial line of so many bits per second; its options are
// valid.
func RTU(o Station, timing protocol.Timing, baud int, channels []*protocol.Channel, places []Places) (*Protocol, error) {
	return prepared(o, timing, rtu{silence: frameSilence(baud), pause: timing.ReadTimeout}, channels, places)
}

// TCP prepares an instrument, or a unit behind a gateway, over a connection of the network.
func TCP(o Station, timing protocol.Timing, channels []*protocol.Channel, places []Places) (*Protocol, error) {
	return prepared(o, timing, &tcp{}, channels, places)
}

func prepared(o Station, timing protocol.Timing, f framing, channels []*protocol.Channel, places []Places) (*Protocol, error) {
	t := &Protocol{Station: o, framing: f, timing: timing, channels: places}
	var problems []error
	if o.Expect != nil {
		if err := o.Expect.Register.validate(readCoils, readDiscrete, readHolding, readInput); err != nil {
			problems = append(problems, fmt.Errorf("expect.register: %w", err))
		}
	}
	for i, c := range channels {
		err := places[i].validate()
		if w := places[i].Write; err == nil && w != nil {
			// A write is answered with a copy of it.
			c.WriteConfirmed = true
			for _, v := range []float64{c.Min, c.Max, c.Safe} {
				if _, encodeErr := t.encode(c, w, v); err == nil && !math.IsNaN(v) && encodeErr != nil {
					err = fmt.Errorf("write.register: %w", encodeErr)
				}
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
		}
	}
	return t, errors.Join(problems...)
}

// validate checks the registers of one channel.
func (p Places) validate() error {
	if p.Read != nil {
		if err := p.Read.validate(readCoils, readDiscrete, readHolding, readInput); err != nil {
			return fmt.Errorf("read.register: %w", err)
		}
	}
	if p.Write != nil {
		if err := p.Write.validate(writeCoil, writeSingle, writeCoils, writeMultiple); err != nil {
			return fmt.Errorf("write.register: %w", err)
		}
	}
	return nil
}

// Greet implements protocol.Protocol. On a serial line a frame has no number: a late answer looks
// like the answer to any question of the same length. Only a silence as long as the longest
// wait for an answer shows that none is on its way.
func (t *Protocol) Greet(ctx context.Context, l *protocol.Line) error {
	var err error
	for range 1 + t.timing.Retries {
		if !t.numbered() {
			if err = l.Hush(ctx); err != nil {
				return err
			}
		}
		if t.Expect == nil {
			return nil
		}
		if err = t.recognise(ctx, l); err == nil || !protocol.Suspicious(err) || l.Spent(err) {
			return err
		}
	}
	return err
}

// recognise looks whether the right instrument answers.
func (t *Protocol) recognise(ctx context.Context, l *protocol.Line) error {
	r := &t.Expect.Register
	b, err := t.exchange(ctx, l, readRequest(r.Function, r.Address, r.size()), t.timing.ReplyTimeout)
	if err != nil {
		return fmt.Errorf("expect: %w", err)
	}
	got, err := r.decode(b)
	if err != nil {
		return fmt.Errorf("expect: %w", err)
	}
	if got != t.Expect.Value {
		return fmt.Errorf("%w: register %d holds %v, and expect.value is %v; is another instrument on this port?",
			drivers.ErrProtocol, r.Address, got, t.Expect.Value)
	}
	return nil
}

// Batches implements protocol.Protocol: registers of one function that touch are read with
// one request, and then their values are of one instant.
func (t *Protocol) Batches(channels []*protocol.Channel) [][]*protocol.Channel {
	at := func(c *protocol.Channel) *Register { return t.channels[c.Index].Read }
	sorted := slices.Clone(channels)
	slices.SortStableFunc(sorted, func(a, b *protocol.Channel) int {
		if d := at(a).Function - at(b).Function; d != 0 {
			return d
		}
		return at(a).Address - at(b).Address
	})
	var all [][]*protocol.Channel
	first, end := 0, -1 // the registers of the last batch
	for _, c := range sorted {
		r := at(c)
		last := len(all) - 1
		if last >= 0 && at(all[last][0]).Function == r.Function && r.Address <= end && r.Address+r.size()-first <= r.most() {
			all[last] = append(all[last], c)
			end = max(end, r.Address+r.size())
			continue
		}
		all, first, end = append(all, []*protocol.Channel{c}), r.Address, r.Address+r.size()
	}
	return all
}

// Ask implements protocol.Protocol.
func (t *Protocol) Ask(ctx context.Context, l *protocol.Line, batch []*protocol.Channel) (map[string]float64, error) {
	first := t.channels[batch[0].Index].Read
	end, timeout := first.Address, time.Duration(0)
	for _, c := range batch {
		r := t.channels[c.Index].Read
		end, timeout = max(end, r.Address+r.size()), max(timeout, c.ReadTimeout)
	}
	b, err := t.exchange(ctx, l, readRequest(first.Function, first.Address, end-first.Address), timeout)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, c := range batch {
		r := t.channels[c.Index].Read
		raw, err := r.decode(r.part(b, r.Address-first.Address))
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("register %d: %w", r.Address, err)
		}
		if values[c.Name], err = c.FromRaw(raw); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// encode gives the bytes of a value; what is sent lies within the limits.
func (t *Protocol) encode(c *protocol.Channel, r *Register, v float64) ([]byte, error) {
	b, raw, err := r.encode(c.ToRaw(v))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrRefused, err)
	}
	if sent := c.NearLimit(c.Scale*raw+c.Offset, c.Min, c.Max); sent < c.Min || sent > c.Max {
		return nil, fmt.Errorf("%w: %v %s would be sent as %v, which lies outside %v to %v", drivers.ErrRefused, v, c.Unit, sent, c.Min, c.Max)
	}
	return b, nil
}

// Check implements protocol.Protocol.
func (t *Protocol) Check(c *protocol.Channel, v float64) error {
	_, err := t.encode(c, t.channels[c.Index].Write, v)
	return err
}

// Set implements protocol.Protocol.
func (t *Protocol) Set(ctx context.Context, l *protocol.Line, c *protocol.Channel, v float64) (protocol.Outcome, error) {
	r := t.channels[c.Index].Write
	b, err := t.encode(c, r, v)
	if err != nil {
		return protocol.Outcome{}, err
	}
	if _, err = t.exchange(ctx, l, writeRequest(r.Function, r.Address, b), c.WriteTimeout); err != nil {
		return protocol.Outcome{}, err
	}
	return t.verify(ctx, l, c, b)
}

// verify reads back what was written, where the file asks for it. The value was rounded to what
// its type holds.
func (t *Protocol) verify(ctx context.Context, l *protocol.Line, c *protocol.Channel, written []byte) (protocol.Outcome, error) {
	p := t.channels[c.Index]
	r := p.back()
	if r == nil {
		return protocol.Outcome{}, nil
	}
	if err := protocol.GiveWay(ctx); err != nil {
		return protocol.Outcome{}, err
	}
	b, err := t.exchange(ctx, l, readRequest(r.Function, r.Address, r.size()), c.WriteTimeout)
	if err != nil {
		return protocol.Outcome{}, fmt.Errorf("write.verify: %w", err)
	}
	set, err := r.decode(written)
	raw, backErr := r.decode(r.part(b, 0))
	if err = errors.Join(err, backErr); err != nil {
		return protocol.Outcome{}, fmt.Errorf("write.verify: register %d: %w", r.Address, err)
	}
	got, err := c.FromRaw(raw)
	if err != nil {
		return protocol.Outcome{}, err
	}
	if v := c.Scale*set + c.Offset; math.Abs(got-v) > *p.Verify+drivers.Rounding*math.Abs(v) {
		return protocol.Outcome{}, fmt.Errorf("%w: channel %q was set to %v %s and then says %v; write.verify.tolerance is %v", drivers.ErrRefused, c.Name, v, c.Unit, got, *p.Verify)
	}
	return protocol.Outcome{Readback: got, Told: c.Readable}, nil
}

// Say implements protocol.Protocol. The answer is let pass before the next frame, which it would meet
// on a half-duplex line.
func (t *Protocol) Say(ctx context.Context, l *protocol.Line, c *protocol.Channel, v float64, _ bool) error {
	r := t.channels[c.Index].Write
	b, err := t.encode(c, r, v)
	if err != nil {
		return err
	}
	if err := port.Pause(ctx, max(t.gap(), t.timing.Pause)-time.Since(l.Last)); err != nil {
		return err
	}
	if err := l.Put(string(t.seal(t.Address, writeRequest(r.Function, r.Address, b)))); err != nil || t.numbered() {
		return err
	}
	_, err = l.Drain(ctx, t.timing.ReadTimeout)
	return err
}

// Release implements protocol.Protocol; no channel can be released.
func (t *Protocol) Release(context.Context, *protocol.Line, *protocol.Channel) error {
	return fmt.Errorf("%w: a modbus channel cannot be released", drivers.ErrRefused)
}

// Halt implements protocol.Protocol; there are only the channels' safe values.
func (t *Protocol) Halt(context.Context, *protocol.Line) error { return nil }

// Done implements protocol.Protocol: a write is answered when it has been taken.
func (t *Protocol) Done(context.Context, *protocol.Line, *protocol.Channel) (bool, error) {
	return true, nil
}

// exchange sends a request and receives its answer: what was read.
func (t *Protocol) exchange(ctx context.Context, l *protocol.Line, request []byte, timeout time.Duration) ([]byte, error) {
	if err := l.Clear(ctx); err != nil {
		return nil, err
	}
	if err := port.Pause(ctx, max(t.gap(), t.timing.Pause)-time.Since(l.Last)); err != nil {
		return nil, err
	}
	if err := l.Put(string(t.seal(t.Address, request))); err != nil {
		return nil, err
	}
	answer, err := t.receive(ctx, l, t.Address, request, timeout)
	l.Last = time.Now()
	if err != nil {
		return nil, err
	}
	return parseAnswer(request, answer)
}
