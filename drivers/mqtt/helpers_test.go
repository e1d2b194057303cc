package mqtt

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/labtuner/tuner/drivers"
)

// wall is the clock of the goroutine's world: the machine's, or a bubble's.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// records collects log text from several goroutines.
type records struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *records) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

func environment() (drivers.Env, *records) {
	said := &records{}
	return drivers.Env{Clock: wall{}, Log: slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))}, said
}

// doser is a device that a plant serves: a pump that follows at once, and a
// camera.
type doser struct {
	mu       sync.Mutex
	ca       float64
	released bool
	written  []float64
	halts    int
	err      error // of the next Read or Write
}

func (d *doser) Open(context.Context) ([]drivers.Channel, error) {
	nan := math.NaN()
	return []drivers.Channel{
		{Name: "ca", Unit: "mg/L", Access: drivers.ReadWrite, Min: 0, Max: 200, Safe: 0, CanRelease: true},
		{Name: "area", Unit: "mm2", Min: nan, Max: nan, Safe: nan},
	}, nil
}

func (d *doser) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]float64{"ca": d.ca, "area": 100 + d.ca}
	if d.released {
		all["ca"] = 57 // what the water brings
	}
	r := drivers.Reading{Values: map[string]float64{}, At: time.Now()}
	for _, name := range channels {
		r.Values[name] = all[name]
	}
	err := d.err
	d.err = nil
	return r, err
}

func (d *doser) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.err; err != nil {
		d.err = nil
		return drivers.Reading{}, err
	}
	for _, v := range s.Values {
		if v < 0 || v > 200 {
			return drivers.Reading{}, fmt.Errorf("%w: out of limits", drivers.ErrRefused)
		}
		d.ca, d.released = v, false
		d.written = append(d.written, v)
	}
	if len(s.Release) > 0 {
		d.released = true
	}
	return drivers.Reading{At: time.Now()}, nil
}

func (d *doser) Halt(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ca, d.released = 0, false
	d.halts++
	return nil
}

func (d *doser) Close() error { return nil }

func (d *doser) state() (ca float64, released bool, written []float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ca, d.released, append([]float64(nil), d.written...)
}

// doserChannels are the file's channels for the doser.
func doserChannels() []ChannelOptions {
	safe := 0.0
	return []ChannelOptions{
		{
			Channel:   "ca",
			Read:      &ReadTopic{Topic: "lab/ca", Path: "value"},
			Write:     &WriteTopic{Topic: "lab/ca/set", TTL: 30 * time.Second},
			Release:   &ReleaseTopic{Topic: "lab/ca/release"},
			ScaleKeys: drivers.ScaleKeys{Safe: &safe},
		},
		{Channel: "area", Read: &ReadTopic{Topic: "lab/area"}},
	}
}

func optionsFor(url string) Options {
	o := Default()
	o.Broker = url
	return o
}

func newDevice(t testing.TB, o Options, channels ...ChannelOptions) (*Device, *records) {
	t.Helper()
	env, said := environment()
	d, err := New(o, channels, env)
	if err != nil {
		t.Fatal(err)
	}
	return d, said
}

// serve runs a plant until the test's end and gives what it said. The plant has
// subscribed to its setpoints when serve returns.
func serve(t *testing.T, o Options, dev drivers.Device) *records {
	t.Helper()
	env, said := environment()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Plant{Options: o, Channels: doserChannels(), Device: dev, Period: 20 * time.Millisecond, Env: env})
	}()
	witness := newOther(t, o.Broker, "lab/#")
	eventually(t, "the plant speaks", func() bool { return witness.mentions("lab/area ") })
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return said
}

// eventually waits until a condition holds; it is generous because it only waits
// where something is wrong or the machine is busy.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never came that %s", what)
}

// other is its own client, to speak and to listen beside the driver.
type other struct {
	t      *testing.T
	client paho.Client

	mu    sync.Mutex
	heard []string // "topic payload"
}

func newOther(t *testing.T, url string, topics ...string) *other {
	t.Helper()
	o := &other{t: t}
	o.client = paho.NewClient(paho.NewClientOptions().AddBroker(url).SetClientID("").
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.heard = append(o.heard, m.Topic()+" "+string(m.Payload()))
		}))
	token := o.client.Connect()
	if token.Wait(); token.Error() != nil {
		t.Fatal(token.Error())
	}
	for _, topic := range topics {
		if token := o.client.Subscribe(topic, 0, nil); token.Wait() && token.Error() != nil {
			t.Fatal(token.Error())
		}
	}
	t.Cleanup(func() { o.client.Disconnect(50) })
	return o
}

func (o *other) say(topic, payload string, retained bool) {
	o.t.Helper()
	if token := o.client.Publish(topic, 1, retained, payload); token.Wait() && token.Error() != nil {
		o.t.Fatal(token.Error())
	}
}

func (o *other) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.heard...)
}

// mentions reports whether any message heard holds a text.
func (o *other) mentions(text string) bool {
	for _, m := range o.all() {
		if strings.Contains(m, text) {
			return true
		}
	}
	return false
}
