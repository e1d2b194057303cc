package porttest

import (
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Fake is a port in memory, whose other side is whatever hears. It counts
// calls that overlap or come after Close, which no real port would survive.
type Fake struct {
	t     testing.TB
	slice time.Duration
	// Hear gets what is written and returns what comes back.
	Hear func(data []byte) []byte
	// AtMost bounds what one Write takes; 0: all.
	AtMost int
	// Stuck, if not nil, keeps Write from returning until it is closed or the
	// output is reset.
	Stuck chan struct{}

	mu     sync.Mutex
	in     []byte
	news   chan struct{}
	Gone   error
	Closed bool
	busy   atomic.Int32
	Resets int
}

// NewFake gives a port whose other side is hear.
func NewFake(t testing.TB, hear func([]byte) []byte) *Fake {
	return &Fake{t: t, slice: 5 * time.Millisecond, Hear: hear, news: make(chan struct{}, 1)}
}

// enter notes a call; leave ends it.
func (f *Fake) enter(call string) (leave func()) {
	if f.busy.Add(1) > 1 {
		f.t.Errorf("%s while another call is under way", call)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Closed {
		f.t.Errorf("%s after Close", call)
	}
	return func() { f.busy.Add(-1) }
}

// Read implements the port.
func (f *Fake) Read(p []byte) (int, error) {
	defer f.enter("Read")()
	for deadline := time.Now().Add(f.slice); ; {
		f.mu.Lock()
		n := copy(p, f.in)
		f.in = f.in[n:]
		gone := f.Gone
		f.mu.Unlock()
		if n > 0 || gone != nil {
			return n, gone
		}
		wait := time.Until(deadline)
		if wait <= 0 {
			return 0, nil
		}
		select {
		case <-f.news:
		case <-time.After(wait):
		}
	}
}

// Write implements the port.
func (f *Fake) Write(p []byte) (int, error) {
	defer f.enter("Write")()
	if f.Stuck != nil {
		<-f.Stuck
		return 0, nil
	}
	f.mu.Lock()
	gone := f.Gone
	f.mu.Unlock()
	if gone != nil {
		return 0, syscall.EIO
	}
	n := len(p)
	if f.AtMost > 0 {
		n = min(n, f.AtMost)
	}
	f.Say(f.Hear(p[:n]))
	return n, nil
}

// Say makes bytes come in.
func (f *Fake) Say(text []byte) {
	f.mu.Lock()
	f.in = append(f.in, text...)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Unplug makes every call fail from now on.
func (f *Fake) Unplug() {
	f.mu.Lock()
	f.Gone = io.ErrUnexpectedEOF
	f.mu.Unlock()
	f.Say(nil)
}

// Waiting implements the port.
func (f *Fake) Waiting() (int, error) {
	defer f.enter("Waiting")()
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.in), f.Gone
}

// ResetOutputBuffer implements the port. The third frees a stuck Write.
func (f *Fake) ResetOutputBuffer() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Resets++
	if f.Stuck != nil && f.Resets == 3 {
		close(f.Stuck)
	}
	return nil
}

// Close implements the port.
func (f *Fake) Close() error {
	if f.busy.Load() > 0 {
		f.t.Error("Close under a call")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Closed = true
	return nil
}
