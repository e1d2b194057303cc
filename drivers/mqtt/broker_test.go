package mqtt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/scripts/testsize"
)

func TestConforms(t *testing.T) {
	b := broker.Start(t)
	serve(t, optionsFor(b.URL), &doser{})
	driverstest.Conform(t, func() drivers.Device {
		d, _ := newDevice(t, optionsFor(b.URL), doserChannels()...)
		return d
	})
}

func TestSetReleaseHalt(t *testing.T) {
	b := broker.Start(t)
	plant := &doser{}
	serve(t, optionsFor(b.URL), plant)
	d, _ := newDevice(t, optionsFor(b.URL), doserChannels()...)
	ctx := context.Background()
	if _, err := d.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	reads := func(name string, want float64) func() bool {
		return func() bool {
			r, err := d.Read(ctx, []string{name})
			if err != nil {
				t.Fatal(err)
			}
			v, there := r.Values[name]
			return there && v == want
		}
	}
	eventually(t, "the plant is there", reads("ca", 0))
	if r, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 120}}); err != nil || len(r.Values) > 0 {
		t.Fatalf("Write: %v, %v", r.Values, err)
	}
	eventually(t, "the setpoint is reached", reads("ca", 120))
	eventually(t, "the other channel follows", reads("area", 220))
	if _, err := d.Write(ctx, drivers.Setpoints{Release: []string{"ca"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the channel is released", reads("ca", 57))
	if err := d.Halt(ctx); err != nil {
		t.Fatal(err)
	}
	if ca, released, _ := plant.state(); ca != 0 || released {
		t.Errorf("after Halt: ca %v, released: %v", ca, released)
	}
}

// A channel that has no safe value but a release topic is released by Halt, and
// confirmed by the plant's echo.
func TestHaltReleases(t *testing.T) {
	b := broker.Start(t)
	plant := &doser{ca: 50}
	serve(t, optionsFor(b.URL), plant)
	channels := doserChannels()
	channels[0].Safe = nil
	d, _ := newDevice(t, optionsFor(b.URL), channels...)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Halt(context.Background()); err != nil {
		t.Error(err)
	}
	if _, released, _ := plant.state(); !released {
		t.Error("after Halt, the channel is not released")
	}
}

func TestHaltNotConfirmed(t *testing.T) {
	t.Parallel()
	safe := 5.0
	set := func(c ChannelOptions) []ChannelOptions {
		c.Channel, c.Read, c.Write = "x", &ReadTopic{Topic: "lab/x"}, &WriteTopic{Topic: "lab/x/set"}
		return []ChannelOptions{c}
	}
	for what, c := range map[string]struct {
		channels []ChannelOptions
		reads    string // what the device goes on reading; empty: nothing
		want     string
		sent     string
	}{
		"nothing declared": {set(ChannelOptions{}), "5", `channel "x" has neither safe nor a release topic in the file; write safe = VALUE in [device.channel.x]`, ""},
		"silence":          {set(ChannelOptions{ScaleKeys: drivers.ScaleKeys{Safe: &safe}}), "", `channel "x" was set to its safe value 5, and no reading came on "lab/x" since`, `lab/x/set {"value":5,`},
		"another value":    {set(ChannelOptions{ScaleKeys: drivers.ScaleKeys{Safe: &safe, SafeTolerance: 0.5}}), "5.6", `channel "x" was set to its safe value 5 and reads 5.6 (safe_tolerance 0.5)`, `lab/x/set {"value":5,`},
		"release, no echo": {set(ChannelOptions{Release: &ReleaseTopic{Topic: "lab/x/release"}}), "5", `channel "x" was released, and no reading on "lab/x" echoed it`, `lab/x/release {"release":true,`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := broker.Start(t)
			speaker := newOther(t, b.URL, "lab/#")
			o := optionsFor(b.URL)
			if o.HaltTimeout = 300 * time.Millisecond; c.reads != "" {
				o.HaltTimeout = time.Duration(testsize.Of(3, 10)) * time.Second // for a reading to come
			}
			d, _ := newDevice(t, o, c.channels...)
			if _, err := d.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for c.reads != "" {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
						speaker.client.Publish("lab/x", 0, false, c.reads)
					}
				}
			}()
			err := d.Halt(context.Background())
			close(stop)
			<-stopped
			for _, want := range []string{"safe state not confirmed", c.want} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, which should say %q", err, want)
				}
			}
			if c.sent != "" {
				eventually(t, "what can be sent is sent", func() bool { return speaker.mentions(c.sent) })
			}
		})
	}
}

