package link

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

type bubble struct{}

func (bubble) Now() time.Time { return time.Now() }

// TestClientThatIsNotConnected: what a client that has ended is to say is an error, also where
// nothing has noticed its end.
func TestClientThatIsNotConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := broker.StartVirtual(t)
		l := linkOver(v.Dial)
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, err := l.Open()
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if c.client.IsConnectionOpen() {
			t.Fatal("still connected")
		}
		ended := &Connection{client: c.client, Gone: make(chan struct{}), Will: &Will{Topic: "lab/status"}, sending: make(chan struct{}, 1)}
		if err := ended.Announce(t.Context(), "online"); !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("it says its status: %v", err)
		}
		if err := ended.Publish(t.Context(), "lab/x", []byte("1")); !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("it publishes: %v", err)
		}
		if err := v.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestAddresses: a port that is missing is the usual one of the scheme.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{"mqtt://h": "h:1883", "tcp://[::1]": "[::1]:1883", "tcp://h:1": "h:1", "tls://h": "h:8883", "mqtts://h:1": "h:1"} {
		o := Default()
		o.Broker = text
		if u, err := o.address(); err != nil || u.Host != want {
			t.Errorf("%s: %v, %v; want %s", text, u, err, want)
		}
	}
}
