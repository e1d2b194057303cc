package mqtt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// confirmed are the doser's channels with a confirm topic.
func confirmed() []ChannelOptions {
	c := doserChannels()
	c[0].Confirm = &ConfirmTopic{Topic: "lab/ca/taken", Timeout: 5 * time.Second}
	return c
}

// serveVirtual runs a plant in a bubble and gives the function that ends it.
func serveVirtual(t *testing.T, o Options, channels []ChannelOptions, dev drivers.Device) (end func()) {
	t.Helper()
	env, _ := environment()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Plant{Options: o, Channels: channels, Device: dev, Period: time.Second, Env: env})
	}()
	time.Sleep(time.Second) // it is connected
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}

// A Write ends when the device says that it took it, well before its timeout; and
// what the device refuses is refused.
func TestConfirm(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		plant := &doser{}
		end := serveVirtual(t, o, confirmed(), plant)
		d, _ := newDevice(t, o, confirmed()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 3 {
			if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": float64(i)}}); err != nil {
				t.Fatal(err)
			}
			if ca, _, _ := plant.state(); ca != float64(i) {
				t.Errorf("confirmed with ca at %v; want %d", ca, i)
			}
		}
		if _, err := d.Write(context.Background(), drivers.Setpoints{Release: []string{"ca"}}); err != nil {
			t.Error(err)
		}
		if _, released, _ := plant.state(); !released {
			t.Error("a release was confirmed and did not happen")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("four confirmations took %v of virtual time; nothing was to be waited for", took)
		}
		_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 999}})
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "out of limits") {
			t.Errorf("a setpoint that the device refuses: %v", err)
		}
		if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 3}}); err != nil {
			t.Errorf("after a refusal: %v", err)
		}
		if err := d.Halt(context.Background()); err != nil {
			t.Errorf("Halt: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		end()
	})
}

// What is no confirmation of this very message is none.
func TestConfirmIsOfThisMessage(t *testing.T) {
	for name, answer := range map[string]func(s setpoint) string{
		"nothing":         func(setpoint) string { return "" },
		"another session": func(s setpoint) string { return fmt.Sprintf(`{"session":"other","seq":%d}`, s.Seq) },
		"an earlier one":  func(s setpoint) string { return fmt.Sprintf(`{"session":%q,"seq":%d}`, s.Session, s.Seq-1) },
		"one never sent":  func(s setpoint) string { return fmt.Sprintf(`{"session":%q,"seq":%d}`, s.Session, s.Seq+1000) },
		"no JSON":         func(setpoint) string { return "OK" },
		"seq as text":     func(s setpoint) string { return fmt.Sprintf(`{"session":%q,"seq":"%d"}`, s.Session, s.Seq) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
				d, _ := newDevice(t, o, confirmed()...)
				if _, err := d.Open(context.Background()); err != nil {
					t.Fatal(err)
				}
				dev := answering(t, v, o, answer)
				began := time.Now()
				_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 1}})
				want := `the setpoint of channel "ca" was sent, and "lab/ca/taken" does not say that it was taken`
				if !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, which should say %q", err, want)
				}
				if took := time.Since(began); took != 5*time.Second {
					t.Errorf("the confirmation was waited for %v; its timeout is 5s", took)
				}
				dev.Close()
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// answering is a device that takes setpoints and answers them on the confirm topic.
func answering(t *testing.T, v *broker.Virtual, o Options, answer func(setpoint) string) *link.Link {
	t.Helper()
	env, _ := environment()
	l := link.New(link.Spec{Options: o.filled().Options, Env: env, Name: func() (string, error) { return "device", nil }, Topics: []string{"lab/ca/set"},
		Handle: func(m link.Arrived) {
			s, err := parseSetpoint(m.Payload, false)
			if err != nil {
				t.Errorf("%s: %v", m.Payload, err)
			}
			if text := answer(s); text != "" {
				if err := v.Publish("lab/ca/taken", []byte(text), false); err != nil {
					t.Error(err)
				}
			}
		}})
	if err := l.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l
}

// A connection that breaks while a confirmation is waited for ends the wait.
func TestConfirmEndsWithTheConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, _ := newDevice(t, o, confirmed()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, v.Cut)
		began := time.Now()
		_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 1}})
		if took := time.Since(began); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "connection lost") || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What others confirm on the topic, and what confirms an earlier message, takes the place of
// nothing, though it comes before whoever waits has looked.
func TestOtherAcksReplaceNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		d, _ := newDevice(t, o, confirmed()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		c := d.byName["ca"]
		d.last["ca"] = 7
		right := ack{session: d.session, seq: 7}
		d.takeAck(c, right)
		for _, other := range []ack{{session: "another", seq: 7}, {session: d.session, seq: 6}, {session: d.session, seq: 8}} {
			d.takeAck(c, other)
			if got := d.acked(c); got != right {
				t.Errorf("after %+v the ack is %+v; want %+v", other, got, right)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