// What was retained may have been said at any time: it is no reading, and no
// setpoint. The next message counts.
func TestRetainedDoesNotCount(t *testing.T) {
	b := broker.Start(t)
	speaker := newOther(t, b.URL)
	speaker.say("lab/ca", `{"value":99}`, true)
	speaker.say("lab/ca/set", `{"value":150,"seq":1,"ttl_ms":60000,"session":"old"}`, true)

	d, said := newDevice(t, optionsFor(b.URL), doserChannels()...)
	var heard []drivers.Reading
	heardFirst := make(chan drivers.Reading, 16)
	told := make(chan error, 16)
	d.Listen(func(r drivers.Reading) {
		if err := r.Missing["ca"]; err != nil {
			told <- err
		}
		if len(r.Values) == 0 {
			return
		}
		select {
		case heardFirst <- r:
		default: // only the first counts, and a sink does not block
		}
	})
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	eventually(t, "the retained message is seen", func() bool { return strings.Contains(said.String(), "a retained message is no reading") })
	if err := <-told; !errors.Is(err, errRetained) {
		t.Errorf("why it is none: %v", err)
	}
	if r, err := d.Read(context.Background(), []string{"ca"}); err != nil || len(r.Values) > 0 || !errors.Is(r.Missing["ca"], errRetained) {
		t.Errorf("after a retained message, Read gives %v, %v", r.Values, err)
	}
	speaker.say("lab/ca", `{"value":42}`, true) // live for who is subscribed already
	heard = append(heard, <-heardFirst)
	if heard[0].Values["ca"] != 42 {
		t.Errorf("the first reading is %v", heard[0].Values)
	}

	plant := &doser{}
	plantSaid := serve(t, optionsFor(b.URL), plant)
	eventually(t, "the plant sees the retained setpoint", func() bool { return strings.Contains(plantSaid.String(), "it is retained") })
	if _, _, written := plant.state(); len(written) > 0 {
		t.Errorf("a retained setpoint was written: %v", written)
	}
}

func TestOutage(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	plant := &doser{}
	serve(t, optionsFor(b.URL), plant)
	o := optionsFor(b.URL)
	o.HaltTimeout = time.Second // Halt waits for a connection, which there is none
	d, said := newDevice(t, o, doserChannels()...)
	readings := make(chan drivers.Reading, 4096)
	d.Listen(func(r drivers.Reading) { readings <- r })
	ctx := context.Background()
	if _, err := d.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 1}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first setpoint is there", func() bool { ca, _, _ := plant.state(); return ca == 1 })

	b.Stop()
	eventually(t, "the loss is noticed", func() bool { return strings.Contains(said.String(), "connection to the broker lost") })
	for i := range 50 {
		_, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 100 + float64(i)}})
		if !errors.Is(err, drivers.ErrUnavailable) {
			t.Fatalf("Write without a broker: %v", err)
		}
	}
	if _, err := d.Read(ctx, []string{"ca"}); !errors.Is(err, drivers.ErrUnavailable) {
		t.Errorf("Read without a broker: %v", err)
	}
	if err := d.Halt(ctx); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "safe state not confirmed, nothing was sent") {
		t.Errorf("Halt without a broker: %v", err)
	}
	b.Restart()
	for len(readings) > 0 {
		<-readings
	}
	eventually(t, "readings come again", func() bool { return len(readings) > 5 })
	eventually(t, "setpoints go again", func() bool {
		_, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 2}})
		ca, _, _ := plant.state()
		return err == nil && ca == 2
	})
	_, _, written := plant.state()
	for _, v := range written {
		if v >= 100 {
			t.Errorf("the setpoint %v, refused during the outage, was written", v)
		}
	}
}

