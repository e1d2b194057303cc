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
)

// publish has a message of the device come.
func publish(t *testing.T, v *broker.Virtual, topic, text string, retained bool) {
	t.Helper()
	if err := v.Publish(topic, []byte(text), retained); err != nil {
		t.Fatal(err)
	}
}

// TestOneSetpointUnderWay: of a channel that confirms, a setpoint that is not confirmed keeps the
// next one back while the device is silent, the same value too, but never a safe value; the
// confirmation lets it go, the device's being heard, and the time after which nothing is under way.
func TestOneSetpointUnderWay(t *testing.T) {
	for what, c := range map[string]struct {
		// then happens after 7 s; passes says that the next setpoint leaves at once then.
		then   func(t *testing.T, v *broker.Virtual, first setpoint)
		passes bool
	}{
		"silence": {then: func(*testing.T, *broker.Virtual, setpoint) {}},
		"confirmed late": {passes: true, then: func(t *testing.T, v *broker.Virtual, first setpoint) {
			publish(t, v, "lab/ca/taken", fmt.Sprintf(`{"session":%q,"seq":%d}`, first.Session, first.Seq), false)
		}},
		"another's confirmation": {passes: true, then: func(t *testing.T, v *broker.Virtual, first setpoint) { // it is there
			publish(t, v, "lab/ca/taken", `{"session":"other","seq":1}`, false)
		}},
		"heard": {passes: true, then: func(t *testing.T, v *broker.Virtual, _ setpoint) {
			publish(t, v, "lab/ca", `{"mg_per_l":1}`, false)
		}},
		"nothing is under way any more": {passes: true, then: func(*testing.T, *broker.Virtual, setpoint) {
			time.Sleep(7 * time.Second) // 14 s in all, of 13.5
		}},
	} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
				arrived := listen(t, v, "lab/ca/set")
				d, _ := newDevice(t, o, confirmed()...)
				if _, err := d.Open(context.Background()); err != nil {
					t.Fatal(err)
				}
				publish(t, v, "lab/ca", `{"mg_per_l":1}`, false) // heard before it was due: no sign
				if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) {
					t.Fatalf("not confirmed: %v", err)
				}
				time.Sleep(2 * time.Second)
				sent := arrived.take()
				if len(sent) != 1 {
					t.Fatalf("arrived %q", sent)
				}
				first, err := parseSetpoint([]byte(sent[0]), false)
				if err != nil {
					t.Fatal(err)
				}
				c.then(t, v, first)
				time.Sleep(time.Millisecond)
				began := time.Now()
				err = setCA(d, 1)
				held := errors.Is(err, drivers.ErrNotSent) && strings.Contains(err.Error(), "no other follows")
				if n := len(arrived.take()); held == c.passes || n != map[bool]int{false: 0, true: 1}[c.passes] {
					t.Errorf("%d left, after %v: %v", n, time.Since(began), err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_, _ = d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 0}, Safe: true}) // nobody confirms it
				if got := arrived.take(); len(got) != 1 || !strings.Contains(got[0], `"value":0,`) {
					t.Errorf("of the safe value arrived %q", got)
				}
				closed(t, d)
			})
		})
	}
}

// TestSafeOvertakesASetpointHeldBack: a safe value does not wait for the wait of a setpoint.
func TestSafeOvertakesASetpointHeldBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		arrived := listen(t, v, "lab/ca/set")
		d, _ := newDevice(t, o, confirmed()...)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := setCA(d, 1); err == nil {
			t.Fatal("it was not confirmed")
		}
		ctx, overtake := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Second, func() { overtake(drivers.ErrPreempted) })
		began := time.Now()
		_, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 2}})
		if !errors.Is(err, drivers.ErrNotSent) || time.Since(began) != time.Second {
			t.Errorf("overtaken after %v: %v", time.Since(began), err)
		}
		arrived.take()
		_ = setSafe(d) // nobody confirms it
		if got := arrived.take(); len(got) != 1 || !strings.Contains(got[0], `"value":0,`) {
			t.Errorf("arrived %q", got)
		}
		closed(t, d)
	})
}

