package serial

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/protocol"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// bench is a world of fake ports: what is plugged in at a path.
type bench struct {
	mu     sync.Mutex
	plug   func() *porttest.Fake // nil: nothing
	opened []*porttest.Fake
	tries  []time.Time
}

var errNothingThere = errors.New("nothing is plugged in")

func (b *bench) open(context.Context, port.Spec) (port.Raw, error) {
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

func (b *bench) set(plug func() *porttest.Fake) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plug = plug
}

// last is the port that was opened last.
func (b *bench) last() *porttest.Fake {
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
	o.Identify = &text.Identify{Out: "ID?", Match: "^COUNTER"}
	return o, []ChannelOptions{
		{Channel: "a", ScaleKeys: drivers.ScaleKeys{Min: ptr(-100.0), Max: ptr(100.0), Safe: ptr(0.0)}, Read: &Read{ReadKeys: text.ReadKeys{Out: "A?", In: "%f"}},
			Write: &Write{WriteKeys: text.WriteKeys{Out: "A %.3f", Ack: "^OK$"}}, Release: &text.Exchange{Out: "AL", Ack: "^OK$"}},
		{Channel: "b", Read: &Read{ReadKeys: text.ReadKeys{Out: "B?", In: "%f"}}, Write: &Write{WriteKeys: text.WriteKeys{Out: "B %.3f", Ack: "^OK$"}, Idempotent: true},
			Release: &text.Exchange{Out: "BL", Ack: "^OK$"}},
		{Channel: "s", Read: &Read{ReadKeys: text.ReadKeys{Out: "S?", In: "%f"}}},
	}
}

// speak gives the other side of a description, over a device.
func speak(t *testing.T, o Options, channels []ChannelOptions, dev drivers.Device) port.Instrument {
	t.Helper()
	d, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := d.talk.Instrument(d.channels, &protocol.Served{Dev: dev, Log: d.env.Log})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// hearing is an instrument's Hear for a fake port.
func hearing(t *testing.T, in port.Instrument) func([]byte) []byte {
	return func(data []byte) []byte {
		said, err := in.Hear(context.Background(), data)
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
	b.set(func() *porttest.Fake { return porttest.NewFake(t, hearing(t, speak(t, o, channels, c))) })
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