func TestOpenRefused(t *testing.T) {
	b := broker.Start(t)
	o := optionsFor(b.URL)
	o.Username, o.PasswordFile = broker.User, "secret"
	o.Base = "/etc/lab"
	o.ReadFile = func(name string) ([]byte, error) {
		if name != "/etc/lab/secret" {
			t.Errorf("the password is read from %q", name)
		}
		return []byte("wrong\n"), nil
	}
	d, _ := newDevice(t, o, doserChannels()...)
	_, err := d.Open(context.Background())
	if !errors.Is(err, drivers.ErrRefused) || errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "check client_id, username and password_file") {
		t.Errorf("a wrong password: %v", err)
	}
	o.ReadFile = func(string) ([]byte, error) { return []byte(broker.Password + "\nsecond line"), nil }
	d, _ = newDevice(t, o, doserChannels()...)
	if _, err := d.Open(context.Background()); err != nil {
		t.Errorf("the right password: %v", err)
	}
	d.Close()

	// Only the embedded broker answers a denied subscription with 0x80.
	embedded := broker.StartEmbedded(t)
	channels := doserChannels()
	channels[1].Read.Topic = broker.Denied + "area"
	d, _ = newDevice(t, optionsFor(embedded.URL), channels...)
	_, err = d.Open(context.Background())
	if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), `does not let this client subscribe to "denied/area"; check its access rules`) {
		t.Errorf("a denied topic: %v", err)
	}
}

// Two devices of one file at one broker must not throw each other out.
func TestTwoDevicesOneBroker(t *testing.T) {
	b := broker.Start(t)
	first, firstSaid := newDevice(t, optionsFor(b.URL), doserChannels()...)
	second, secondSaid := newDevice(t, optionsFor(b.URL), doserChannels()...)
	for _, d := range []*Device{first, second} {
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer d.Close()
	}
	speaker := newOther(t, b.URL)
	eventually(t, "both hear", func() bool {
		speaker.say("lab/area", "7", false)
		one, err1 := first.Read(context.Background(), []string{"area"})
		two, err2 := second.Read(context.Background(), []string{"area"})
		return err1 == nil && err2 == nil && one.Values["area"] == 7 && two.Values["area"] == 7
	})
	if said := firstSaid.String() + secondSaid.String(); strings.Contains(said, "lost") {
		t.Errorf("a connection was lost:\n%s", said)
	}
}

// A plant that is there before its broker waits for it, says so once, and ends when it
// is told to while it waits.
func TestPlantWaitsForTheBroker(t *testing.T) {
	b := broker.Start(t)
	b.Stop()
	o := optionsFor(b.URL)
	o.ConnectTimeout = 100 * time.Millisecond
	env, said := environment()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dev, ended := &doser{}, make(chan error, 1)
	plant := Plant{Options: o, Channels: doserChannels(), Device: dev, Period: 20 * time.Millisecond, Env: env}
	go func() { ended <- Serve(ctx, plant) }()
	eventually(t, "the plant says that it waits", func() bool { return strings.Count(said.String(), "no connection to the broker yet") > 0 })
	cancel()
	if err := <-ended; err != nil || dev.halts != 1 {
		t.Errorf("Serve that ended before there was a broker: %v; the device was halted %d times", err, dev.halts)
	}

	plant.Options.ConnectTimeout = time.Minute // from here on an attempt may be as slow as the machine
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	go func() { ended <- Serve(ctx, plant) }()
	eventually(t, "the plant says again that it waits", func() bool { return strings.Count(said.String(), "no connection to the broker yet") > 1 })
	b.Restart()
	witness := newOther(t, b.URL, "lab/#")
	eventually(t, "the plant speaks", func() bool { return witness.mentions("lab/area ") })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
