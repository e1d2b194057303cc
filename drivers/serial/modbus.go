package serial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// modbus is the talker of instruments that speak Modbus RTU.
type modbus struct {
	opt      *Options
	channels []registers // by channel.index
	silence  time.Duration
}

// registers are where one channel's value stands; those it does not have are nil.
type registers struct {
	read, write               *Register
	readTimeout, writeTimeout time.Duration
	repeatable                bool
}

// newModbus prepares what the options describe; they are valid and filled.
func newModbus(o *Options, channels []*channel, options []ChannelOptions) (*modbus, error) {
	t := &modbus{opt: o, silence: frameSilence(o.Baud)}
	var problems []error
	if o.Expect != nil {
		if err := o.Expect.Register.validate(readHolding, readInput); err != nil {
			problems = append(problems, fmt.Errorf("expect.register: %w", err))
		}
	}
	for i, c := range channels {
		r, err := parseRegisters(options[i], o.ReplyTimeout)
		if err == nil && r.write != nil {
			// A write is answered with a copy of it.
			c.writeConfirmed = true
			for _, v := range []float64{c.Min, c.Max, c.Safe} {
				if _, encodeErr := t.encode(c, r.write, v); err == nil && !math.IsNaN(v) && encodeErr != nil {
					err = fmt.Errorf("write.register: %w", encodeErr)
				}
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
		}
		t.channels = append(t.channels, r)
	}
	return t, errors.Join(problems...)
}

// frameSilence is the pause between two frames: 3.5 characters of 11 bits, and
// from 19200 bits per second 1.75 ms (MODBUS over Serial Line 1.02, 2.5.1.1).
func frameSilence(baud int) time.Duration {
	if baud > 19200 {
		return 1750 * time.Microsecond
	}
	return time.Duration(3.5 * 11 / float64(baud) * float64(time.Second))
}

// parseRegisters reads what a channel says about registers.
func parseRegisters(o ChannelOptions, timeout time.Duration) (registers, error) {
	var r registers
	if o.Read != nil {
		switch {
		case o.Read.Register == nil:
			return r, errors.New("read has no register, which modbus needs: read = { register = { function = 3, address = 0, type = \"int16\" } }")
		case o.Read.Out != "" || o.Read.In != "" || o.Read.None != "":
			return r, errors.New("read has out, in or none, which describe lines of text; modbus has register alone")
		}
		r.read, r.readTimeout = o.Read.Register, orElse(o.Read.Timeout, timeout)
		if err := r.read.validate(readHolding, readInput); err != nil {
			return r, fmt.Errorf("read.register: %w", err)
		}
	}
	if o.Write != nil {
		switch {
		case o.Write.Register == nil:
			return r, errors.New("write has no register, which modbus needs")
		case o.Write.Out != "" || o.Write.Ack != "" || o.Write.Verify != nil || o.Write.Lasts != "" || o.Write.Done != nil:
			return r, errors.New("write has out, ack, lasts, verify or done, which describe lines of text; modbus has register alone")
		}
		r.write, r.writeTimeout, r.repeatable = o.Write.Register, orElse(o.Write.Timeout, timeout), o.Write.Idempotent
		if err := r.write.validate(writeSingle, writeMultiple); err != nil {
			return r, fmt.Errorf("write.register: %w", err)
		}
	}
	if o.Release != nil {
		return r, errors.New("has release, which describes a line of text; a modbus channel cannot be released")
	}
	return r, nil
}

// greet implements talker. A frame has no number: a late answer looks like the
// answer to any question of the same length. Only a silence as long as the longest
// wait for an answer shows that none is on its way.
func (t *modbus) greet(ctx context.Context, l *line) error {
	var err error
	for range 1 + t.opt.Retries {
		if err = l.hush(ctx); err != nil {
			return err
		}
		if t.opt.Expect == nil {
			return nil
		}
		if err = t.recognise(ctx, l); err == nil || !suspicious(err) {
			return err
		}
	}
	return err
}

// recognise looks whether the right instrument answers.
func (t *modbus) recognise(ctx context.Context, l *line) error {
	r := &t.opt.Expect.Register
	b, err := t.exchange(ctx, l, readRequest(t.opt.Address, r.Function, r.Address, r.words()), t.opt.ReplyTimeout)
	if err != nil {
		return fmt.Errorf("expect: %w", err)
	}
	got, err := r.decode(b)
	if err != nil {
		return fmt.Errorf("expect: %w", err)
	}
	if got != t.opt.Expect.Value {
		return fmt.Errorf("%w: register %d holds %v, and expect.value is %v; is another instrument on this port?",
			drivers.ErrProtocol, r.Address, got, t.opt.Expect.Value)
	}
	return nil
}

// batches implements talker: registers of one function that touch are read with
// one request, and then their values are of one instant.
func (t *modbus) batches(channels []*channel) [][]*channel {
	at := func(c *channel) *Register { return t.channels[c.index].read }
	sorted := slices.Clone(channels)
	slices.SortStableFunc(sorted, func(a, b *channel) int {
		if d := at(a).Function - at(b).Function; d != 0 {
			return d
		}
		return at(a).Address - at(b).Address
	})
	var all [][]*channel
	first, end := 0, -1 // the registers of the last batch
	for _, c := range sorted {
		r := at(c)
		last := len(all) - 1
		if last >= 0 && at(all[last][0]).Function == r.Function && r.Address <= end && r.Address+r.words()-first <= maxRegisters {
			all[last] = append(all[last], c)
			end = max(end, r.Address+r.words())
			continue
		}
		all, first, end = append(all, []*channel{c}), r.Address, r.Address+r.words()
	}
	return all
}

// ask implements talker.
func (t *modbus) ask(ctx context.Context, l *line, batch []*channel) (map[string]float64, error) {
	first := t.channels[batch[0].index].read
	end, timeout := first.Address, time.Duration(0)
	for _, c := range batch {
		r := t.channels[c.index]
		end, timeout = max(end, r.read.Address+r.read.words()), max(timeout, r.readTimeout)
	}
	b, err := t.exchange(ctx, l, readRequest(t.opt.Address, first.Function, first.Address, end-first.Address), timeout)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, c := range batch {
		r := t.channels[c.index].read
		from := 2 * (r.Address - first.Address)
		raw, err := r.decode(b[from : from+2*r.words()])
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("register %d: %w", r.Address, err)
		}
		if values[c.Name], err = c.fromRaw(raw); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// encode gives the bytes of a value; what is sent lies within the limits.
func (t *modbus) encode(c *channel, r *Register, v float64) ([]byte, error) {
	b, raw, err := r.encode(c.toRaw(v))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrRefused, err)
	}
	if sent := c.nearLimit(c.scale*raw + c.offset); sent < c.Min || sent > c.Max {
		return nil, fmt.Errorf("%w: %v %s would be sent as %v, which lies outside %v to %v", drivers.ErrRefused, v, c.Unit, sent, c.Min, c.Max)
	}
	return b, nil
}

