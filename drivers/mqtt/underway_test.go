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
