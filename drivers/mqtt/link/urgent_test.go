package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/labtuner/tuner/drivers"
)

// answering is a broker's side of a connection: it answers a login where login is set, subscriptions where subscriptions
// is, and gives up once the other side has.
type answering struct{ login, subscriptions bool }

func (a answering) serve(c net.Conn) {
	for {
		p, err := packets.ReadPacket(c)
		if err != nil {
			return
		}
		var answer packets.ControlPacket
		switch p := p.(type) {
		case *packets.PingreqPacket:
			answer = packets.NewControlPacket(packets.Pingresp)
		case *packets.ConnectPacket:
			if a.login {
				answer = packets.NewControlPacket(packets.Connack)
			}
		case *packets.SubscribePacket:
			if a.subscriptions {
				s := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
				s.MessageID, s.ReturnCodes = p.MessageID, make([]byte, len(p.Topics))
				answer = s
			}
		}
		if answer != nil {
			_ = answer.Write(c) // the other side may have gone
		}
	}
}

// dialled gives a link its connections: each is answered as the next of a list says, the last again and again.
type dialled struct {
	mu     sync.Mutex
	script []answering
	dials  int
	last   net.Conn
}

func (d *dialled) dial(context.Context, *url.URL) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	client, server := net.Pipe()
	go d.script[min(d.dials, len(d.script)-1)].serve(server)
	d.dials, d.last = d.dials+1, client
	return client, nil
}

// linkOver is a link, not started, whose connections a function makes.
func linkOver(dial func(context.Context, *url.URL) (net.Conn, error)) *Link {
	o := Default()
	o.Broker, o.Dial = "tcp://virtual:1883", dial
	o = o.Filled()
	return New(Spec{Options: o, Env: drivers.Env{Clock: bubble{}, Log: slog.New(slog.DiscardHandler)}, Name: o.ClientName, Handle: func(Arrived) {}})
}

// linkOf is a link, not started, over a scripted broker, and that.
func linkOf(script ...answering) (*Link, *dialled) {
	d := &dialled{script: script}
	l := linkOver(d.dial)
	l.Topics = []string{"lab/x"}
	return l, d
}

// TestUrgentAttempts: a safe value does not wait until an attempt has timed out that nobody answers, nor for the answer to
// subscriptions; a proposal waits for both.
func TestUrgentAttempts(t *testing.T) {
	good, silent := answering{true, true}, answering{}
	for name, c := range map[string]struct {
		script []answering
		most   time.Duration
	}{
		"one attempt falls into an outage": {[]answering{good, silent, good}, urgentPatience + 2*MinBackoff},
		"two do":                           {[]answering{good, silent, silent, good}, 3*urgentPatience + 3*MinBackoff},
		"subscriptions are not answered":   {[]answering{good, {login: true}}, MinBackoff},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, d := linkOf(c.script...)
			if err := l.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			d.last.Close()
			synctest.Wait()
			began := time.Now()
			for err := errors.New("not tried"); err != nil; { // as the loop does in each tick
				if time.Since(began) > time.Minute {
					t.Fatalf("%s: no connection", name)
				}
				_, err = l.Urgently(t.Context(), time.Second)
			}
			if took := time.Since(began); took > c.most {
				t.Errorf("%s: a connection after %v, not %v", name, took, c.most)
			}
			synctest.Wait() // it may have been for the safe value alone so far
			if _, err := l.Stable(); (err == nil) != c.script[len(c.script)-1].subscriptions {
				t.Errorf("%s: for a proposal: %v", name, err)
			}
			l.Close()
			time.Sleep(time.Minute) // the library holds a message for 30 s
		})
	}
}

// TestUrgentAttemptsArePaced: a broker that ends each connection at once is not asked more often than every MinBackoff.
func TestUrgentAttemptsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := linkOf(answering{true, true})
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		const seconds = 10
		most := 2 + int(seconds*time.Second/MinBackoff)
		for began := time.Now(); time.Since(began) < seconds*time.Second && d.dials <= most; {
			if _, err := l.Urgently(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			d.last.Close()
			synctest.Wait()
		}
		if d.dials > most {
			t.Errorf("%d connections in %d s, at most %d", d.dials, seconds, most)
		}
		l.Close()
		time.Sleep(time.Minute)
	})
}

// TestSilentNode: a node of a cluster that accepts and says nothing leaves time for the others.
func TestSilentNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := linkOf(answering{}, answering{true, true})
		l.Options.Cluster = []string{"tcp://other:1883"}
		began := time.Now()
		if err := l.Start(t.Context()); err != nil || d.dials != 2 {
			t.Error(fmt.Errorf("after %v and %d nodes: %w", time.Since(began), d.dials, err))
		}
		l.Close()
		time.Sleep(time.Minute)
	})
}
