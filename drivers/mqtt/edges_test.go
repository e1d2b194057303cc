package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// connected opens a device and gives its connection.
func connected(t *testing.T, o Options, channels ...ChannelOptions) (*Device, *link.Connection) {
	t.Helper()
	d, _ := newDevice(t, o, channels...)
	if _, err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := d.link.Open()
	if err != nil {
		t.Fatal(err)
	}
	return d, conn
}

// TestTransportIsKept: whoever ends a connection can close what lies below it, without TLS too.
func TestTransportIsKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		d, c := connected(t, o, doserChannels()...)
		kept := c.Transport()
		if _, secure := kept.(*tls.Conn); kept == nil || secure {
			t.Errorf("kept %T", kept)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestStatusThatIsNotTaken: a broker that does not take the status is an error: nobody may believe that it is known.
func TestStatusThatIsNotTaken(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var hole *blackHole
		o.Dial = dialHole(v, &hole)
		d, c := connected(t, o, doserChannels()...)
		c.Will = &link.Will{Topic: "lab/status", Online: "online", Offline: "offline"}
		hole.shut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Announce(ctx, "online"); !errors.Is(err, drivers.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody took it: %v", err)
		}
		hole.heal()
		c.Will = nil
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSilentWillIsTheBrokers: who says itself when it comes and goes has the broker speak the will
// alone, and nothing of ours follows.
func TestSilentWillIsTheBrokers(t *testing.T) {
	for _, silent := range []bool{true, false} {
		inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
			said := make(chan string, 9)
			if err := v.Listen("lab/status", func(payload []byte) { said <- string(payload) }); err != nil {
				t.Fatal(err)
			}
			d, c := connected(t, o, doserChannels()...)
			c.Will = &link.Will{Topic: "lab/status", Online: "online", Offline: "offline", Silent: silent}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			if told := len(said) > 0; told == silent {
				t.Errorf("silent %v: told %v", silent, told)
			}
		})
	}
}

// TestSilenceIsSaid: a channel that nothing was heard of yet says which topic is silent.
func TestSilenceIsSaid(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, _ := connected(t, o, doserChannels()...)
		r, err := d.Read(t.Context(), []string{"ca"})
		if err != nil || len(r.Values) != 0 || !strings.Contains(fmt.Sprint(r.Missing["ca"]), "no message has come on topic "+d.byName["ca"].read) {
			t.Errorf("%+v, %v", r, err)
		}
		if err := v.Publish(d.byName["ca"].read, []byte("no number"), false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if r, _ = d.Read(t.Context(), []string{"ca"}); r.Missing["ca"] == nil {
			t.Errorf("after what is no number: %+v", r)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestHaltThatCannotBeSentIsNotWaitedFor: what did not leave needs no confirmation; that it did not
// is said at once.
func TestHaltThatCannotBeSentIsNotWaitedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		d, c := connected(t, o, doserChannels()...)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err := d.haltOver(ctx, c)
		if err == nil || strings.Contains(err.Error(), "no reading") || time.Since(began) > time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestHaltWithoutASafeValueSendsNothing: of a channel that has neither a safe value nor a release, a halt
// says that alone, and nothing leaves.
func TestHaltWithoutASafeValueSendsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		d, c := connected(t, o, ChannelOptions{Channel: "x", Read: &ReadTopic{Topic: "lab/x"}, Write: &WriteTopic{Topic: "lab/x/set"}})
		before := d.seq
		if err := d.haltOver(t.Context(), c); err == nil || strings.Count(err.Error(), "channel \"x\"") != 1 || d.seq != before {
			t.Errorf("%d messages; %v", d.seq-before, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
