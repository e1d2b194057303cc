package opcua

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// TestReplacedConnectionIsSilent: what a connection still brings once another has taken its place is
// not heard, also where it would pass for new.
func TestReplacedConnectionIsSilent(t *testing.T) {
	r := newRig(t)
	d, err := New(quick(r.port), bench(), drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	told := &sinks{}
	d.Listen(told.take)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := d.conn
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.tell("energy", ua.StatusOK, 2.0)
	until(t, "the next connection's value", func() bool { return reads(d)["energy"] == 2 })
	now := time.Now()
	late := func(v float64) []heard {
		return []heard{{1, &ua.DataValue{Value: ua.MustVariant(v), Status: ua.StatusOK, SourceTimestamp: now.Add(time.Second / 2), EncodingMask: ua.DataValueValue | ua.DataValueSourceTimestamp}}}
	}
	count := len(told.of("energy"))
	d.hear(before, d.channels, late(7), now, now)
	if got := reads(d)["energy"]; got != 2 || len(told.of("energy")) != count {
		t.Errorf("the connection before was heard: %v, %d readings instead of %d", got, len(told.of("energy")), count)
	}
	d.hear(d.conn, d.channels, late(7), now, now) // of the present one, the same is news
	if got := reads(d)["energy"]; got != 7 {
		t.Errorf("the present connection was not heard: %v", got)
	}
}

// TestSubscriptionLostAtOnce: a server that does not know the subscription that it has just made is asked
// for another one, once.
func TestSubscriptionLostAtOnce(t *testing.T) {
	r := newRig(t)
	r.loses(1)
	d := open(t, quick(r.port), bench())
	r.tell("energy", ua.StatusOK, 5.0)
	until(t, "a value by the second subscription", func() bool { return reads(d)["energy"] == 5 })
	r.loses(2)
	d, err := New(quick(r.port), bench(), drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Open(context.Background()); err == nil || !lostAtOnce(err) || errors.Is(err, drivers.ErrProtocol) {
		t.Errorf("two lost ones: %v", err)
	}
}

// loses has the next subscriptions lost as soon as they are made.
func (r *rig) loses(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget = n
}