// check implements talker.
func (t *modbus) check(c *channel, v float64) error {
	_, err := t.encode(c, t.channels[c.index].write, v)
	return err
}

// set implements talker.
func (t *modbus) set(ctx context.Context, l *line, c *channel, v float64) (outcome, error) {
	r := t.channels[c.index]
	b, err := t.encode(c, r.write, v)
	if err != nil {
		return outcome{}, err
	}
	_, err = t.exchange(ctx, l, writeRequest(t.opt.Address, r.write.Function, r.write.Address, b), r.writeTimeout)
	return outcome{}, err
}

// say implements talker. The answer is let pass before the next frame, which it would meet
// on a half-duplex line.
func (t *modbus) say(ctx context.Context, l *line, c *channel, v float64, _ bool) error {
	r := t.channels[c.index].write
	b, err := t.encode(c, r, v)
	if err != nil {
		return err
	}
	if err := pause(ctx, max(t.silence, t.opt.Pause)-time.Since(l.last)); err != nil {
		return err
	}
	if err := l.put(string(writeRequest(t.opt.Address, r.Function, r.Address, b))); err != nil {
		return err
	}
	_, err = l.drain(ctx, t.opt.ReadTimeout)
	return err
}

// release implements talker; no channel can be released.
func (t *modbus) release(context.Context, *line, *channel) error {
	return fmt.Errorf("%w: a modbus channel cannot be released", drivers.ErrRefused)
}

// halt implements talker; there are only the channels' safe values.
func (t *modbus) halt(context.Context, *line) error { return nil }

// done implements talker: a write is answered when it has been taken.
func (t *modbus) done(context.Context, *line, *channel) (bool, error) { return true, nil }

// repeatable implements talker.
func (t *modbus) repeatable(c *channel) bool { return t.channels[c.index].repeatable }

// exchange sends a request and receives its answer.
func (t *modbus) exchange(ctx context.Context, l *line, request []byte, timeout time.Duration) ([]byte, error) {
	if err := l.clear(ctx); err != nil {
		return nil, err
	}
	if err := pause(ctx, max(t.silence, t.opt.Pause)-time.Since(l.last)); err != nil {
		return nil, err
	}
	if err := l.put(string(request)); err != nil {
		return nil, err
	}
	answer, err := t.receive(ctx, l, request, timeout)
	l.last = time.Now()
	if err != nil {
		return nil, err
	}
	return parseAnswer(request, answer)
}

// receive waits for as many bytes as the answer has.
func (t *modbus) receive(ctx context.Context, l *line, request []byte, timeout time.Duration) ([]byte, error) {
	chunk := make([]byte, maxFrame)
	wait := timeout
	for {
		want := answerLength(request, l.buf)
		if len(l.buf) > want {
			return nil, fmt.Errorf("%w: %d bytes where %d should come", errFrame, len(l.buf), want)
		}
		if len(l.buf) == want {
			answer := l.buf
			l.buf = nil
			return answer, nil
		}
		n, err := l.port.read(ctx, chunk, time.Now().Add(wait))
		switch {
		case err == nil:
			l.buf, wait = append(l.buf, chunk[:n]...), t.opt.ReadTimeout
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case len(l.buf) == 0:
			return nil, fmt.Errorf("%w within %v; is address %d right?", errSilent, timeout, t.opt.Address)
		default:
			return nil, fmt.Errorf("%w: % x, and no more within %v", errCut, shortened(l.buf), t.opt.ReadTimeout)
		}
	}
}
