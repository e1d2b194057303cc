package link

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
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
			l := linkOver(func(context.Context, *url.URL) (net.Conn, error) {
				client, server := net.Pipe()
				go deafBroker(t, server)
				return client, nil
			})
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

// TestAskedInOrder: what a caller has given up does not leave after what was asked later.
func TestAskedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		var heard []uint16
		go func() {
			deafBroker(t, server)
			for {
				p, err := packets.ReadPacket(server)
				if err != nil {
					return
				}
				if m, ok := p.(*packets.PublishPacket); ok {
					heard = append(heard, uint16(m.Payload[0])<<8|uint16(m.Payload[1]))
					answer := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
					answer.MessageID = m.MessageID
					_ = answer.Write(server) // the other side may have gone
				}
			}
		}()
		l := linkOver(func(context.Context, *url.URL) (net.Conn, error) { return client, nil })
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, err := l.Open()
		if err != nil {
			t.Fatal(err)
		}
		given, giveUp := context.WithCancel(t.Context())
		giveUp()
		for i := range uint16(400) {
			ctx := t.Context()
			if i%2 == 0 {
				ctx = given
			}
			_ = c.Put(ctx, Message{Topic: "lab/x", Payload: []byte{byte(i >> 8), byte(i)}, QoS: QoS1}) // every second is given up
		}
		synctest.Wait()
		if !slices.IsSorted(heard) || len(heard) < 200 {
			t.Errorf("%d messages, heard in the order %v", len(heard), heard)
		}
		l.Close()
		time.Sleep(time.Minute)
	})
}
