package opcua

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

func TestConforms(t *testing.T) {
	r := newRig(t)
	collectServer(t)
	driverstest.Conform(t, func() drivers.Device {
		d, err := New(quick(r.port), bench(), drivers.Env{Clock: wall{}})
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// collectServer collects garbage until the test ends. The library's server does not close a
// connection that its client has ended (RegisterConn in server/channel_broker.go of v0.8.0): the
// file stays open until it is collected, which on a busy computer took longer than the test for
// what a device leaves open waits.
func collectServer(t *testing.T) {
	end := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(200 * time.Millisecond):
				runtime.GC()
			}
		}
	})
	t.Cleanup(func() { close(end); collector.Wait() })
}

// A measurement counts once, as of its source timestamp by the server's clock.
func TestSourceTimestampsDecide(t *testing.T) {
	r := newRig(t)
	heard := &sinks{}
	d, err := New(quick(r.port), bench(), drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	d.Listen(heard.take)
	r.tellAt("energy", ua.StatusOK, 2.0, time.Now().Add(-time.Minute))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	until(t, "an old value", func() bool { return len(heard.of("energy")) == 1 })
	if age := time.Since(heard.of("energy")[0].At); age < time.Minute || age > time.Minute+patience {
		t.Errorf("a value that was measured a minute ago is %v old", age)
	}
	r.tellAt("energy", ua.StatusOK, 1.0, time.Now())
	until(t, "the next one", func() bool { return len(heard.of("energy")) == 2 })
	stamp := time.Now()
	r.tellAt("energy", ua.StatusOK, 3.0, stamp)
	until(t, "a new value", func() bool { return len(heard.of("energy")) == 3 })
	for range 3 { // the same measurement, told again, and an earlier one that comes late
		r.tellAt("energy", ua.StatusOK, 3.0, stamp)
		r.tellAt("energy", ua.StatusOK, 2.0, stamp.Add(-time.Second))
	}
	asked := len(heard.of("power"))
	until(t, "three polls", func() bool { return len(heard.of("power")) >= asked+3 })
	r.tellAt("energy", ua.StatusOK, 3.0, stamp.Add(time.Millisecond))
	until(t, "the same value, measured again", func() bool { return len(heard.of("energy")) == 4 })
	// Opened again, it does not count a second time.
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	asked = len(heard.of("power"))
	until(t, "three polls", func() bool { return len(heard.of("power")) >= asked+3 })
	if n := len(heard.of("energy")); n != 4 {
		t.Errorf("after opening again there are %d measurements instead of 4", n)
	}
}

// What has no value says why.
func TestStatusDecides(t *testing.T) {
	r := newRig(t)
	channels := bench()
	d := open(t, quick(r.port), channels)
	for _, c := range []struct {
		status ua.StatusCode
		value  any
		source time.Time
		want   string
	}{
		{ua.StatusBadSensorFailure, 5.0, time.Now(), "quality is bad"},
		{ua.StatusBad, 5.0, time.Now(), "quality is bad"},
		{ua.StatusUncertainLastUsableValue, 5.0, time.Now(), "quality is uncertain"},
		{ua.StatusOK, 5.0, time.Time{}, "no source timestamp"},
		{ua.StatusOK, 5.0, time.Now().Add(time.Hour), "ahead of the server's clock"},
		{ua.StatusOK, "five", time.Now().Add(time.Millisecond), "no number"},
	} {
		r.tell("energy", ua.StatusOK, 4.0)
		until(t, "a good value", func() bool { return reads(d)["energy"] == 4 })
		r.tellAt("energy", c.status, c.value, c.source)
		var missing error
		until(t, c.want, func() bool {
			got, err := d.Read(context.Background(), []string{"energy"})
			missing = got.Missing["energy"]
			return err == nil && len(got.Values) == 0
		})
		if missing == nil || !strings.Contains(missing.Error(), c.want) {
			t.Errorf("%v: %v does not say %q", c.status, missing, c.want)
		}
	}
	r.tell("energy", ua.StatusOK, 4.0)
	channels[1].Read.Uncertain = "take"
	d = open(t, quick(r.port), channels)
	r.tell("energy", ua.StatusUncertainLastUsableValue, 6.0)
	until(t, "an uncertain value that is taken", func() bool { return reads(d)["energy"] == 6 })
}

// The lease and the mode go out with the setpoint, before it.
func TestWriteInOrder(t *testing.T) {
	r := newRig(t)
	d := open(t, quick(r.port), bench())
	ctx := context.Background()
	if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"power": 2.5}, For: map[string]time.Duration{"power": 3 * time.Second}}); err != nil {
		t.Fatal(err)
	}
	until(t, "the readback", func() bool { return reads(d)["power"] == 2.5 })
	if _, err := d.Write(ctx, drivers.Setpoints{Release: []string{"power"}}); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var got []string
	for _, w := range r.writes {
		got = append(got, w.node)
	}
	if strings.Join(got, " ") != "watchdog mode power mode" || r.writes[0].value != 3000 || r.writes[1].value != 1 || r.writes[2].value != 2.5 || r.writes[3].value != 0 {
		t.Errorf("written: %+v", r.writes)
	}
}

