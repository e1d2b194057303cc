package link

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/labtuner/tuner/drivers"
)

// deafBroker takes a login, and reads nothing after it.
func deafBroker(t *testing.T, c net.Conn) {
	if _, err := packets.ReadPacket(c); err != nil {
		t.Error(err)
	}
	if err := packets.NewControlPacket(packets.Connack).Write(c); err != nil {
		t.Error(err)
	}
}

// TestAskKeepsToItsTime: while the library holds messages that a connection does not take, it takes no
// other; whoever asks then waits for as long as his context says.
func TestAskKeepsToItsTime(t *testing.T) {
	const patience = 100 * time.Millisecond
	for name, ask := range map[string]func(ctx context.Context, c *Connection) error{
		"put":        func(ctx context.Context, c *Connection) error { return c.Put(ctx, Message{Topic: "lab/x", QoS: QoS1}) },
		"announce":   func(ctx context.Context, c *Connection) error { return c.Announce(ctx, "online") },
		"subscribe":  func(ctx context.Context, c *Connection) error { return c.subscribe(ctx, []string{"lab/y"}, QoS0) },
		"round trip": func(ctx context.Context, c *Connection) error { return c.AwaitRoundTrip(ctx, time.Hour) },
	} {
		synctest.Test(t, func(t *testing.T) {
			o := Default()
			o.Broker = "tcp://virtual:1883"
			o.Dial = func(context.Context, *url.URL) (net.Conn, error) {
				client, server := net.Pipe()
				go deafBroker(t, server)
				return client, nil
			}
			o = o.Filled()
			l := New(Spec{Options: o, Env: drivers.Env{Clock: bubble{}, Log: slog.New(slog.DiscardHandler)}, Name: o.ClientName, Handle: func(Arrived) {}})
			if err := l.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			c, err := l.Open()
			if err != nil {
				t.Fatal(err)
			}
			c.Will = &Will{Topic: "lab/status", Silent: true}
			for range 3 { // one in the connection, one on its way to it, one that waits for its turn
				go c.client.Publish("lab/x", QoS0, false, "1")
				synctest.Wait()
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := ask(ctx, c); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, drivers.ErrUnavailable) || time.Since(began) != patience {
				t.Errorf("%s: %v after %v, not after %v", name, err, time.Since(began), patience)
			}
			l.Close()
			time.Sleep(time.Minute) // the library holds a message for 30 s
		})
	}
}
