package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// Open starts a child, reads its hello, tries an operation that no child may
// know, and returns the channels under tuner's names. A child that an earlier
// Open started is dismissed first. A child that says nothing in time or dies
// gives an error that wraps drivers.ErrUnavailable, one that says what it may
// not drivers.ErrProtocol; a program that cannot be started, or a hello that
// does not fit the file, gives neither.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := d.Close(); err != nil && !errors.Is(err, errKilled) {
		return nil, err // two children must not share an instrument
	}
	if err := ctx.Err(); err != nil {
		return nil, d.wrap(err)
	}
	d.mu.Lock()
	closes := d.closes
	d.mu.Unlock()
	c, err := start(d.options, d.env)
	if err != nil {
		return nil, d.wrap(fmt.Errorf("cannot be started: %w; check command and dir (%q)", err, d.options.folder()))
	}
	if err := d.setChild(c, closes); err != nil {
		return nil, d.wrap(err)
	}
	channels, err := d.handshake(ctx, c)
	if err != nil {
		return nil, d.wrap(d.fault(c, err))
	}
	return channels, nil
}

// setChild makes c the child, unless Close came since the count was taken.
func (d *Device) setChild(c *child, closes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.child, d.dead, d.stopping, d.stopErr = c, nil, nil, nil
	d.lastID, d.pending = 0, nil
	if d.closes != closes {
		d.stopChild(errClosed)
		return errClosed
	}
	return nil
}

// handshake hears the hello and checks that unknown operations are refused.
func (d *Device) handshake(ctx context.Context, c *child) ([]drivers.Channel, error) {
	line, err := d.firstLine(ctx, c)
	if err != nil {
		return nil, err
	}
	h, err := parseHello(line)
	if err != nil {
		return nil, fmt.Errorf("%w: hello: %w%s", drivers.ErrProtocol, err, hintFor(line, err))
	}
	channels, err := h.rename(d.childName)
	if err != nil {
		return nil, err
	}
	_, _, err = d.call(ctx, c, request{Op: opUnknown, Extra: true})
	var refusal *RefusedError
	switch {
	case err == nil:
		return nil, fmt.Errorf("%w: the child accepted the operation %q, which does not exist; it must answer unknown operations with the code %q", drivers.ErrProtocol, opUnknown, CodeUnknownOp)
	case !errors.As(err, &refusal):
		return nil, err
	case refusal.Code != CodeUnknownOp:
		return nil, fmt.Errorf("%w: the child answered the operation %q, which does not exist, with the code %s instead of %q", drivers.ErrProtocol, opUnknown, wire.Quote([]byte(refusal.Code)), CodeUnknownOp)
	}
	d.holds.Store(h.holds)
	d.channels = make(map[string]drivers.Channel, len(channels))
	d.toChild, d.fromChild = map[string]string{}, map[string]string{}
	for i, ch := range channels {
		d.channels[ch.Name] = ch
		d.toChild[ch.Name] = h.channels[i].Name
		d.fromChild[h.channels[i].Name] = ch.Name
	}
	d.env.Log.Debug("child said hello", slog.String("name", h.name), slog.Int("channels", len(channels)))
	return channels, nil
}

// firstLine waits for the hello.
func (d *Device) firstLine(ctx context.Context, c *child) ([]byte, error) {
	timer := time.NewTimer(d.options.StartTimeout)
	defer timer.Stop()
	select {
	case s, more := <-c.lines:
		if !more {
			return nil, d.gone(c)
		}
		return s.text, nil
	case <-timer.C:
		return nil, fmt.Errorf("%w: no hello within %v; the child speaks first, and must flush its output; start_timeout gives slow imports longer", drivers.ErrUnavailable, d.options.StartTimeout)
	case <-c.quit:
		return nil, errClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: no hello yet: %w", drivers.ErrUnavailable, ctx.Err())
	}
}

// alive gives the child, or why there is none to ask.
func (d *Device) alive() (*child, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.dead == nil:
		return d.child, nil
	case errors.Is(d.dead, errClosed), errors.Is(d.dead, errNotOpen):
		return nil, d.dead
	}
	return nil, fmt.Errorf("the child was stopped earlier and the device must be opened again: %w", d.dead)
}

// fault ends a child that cannot be trusted or used any more, without waiting
// for it, and returns err; if the device was closed meanwhile, errClosed.
func (d *Device) fault(c *child, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.child != c, errors.Is(d.dead, errClosed):
		return errClosed
	case d.dead == nil:
		d.stopChild(err)
	}
	return err
}

// stopChild starts the child's end; mu is held.
func (d *Device) stopChild(why error) {
	c, leaving := d.child, make(chan struct{})
	d.dead, d.stopping = why, leaving
	go func() {
		end := c.stop
		if d.env.ReadOnly {
			end = c.killUnsafe
		}
		err := end(d.options.ExitTimeout)
		if err != nil {
			d.env.Log.Warn(err.Error())
		}
		d.mu.Lock()
		d.stopErr = err
		d.mu.Unlock()
		close(leaving)
	}()
}

// gone says why a child's output ended, and ends the child.
func (d *Device) gone(c *child) error {
	timer := time.NewTimer(2 * drainTime)
	defer timer.Stop()
	for more := true; more; {
		select {
		case _, more = <-c.lines:
		case <-c.quit:
			return errClosed
		case <-timer.C:
			return d.fault(c, fmt.Errorf("%w: the child takes no more requests and does not exit", drivers.ErrProtocol))
		}
	}
	if errors.Is(c.cut, wire.ErrTooLong) {
		return d.fault(c, fmt.Errorf("%w: %w; print other text on standard error, and ask for fewer channels at once", drivers.ErrProtocol, c.cut))
	}
	select {
	case <-c.exited:
	case <-timer.C:
		return d.fault(c, fmt.Errorf("%w: the child closed its standard output and does not exit", drivers.ErrProtocol))
	}
	how := "ended with exit status 0"
	if c.status != nil {
		how = "ended: " + c.status.Error()
	}
	if errors.Is(c.cut, io.ErrUnexpectedEOF) {
		how += ", in the middle of a line: " + c.cut.Error()
	}
	if last := c.stderr.last(); last != "" {
		how += "; the last line of its standard error is " + wire.QuoteEnds([]byte(last))
	}
	return d.fault(c, fmt.Errorf("%w: %w: the child %s", drivers.ErrUnavailable, drivers.ErrClosed, how))
}

// Close ends the child: its input ends, which asks it to go safe and exit; after
// exit_timeout its process group is killed, and the error says so. A blocked
// call returns. Closing twice is harmless.
func (d *Device) Close() error {
	d.mu.Lock()
	d.closes++
	c := d.child
	if c == nil {
		d.mu.Unlock()
		return nil
	}
	if d.dead == nil {
		d.stopChild(errClosed)
	}
	leaving := d.stopping
	d.mu.Unlock()
	c.ignore() // a blocked call returns at once
	<-leaving
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.child == c {
		d.child, d.dead = nil, errClosed
	}
	if d.stopErr != nil {
		return d.wrap(d.stopErr)
	}
	return nil
}

// hintFor adds the usual cure to an error about a line that was meant for people.
func hintFor(line []byte, err error) string {
	if errors.Is(err, wire.ErrNotJSON) && !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return "; standard output is for answers only, print other text on standard error"
	}
	return ""
}