// The status of each value is looked at.
func TestWriteStatus(t *testing.T) {
	r := newRig(t)
	d := open(t, quick(r.port), bench())
	for status, want := range map[ua.StatusCode]error{
		ua.StatusBadUserAccessDenied:         drivers.ErrRefused,
		ua.StatusBadOutOfRange:               drivers.ErrRefused,
		ua.StatusBadCommunicationError:       drivers.ErrUnavailable,
		ua.StatusBadDeviceFailure:            drivers.ErrUnavailable,
		ua.StatusGoodCompletesAsynchronously: nil,
		ua.StatusUncertainInitialValue:       nil,
	} {
		r.refuses("power", status)
		_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 1}})
		if (err == nil) != (want == nil) || want != nil && !errors.Is(err, want) {
			t.Errorf("%v: %v", status, err)
		}
		if err != nil && errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("%v: %v, but it was sent", status, err)
		}
	}
}

// The driver's own gates before a setpoint, and what a safe one finds there. Those of the loop are
// in loop/makesafe_test.go.
//
//	gate                                  setpoint      safe setpoint
//	write whose answer is missing         -             leaves at once, and again when both are answered
//	server that does not answer           -             as without a connection, once reply_timeout has broken it
//	no connection                         not sent      has one made, and leaves with it
//	connection made for a safe setpoint   not sent      leaves

// A safe value waits for no other write, and is what the server sees last.
func TestSafeOvertakesAndIsLast(t *testing.T) {
	r := newRig(t)
	d := open(t, quick(r.port), bench())
	r.slow(200 * time.Millisecond)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		time.Sleep(20 * time.Millisecond)
		cancel(drivers.ErrPreempted)
	}()
	if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"power": 9}}); err == nil || errors.Is(err, drivers.ErrNotSent) {
		t.Fatalf("a write that was overtaken: %v", err)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: true}); err != nil {
		t.Fatal(err)
	}
	// Sent at once, and again once both had been answered.
	if got := r.taken("power"); len(got) != 3 || got[2] != 0 {
		t.Errorf("taken %v, want 9 and 0 in any order, then 0", got)
	}
}

// A server that does not answer loses the connection, and a safe value makes its own.
func TestNoAnswerBreaksTheConnection(t *testing.T) {
	r := newRig(t)
	o := quick(r.port)
	o.ReplyTimeout = 2 * time.Second
	d := open(t, o, bench())
	r.slow(patience)
	_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 1}})
	if !errors.Is(err, drivers.ErrClosed) || errors.Is(err, drivers.ErrNotSent) {
		t.Fatalf("a write without an answer: %v", err)
	}
	if d.LastLoss().IsZero() {
		t.Error("no loss is noted")
	}
	r.slow(0)
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 2}}); !errors.Is(err, drivers.ErrNotSent) || !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("a setpoint without a connection: %v", err)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: true}); err != nil {
		t.Errorf("a safe value without a connection: %v", err)
	}
	if got := r.taken("power"); got[len(got)-1] != 0 {
		t.Errorf("taken %v", got)
	}
	// Nothing is heard over that one, and no setpoint leaves: the device is to be opened again.
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 3}}); !errors.Is(err, drivers.ErrNotSent) || !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("a setpoint over a connection for a safe value: %v", err)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: true}); err != nil {
		t.Errorf("a second safe value over it: %v", err)
	}
	if _, err := d.Read(context.Background(), []string{"energy"}); !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("a reading over a connection for a safe value: %v", err)
	}
	if err := d.Halt(context.Background()); err != nil {
		t.Errorf("a halt over it: %v", err)
	}
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.tell("energy", ua.StatusOK, 2.0) // what was measured before does not count again
	until(t, "values", func() bool { return len(reads(d)) == 2 })
}

// What the server is not asked for is found before anything moves.
func TestOpenRefused(t *testing.T) {
	r := newRig(t)
	channels := bench()
	channels[1].Read.Node = "ns=1;s=enrgy"
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	nowhere := quick(port).Endpoint
	for what, c := range map[string]struct {
		options  func(*Options)
		channels []ChannelOptions
		kind     error
		want     string
	}{
		"no node":     {nil, channels, drivers.ErrRefused, "has no node ns=1;s=enrgy"},
		"no server":   {func(o *Options) { o.Endpoint = nowhere }, bench(), drivers.ErrUnavailable, "refused"},
		"no such log": {func(o *Options) { o.Username = "anna" }, bench(), drivers.ErrRefused, "no user name login"},
	} {
		o := quick(r.port)
		if c.options != nil {
			c.options(&o)
		}
		d, err := New(o, c.channels, drivers.Env{Clock: wall{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = d.Open(context.Background()); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	r := newRig(t)
	d, err := New(quick(r.port), bench(), drivers.Env{Clock: wall{}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 1}}); !errors.Is(err, drivers.ErrNotSent) {
		t.Error(err)
	}
	if err := d.Halt(context.Background()); err == nil || len(r.taken("power")) != 0 {
		t.Errorf("halted to look only: %v, %v", err, r.taken("power"))
	}
}