// TestOneTemplateUnderWay: of a template's channel, which can confirm nothing, a setpoint keeps the
// next one back until the channel's readings give it, or show after its time that the device is
// there; another channel's reading and another value do not. A safe
// value always leaves.
func TestOneTemplateUnderWay(t *testing.T) {
	lamp := []ChannelOptions{
		{Channel: "b", Read: &ReadTopic{Topic: "lamp", Path: "b", Poll: &Poll{Topic: "lamp/get"}}, Write: &WriteTopic{Topic: "lamp/set", Template: `{"b":%d}`}},
		{Channel: "lux", Read: &ReadTopic{Topic: "meter"}},
	}
	for what, c := range map[string]struct {
		then   func(t *testing.T, v *broker.Virtual)
		after  time.Duration
		passes bool
	}{
		"silence":                       {then: func(*testing.T, *broker.Virtual) {}},
		"the value":                     {passes: true, then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "lamp", `{"b":40}`, false) }},
		"the value as it was told":      {passes: true, then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "lamp", `{"b":40.4}`, false) }},
		"another value, soon":           {then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "lamp", `{"b":12}`, false) }},
		"another value, later":          {after: 3 * time.Second, passes: true, then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "lamp", `{"b":12}`, false) }},
		"another channel's reading":     {after: 3 * time.Second, then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "meter", "300", false) }},
		"no number":                     {after: 3 * time.Second, then: func(t *testing.T, v *broker.Virtual) { publish(t, v, "lamp", `{"c":1}`, false) }},
		"nothing is under way any more": {after: 14 * time.Second, passes: true, then: func(*testing.T, *broker.Virtual) {}},
	} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
				arrived, asked := listen(t, v, "lamp/set"), listen(t, v, "lamp/get")
				d, _ := newDevice(t, o, lamp...)
				if _, err := d.Open(context.Background()); err != nil {
					t.Fatal(err)
				}
				set := func(value float64, safe bool) error {
					_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"b": value}, Safe: safe})
					return err
				}
				if err := set(40.2, false); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.after + time.Millisecond)
				c.then(t, v)
				time.Sleep(time.Millisecond)
				asked.take()
				began := time.Now()
				err := set(50, false)
				held := errors.Is(err, drivers.ErrNotSent) && strings.Contains(err.Error(), "no other follows")
				if c.passes && (err != nil || time.Since(began) > 10*time.Millisecond) || !c.passes && !held {
					t.Errorf("the next setpoint: %v after %v", err, time.Since(began))
				}
				if !c.passes && len(asked.take()) < 3 {
					t.Error("while it waits, the device is not asked")
				}
				if err := set(0, true); err != nil {
					t.Errorf("a safe value: %v", err)
				}
				time.Sleep(time.Millisecond)
				want := `[{"b":40} {"b":0}]`
				if c.passes {
					want = `[{"b":40} {"b":50} {"b":0}]`
				}
				if got := fmt.Sprint(arrived.take()); got != want {
					t.Errorf("arrived %s, want %s", got, want)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestQuestions: a device is asked when a connection begins, and at its interval from then on; one
// question serves the channels that share it.
func TestQuestions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		asked, other := listen(t, v, "lamp/get"), listen(t, v, "meter/get")
		poll := &Poll{Topic: "lamp/get", Payload: "?", Every: 4 * time.Second}
		d, _ := newDevice(t, o, ChannelOptions{Channel: "b", Read: &ReadTopic{Topic: "lamp", Path: "b", Poll: poll}},
			ChannelOptions{Channel: "c", Read: &ReadTopic{Topic: "lamp", Path: "c", Poll: &Poll{Topic: "lamp/get", Payload: "?", Every: 2 * time.Second}}},
			ChannelOptions{Channel: "m", Read: &ReadTopic{Topic: "meter", Poll: &Poll{Topic: "meter/get"}}})
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(21 * time.Second)
		if n, m := len(asked.take()), len(other.take()); n < 10 || n > 12 || m < 4 || m > 6 {
			t.Errorf("asked %d and %d times in 21 s, every 2 and 5 s", n, m)
		}
		v.Cut()
		time.Sleep(20 * time.Second)
		asked.take()
		v.Restore()
		time.Sleep(12 * time.Second)
		if len(asked.take()) == 0 {
			t.Error("over the next connection it is not asked")
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
