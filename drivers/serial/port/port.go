package port

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Port owns an open Raw: one goroutine makes its Reads and Writes. The
// library's port leaves much open that this type settles:
//
//	a Read that times out returns 0 bytes and no error   -> os.ErrDeadlineExceeded
//	a Write may block for ever, and Close does not free it -> a deadline; after it the
//	    port is dead, and its output is thrown away until the Write returns
//	a Write may take part of its bytes without an error  -> it goes on, or fails
//	Reads and Writes after Close hit whatever file has the
//	    descriptor by then                               -> they are never made
//	Close under a Read frees the descriptor in its hands -> only the owner closes
//
// After any error the port is dead: it is closed and opened anew, never mended.
type Port struct {
	raw   Raw
	jobs  chan func()
	quit  chan struct{}
	ended chan struct{}
	// closeErr is what Close said; read it after ended.
	closeErr error

	mu     sync.Mutex
	dead   error // why no call is made any more
	closed bool
}

var (
	ErrClosed = errors.New("the port is closed")
	errStuck  = errors.New("the port took no bytes in time; is the instrument held by flow control, or gone?")
	errShort  = errors.New("the port took part of the bytes only")
)

// New takes over an open port.
func New(raw Raw) *Port {
	p := &Port{raw: raw, jobs: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	go p.own()
	return p
}

// own is the goroutine that makes the calls.
func (p *Port) own() {
	defer close(p.ended)
	for {
		select {
		case job := <-p.jobs:
			job()
		case <-p.quit:
			p.closeErr = p.raw.Close()
			return
		}
	}
}

// result is what a call on the raw port returned.
type result struct {
	n   int
	err error
}

// call has the owner make one call and waits for it until limit. A call that is
// not back by then kills the port.
func (p *Port) call(limit time.Duration, f func() (int, error)) (int, error) {
	if err := p.state(); err != nil {
		return 0, err
	}
	back := make(chan result, 1) // so that an owner that comes late is not held up
	timer := time.NewTimer(limit)
	defer timer.Stop()
	job := func() {
		n, err := f()
		back <- result{n, err}
	}
	select {
	case p.jobs <- job:
	case <-timer.C:
		return 0, p.kill(errStuck)
	case <-p.ended:
		return 0, p.kill(ErrClosed)
	}
	select {
	case r := <-back:
		if r.err != nil {
			return r.n, p.kill(r.err)
		}
		return r.n, nil
	case <-timer.C:
		return 0, p.kill(errStuck)
	}
}

func (p *Port) state() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// kill makes err, or the error before it, the reason why no call is made.
func (p *Port) kill(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead == nil {
		p.dead = err
	}
	return p.dead
}

// callLimit bounds a call that should be back after a readSlice: long enough for
// a machine that is busy with other things.
const callLimit = 5 * time.Second

// Read waits for bytes until the deadline, and returns those that came first. The
// error wraps os.ErrDeadlineExceeded where none did, and the context's cause
// where it ended; both leave the port as it is.
func (p *Port) Read(ctx context.Context, buf []byte, deadline time.Time) (int, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		n, err := p.call(callLimit, func() (int, error) { return p.raw.Read(buf) })
		if n > 0 || err != nil {
			return n, err
		}
		if !time.Now().Before(deadline) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Write sends all bytes within limit, or kills the port: then nobody knows how
// many of them left.
func (p *Port) Write(frame []byte, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	_, err := p.call(limit, func() (int, error) {
		sent := 0
		for sent < len(frame) {
			n, err := p.raw.Write(frame[sent:])
			sent += n
			if err != nil {
				return sent, err
			}
			if sent < len(frame) && (n == 0 || !time.Now().Before(deadline)) {
				return sent, fmt.Errorf("%w: %d of %d", errShort, sent, len(frame))
			}
		}
		return sent, nil
	})
	return err
}

// Waiting is the number of bytes that have come and were not read.
func (p *Port) Waiting() (int, error) {
	return p.call(callLimit, p.raw.Waiting)
}

// closeLimit bounds how long close waits for a stuck Write that its output was
// taken from.
const closeLimit = 2 * time.Second

// Close ends the port and waits until its descriptor is free. A call that is
// under way has patience to end by itself; then the output is thrown away, which
// ends a stuck Write. An error says that the kernel did not let go of it: a
// goroutine and a descriptor stay behind until it does.
func (p *Port) Close(patience time.Duration) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.quit)
	}
	if p.dead == nil {
		p.dead = ErrClosed
	}
	p.mu.Unlock()
	select {
	case <-p.ended:
		return p.closeErr
	case <-time.After(patience):
	}
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	for {
		flushErr := p.raw.ResetOutputBuffer()
		select {
		case <-p.ended:
			return p.closeErr
		case <-limit.C:
			return fmt.Errorf("a write is stuck in the kernel; its descriptor is given up: %w", errors.Join(errStuck, flushErr))
		case <-time.After(5 * time.Millisecond):
		}
	}
}
