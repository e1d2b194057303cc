package serial

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// fakePort is a RawPort in memory, whose other side is whatever hears. It counts
// calls that overlap or come after Close, which no real port would survive.
type fakePort struct {
	t     *testing.T
	slice time.Duration
	// hear gets what is written and returns what comes back.
	hear func(data []byte) []byte
	// atMost bounds what one Write takes; 0: all.
	atMost int
	// stuck, if not nil, keeps Write from returning until it is closed or the
	// output is reset.
	stuck chan struct{}

	mu     sync.Mutex
	in     []byte
	news   chan struct{}
	gone   error
	closed bool
	busy   atomic.Int32
	resets int
}

func newFakePort(t *testing.T, hear func([]byte) []byte) *fakePort {
	return &fakePort{t: t, slice: 5 * time.Millisecond, hear: hear, news: make(chan struct{}, 1)}
}

// enter notes a call; leave ends it.
func (f *fakePort) enter(call string) (leave func()) {
	if f.busy.Add(1) > 1 {
		f.t.Errorf("%s while another call is under way", call)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		f.t.Errorf("%s after Close", call)
	}
	return func() { f.busy.Add(-1) }
}

func (f *fakePort) Read(p []byte) (int, error) {
	defer f.enter("Read")()
	for deadline := time.Now().Add(f.slice); ; {
		f.mu.Lock()
		n := copy(p, f.in)
		f.in = f.in[n:]
		gone := f.gone
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

func (f *fakePort) Write(p []byte) (int, error) {
	defer f.enter("Write")()
	if f.stuck != nil {
		<-f.stuck
		return 0, nil
	}
	f.mu.Lock()
	gone := f.gone
	f.mu.Unlock()
	if gone != nil {
		return 0, syscall.EIO
	}
	n := len(p)
	if f.atMost > 0 {
		n = min(n, f.atMost)
	}
	f.say(f.hear(p[:n]))
	return n, nil
}

// say makes bytes come in.
func (f *fakePort) say(text []byte) {
	f.mu.Lock()
	f.in = append(f.in, text...)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// unplug makes every call fail from now on.
func (f *fakePort) unplug() {
	f.mu.Lock()
	f.gone = io.ErrUnexpectedEOF
	f.mu.Unlock()
	f.say(nil)
}

func (f *fakePort) Waiting() (int, error) {
	defer f.enter("Waiting")()
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.in), f.gone
}

func (f *fakePort) ResetOutputBuffer() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resets++
	if f.stuck != nil && f.resets == 3 {
		close(f.stuck)
	}
	return nil
}

func (f *fakePort) Close() error {
	if f.busy.Load() > 0 {
		f.t.Error("Close under a call")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// bench is a world of fake ports: what is plugged in at a path.
type bench struct {
	mu     sync.Mutex
	plug   func() *fakePort // nil: nothing
	opened []*fakePort
	tries  []time.Time
}

var errNothingThere = errors.New("nothing is plugged in")

func (b *bench) open(context.Context, PortSpec) (RawPort, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries = append(b.tries, time.Now())
	if b.plug == nil {
		return nil, errNothingThere
	}
	p := b.plug()
	b.opened = append(b.opened, p)
	return p, nil
}

func (b *bench) set(plug func() *fakePort) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plug = plug
}

// last is the port that was opened last.
func (b *bench) last() *fakePort {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened[len(b.opened)-1]
}

// counter is a device in memory with two settable channels, "a" and "b", and a
// sensor "s" that counts its readings. It remembers what was written.
type counter struct {
	mu     sync.Mutex
	values map[string]float64
	log    []drivers.Setpoints
	halts  int
	n      float64
}

func newCounter() *counter { return &counter{values: map[string]float64{"a": 1, "b": 2}} }

func (c *counter) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{
		{Name: "a", Access: drivers.ReadWrite, CanRelease: true},
		{Name: "b", Access: drivers.ReadWrite, CanRelease: true},
		{Name: "s"},
	}, nil
}

func (c *counter) Read(_ context.Context, names []string) (drivers.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := drivers.Reading{Values: map[string]float64{}, At: time.Now()}
	for _, name := range names {
		if name == "s" {
			c.n++
			r.Values[name] = c.n
			continue
		}
		r.Values[name] = c.values[name]
	}
	return r, nil
}

func (c *counter) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, s)
	for name, v := range s.Values {
		c.values[name] = v
	}
	return drivers.Reading{}, nil
}

func (c *counter) Halt(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halts++
	return nil
}

func (c *counter) Close() error { return nil }

// written is what was written to a channel, in order.
func (c *counter) written(name string) []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var values []float64
	for _, s := range c.log {
		if v, ok := s.Values[name]; ok {
			values = append(values, v)
		}
	}
	return values
}

// abOptions describe counter.
func abOptions() (Options, []ChannelOptions) {
	o := Default()
	o.Port = "/dev/fake"
	o.Identify = &Identify{Out: "ID?", Match: "^COUNTER"}
	return o, []ChannelOptions{
		{Channel: "a", Min: ptr(-100.0), Max: ptr(100.0), Safe: ptr(0.0), Read: &Read{Out: "A?", In: "%f"},
			Write: &Write{Out: "A %.3f", Ack: "^OK$"}, Release: &Exchange{Out: "AL", Ack: "^OK$"}},
		{Channel: "b", Read: &Read{Out: "B?", In: "%f"}, Write: &Write{Out: "B %.3f", Ack: "^OK$", Idempotent: true},
			Release: &Exchange{Out: "BL", Ack: "^OK$"}},
		{Channel: "s", Read: &Read{Out: "S?", In: "%f"}},
	}
}

// speak gives the other side of a description, over a device.
func speak(t *testing.T, o Options, channels []ChannelOptions, dev drivers.Device) instrument {
	t.Helper()
	d, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := d.instrument(dev)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// hearing is an instrument's hear for a fakePort.
func hearing(t *testing.T, in instrument) func([]byte) []byte {
	return func(data []byte) []byte {
		said, err := in.hear(context.Background(), data)
		if err != nil {
			t.Errorf("the instrument: %v", err)
		}
		return said
	}
}

// onBench makes an open device whose instrument is counter, on fake ports.
func onBench(t *testing.T, o Options, channels []ChannelOptions) (*Device, *bench, *counter) {
	t.Helper()
	b, c := &bench{}, newCounter()
	b.set(func() *fakePort { return newFakePort(t, hearing(t, speak(t, o, channels, c))) })
	o.Open = b.open
	dev, err := New(o, channels, env(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return dev, b, c
}

// value reads one channel.
func value(t *testing.T, dev drivers.Device, name string) float64 {
	t.Helper()
	r, err := dev.Read(t.Context(), []string{name})
	if err != nil {
		t.Fatalf("Read of %q: %v", name, err)
	}
	v, there := r.Values[name]
	if !there {
		t.Fatalf("Read of %q gave no value", name)
	}
	return v
}

// set writes one channel.
func set(dev *Device, name string, v float64) error {
	_, err := dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{name: v}})
	return err
}
