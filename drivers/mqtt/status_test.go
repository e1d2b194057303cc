package mqtt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// withStatus adds a status topic.
func withStatus(o Options) Options {
	o.Status = &StatusTopic{Topic: "lab/status"}
	return o
}

// A device that says that it is away is neither read nor written, and Open waits
// for one that has not said anything.
func TestStatus(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		ctx := context.Background()
		say := func(text string) {
			t.Helper()
			if err := v.Publish("lab/status", []byte(text), true); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		d, _ := newDevice(t, withStatus(o), doserChannels()...)
		began := time.Now()
		if _, err := d.Open(ctx); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), `nothing was said on the status topic "lab/status" yet`) {
			t.Errorf("Open without a status: %v", err)
		}
		if took := time.Since(began); took != o.ConnectTimeout {
			t.Errorf("the status was waited for %v", took)
		}
		time.AfterFunc(time.Second, func() { v.Publish("lab/status", []byte("online"), true) })
		if _, err := d.Open(ctx); err != nil {
			t.Errorf("a status that comes while Open waits: %v", err)
		}
		set := drivers.Setpoints{Values: map[string]float64{"ca": 1}}
		say("offline")
		if _, err := d.Read(ctx, []string{"ca"}); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), `the device's status on "lab/status" is "offline"`) {
			t.Errorf("Read of a device that is away: %v", err)
		}
		if _, err := d.Write(ctx, set); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("Write to a device that is away: %v", err)
		}
		say("online")
		if _, err := d.Write(ctx, set); err != nil {
			t.Errorf("the device is back: %v", err)
		}
		// What was said over the last connection is not known of this one; the broker
		// remembers it.
		v.Cut()
		time.Sleep(time.Minute)
		v.Restore()
		time.Sleep(time.Minute)
		if _, err := d.Write(ctx, set); err != nil {
			t.Errorf("after an outage: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A device that speaks is there, whatever its status says: a garbled one, or the will of
// a connection that it has replaced, must not keep a safe value from it. The next word on
// the topic counts again.
func TestWhoSpeaksIsThere(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		ctx := context.Background()
		say := func(topic, text string, retained bool) {
			t.Helper()
			if err := v.Publish(topic, []byte(text), retained); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		say("lab/status", "online", true)
		d, _ := newDevice(t, withStatus(o), doserChannels()...)
		if _, err := d.Open(ctx); err != nil {
			t.Fatal(err)
		}
		set := drivers.Setpoints{Values: map[string]float64{"ca": 1}}
		for _, text := range []string{"\xffon\x00", "offline"} {
			say("lab/status", text, false)
			if _, err := d.Write(ctx, set); !errors.Is(err, drivers.ErrUnavailable) {
				t.Errorf("status %q: %v", text, err)
			}
			say("lab/area", "not a number", false)
			if _, err := d.Write(ctx, set); !errors.Is(err, drivers.ErrUnavailable) {
				t.Errorf("status %q, and what is no reading: %v", text, err)
			}
			say("lab/area", "7", false)
			if _, err := d.Write(ctx, set); err != nil {
				t.Errorf("status %q, and then a reading: %v", text, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Halt sends what it can, also to a device that is away by its status.
func TestHaltIgnoresStatus(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		heard := 0
		listener := answering(t, v, o, func(setpoint) string { heard++; return "" })
		if err := v.Publish("lab/status", []byte("online"), true); err != nil {
			t.Fatal(err)
		}
		d, _ := newDevice(t, withStatus(o), doserChannels()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := v.Publish("lab/status", []byte("offline"), true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := d.Halt(context.Background()); err == nil {
			t.Error("a halt of a device that does not answer is confirmed")
		}
		listener.Close()
		if heard != 1 {
			t.Errorf("the safe value was sent %d times", heard)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
