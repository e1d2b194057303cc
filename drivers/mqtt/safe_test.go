package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// The driver's own gates before a setpoint, and what a safe one finds there. Those of the
// loop are in loop/makesafe_test.go.
//
//	gate                             setpoint                    safe setpoint
//	connection that has flapped      waits 30 s                  leaves
//	link dead without a sign         leaves into the void        is found out in 2 s, and leaves again
//	no connection                    not sent, next try in 10 s  has one made at once, every 0.25 s, and leaves with it
//	status "offline"                 not sent                    leaves
//	status not said yet, reopened    not sent                    leaves
//	confirmation of another missing  waits for it                leaves at once, on the same connection
//	message that cannot leave        waits for it                leaves behind it, never before
//
// A halt finds what a safe setpoint does.

func setSafe(d *Device) error {
	_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 0}, Safe: true})
	return err
}

func TestSafeOverAConnectionThatFlaps(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		for _, drops := range []int{0, 2, 4, 8} {
			d, _ := opened(t, o)
			for range drops {
				time.Sleep(3500 * time.Millisecond)
				v.Cut()
				v.Restore()
			}
			time.Sleep(15 * time.Second) // it is connected again
			if err := setCA(d, 1); (err == nil) != (drops < link.FlapLimit) {
				t.Errorf("%d drops, a setpoint: %v", drops, err)
			}
			began := time.Now()
			if err := setSafe(d); err != nil || time.Since(began) > 0 {
				t.Errorf("%d drops, a safe setpoint: %v after %v", drops, err, time.Since(began))
			}
			closed(t, d)
		}
	})
}

func TestSafeHasAConnectionMade(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, _ := opened(t, o)
		v.Cut()
		time.Sleep(time.Minute) // the next attempt is up to 10 s away
		if err := setSafe(d); !errors.Is(err, drivers.ErrNotSent) || !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("without a broker: %v", err)
		}
		time.Sleep(4 * link.MinBackoff) // the last attempt made for it is over, and may be followed at once
		v.Restore()
		began := time.Now()
		if err := setSafe(d); err != nil || time.Since(began) > 0 {
			t.Errorf("the broker is back: %v after %v", err, time.Since(began))
		}
		v.Cut()
		time.Sleep(time.Minute)
		const back = link.MinBackoff + link.MinBackoff/2 // after an attempt that was made at once
		time.AfterFunc(back, v.Restore)
		began = time.Now()
		if err := setSafe(d); err != nil || time.Since(began) > back+link.MinBackoff {
			t.Errorf("the broker comes back while it waits: %v after %v", err, time.Since(began))
		}
		closed(t, d)
	})
}

// deafConn is a transport that swallows what is written to it, without a sign, once it is told to.
type deafConn struct {
	net.Conn
	deaf atomic.Bool
}

func (c *deafConn) Write(p []byte) (int, error) {
	if c.deaf.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// A link that has died without a sign takes the safe value with it: that is noticed, the
// connection ends, and the next attempt has a new one. It is the same with a setpoint, so that
// no second one follows into the void.
func TestSafeOverASilentLink(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var last *deafConn
		o.KeepAlive = time.Minute
		o.Dial = func(ctx context.Context, u *url.URL) (net.Conn, error) {
			conn, err := v.Dial(ctx, u)
			if err != nil {
				return nil, err
			}
			last = &deafConn{Conn: conn}
			return last, nil
		}
		arrived := listen(t, v, "lab/ca/set")
		d, _ := opened(t, o)
		for _, c := range []struct {
			set   func(*Device) error
			value string
		}{{func(d *Device) error { return setCA(d, 1) }, `"value":1,`}, {setSafe, `"value":0,`}} {
			last.deaf.Store(true)
			began := time.Now()
			if err := c.set(d); !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrNotSent) || time.Since(began) != BrokerWait {
				t.Errorf("%s into the void: %v after %v", c.value, err, time.Since(began))
			}
			if err := setSafe(d); err != nil || time.Since(began) > BrokerWait+time.Second {
				t.Errorf("a safe value then: %v after %v", err, time.Since(began))
			}
			if loss := d.LastLoss(); loss.Before(began) {
				t.Errorf("the loss is noted at %v, it was after %v", loss, began)
			}
			if got := arrived.take(); len(got) != 1 || !strings.Contains(got[0], `"value":0,`) {
				t.Errorf("arrived %q", got)
			}
		}
		closed(t, d)
	})
}

// A halt finds the same out, and goes on over the next connection: nobody calls it again.
func TestHaltOverASilentLink(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var last *deafConn
		o.KeepAlive = time.Minute
		o.Dial = func(ctx context.Context, u *url.URL) (net.Conn, error) {
			conn, err := v.Dial(ctx, u)
			if err != nil {
				return nil, err
			}
			last = &deafConn{Conn: conn}
			return last, nil
		}
		arrived := listen(t, v, "lab/ca/set")
		d, _ := opened(t, o)
		last.deaf.Store(true)
		began := time.Now()
		go func() { // a reading that shows the safe value
			time.Sleep(BrokerWait + time.Second)
			if err := v.Publish("lab/ca", []byte(`{"value":0}`), false); err != nil {
				t.Error(err)
			}
		}()
		if err := d.Halt(context.Background()); err != nil || time.Since(began) > BrokerWait+time.Second {
			t.Errorf("a halt into the void: %v after %v", err, time.Since(began))
		}
		if got := arrived.take(); len(got) != 1 || !strings.Contains(got[0], `"value":0,`) {
			t.Errorf("arrived %q", got)
		}
		closed(t, d)
	})
}

func TestSafeWhateverTheStatusSays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		say := func(text string) {
			if err := v.Publish("lab/status", []byte(text), true); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		say("online")
		arrived := listen(t, v, "lab/ca/set")
		d, _ := opened(t, withStatus(o))
		say("offline")
		if err := setCA(d, 1); !errors.Is(err, drivers.ErrNotSent) {
			t.Errorf("a setpoint: %v", err)
		}
		if err := setSafe(d); err != nil {
			t.Errorf("a safe setpoint: %v", err)
		}
		// One that is opened again does not wait for the device to be there.
		closed(t, d)
		began := time.Now()
		if _, err := d.Open(context.Background()); err != nil || time.Since(began) > 0 {
			t.Errorf("opened again: %v after %v", err, time.Since(began))
		}
		if err := setSafe(d); err != nil {
			t.Errorf("a safe setpoint: %v", err)
		}
		if n := len(arrived.take()); n != 2 {
			t.Errorf("%d have arrived, want 2", n)
		}
		closed(t, d)
	})
}

// overtake begins a write and ends it as the loop does for a safe value; it gives the
// write's error.
func overtake(d *Device, value float64, after time.Duration) error {
	ctx, end := context.WithCancelCause(context.Background())
	time.AfterFunc(after, func() { end(drivers.ErrPreempted) })
	_, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": value}})
	return err
}

func TestSafeOvertakesAConfirmation(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		channels := doserChannels()
		channels[0].Confirm = &ConfirmTopic{Topic: "lab/ca/taken", Timeout: time.Minute}
		arrived := listen(t, v, "lab/ca/set")
		d, said := opened(t, o, channels...)
		began := time.Now()
		if err := overtake(d, 1, time.Second); err == nil || time.Since(began) != time.Second {
			t.Errorf("overtaken after 1s: %v after %v", err, time.Since(began))
		}
		if strings.Contains(said.String(), "lost") {
			t.Errorf("the connection was broken: %s", said)
		}
		go setSafe(d)
		synctest.Wait()
		if got := arrived.take(); len(got) != 2 || !strings.Contains(got[1], `"value":0,"seq":2`) {
			t.Errorf("arrived %q", got)
		}
		closed(t, d)
	})
}

// A message that cannot leave was overtaken. When the line takes messages again the safe one
// follows it: never the other way round.
func TestSafeLeavesLast(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var hole *blackHole
		o.Dial, o.WriteTimeout, o.KeepAlive = dialHole(v, &hole), 20*time.Second, time.Minute
		arrived := listen(t, v, "lab/ca/set")
		d, _ := opened(t, o)
		for n := range 50 {
			hole.shut()
			if err := overtake(d, float64(n+1), 10*time.Millisecond); err == nil {
				t.Fatal("it has left through a line that takes nothing")
			}
			time.AfterFunc(100*time.Millisecond, hole.heal)
			if err := setSafe(d); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := arrived.take(); len(got) == 0 || !strings.Contains(got[len(got)-1], `"value":0,`) {
				t.Fatalf("the last of %q is not the safe one", got)
			}
		}
		closed(t, d)
	})
}

// steal logs in under a name, and says nothing more.
func steal(t *testing.T, v *broker.Virtual, id string) net.Conn {
	t.Helper()
	c, err := v.Dial(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	hello := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	hello.ProtocolName, hello.ProtocolVersion, hello.CleanSession, hello.ClientIdentifier = "MQTT", 4, true, id
	if err := hello.Write(c); err != nil {
		t.Fatal(err)
	}
	// Who had the name may have it again before the broker's answer is read: then the
	// connection is closed, and the name was taken all the same.
	if _, err := packets.ReadPacket(c); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return c
}

// TestClientIDIsNobodysToGuess: the identifier stands in nothing that is published or
// logged, and who has learnt it cannot follow: the next connection has another.
func TestClientIDIsNobodysToGuess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		arrived := listen(t, v, "lab/ca/set")
		d, said := newDevice(t, o, doserChannels()...)
		var mu sync.Mutex
		var told []string
		d.Notify(func(text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		})
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for range 5 {
			conn, err := d.link.Open()
			if err != nil {
				t.Fatal(err)
			}
			id := conn.ClientID()
			if seen[id] || len(id) != 22 {
				t.Fatalf("client id %q, before it %v", id, seen)
			}
			seen[id] = true
			thief := steal(t, v, id)
			time.Sleep(20 * time.Second)
			if err := setSafe(d); err != nil {
				t.Error(err)
			}
			thief.Close()
		}
		out := fmt.Sprint(arrived.take(), said.String(), told)
		for id := range seen {
			if strings.Contains(out, strings.TrimPrefix(id, "tuner-")) {
				t.Errorf("%q can be read in what was said: %s", id, out)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(told) != 5 || !strings.Contains(told[0], "takes the connection over") {
			t.Errorf("told %q", told)
		}
		closed(t, d)
	})
}

// TestSafeThroughATakeOver: another client of the same, fixed name comes back whenever it is
// thrown out. A safe setpoint leaves all the same.
func TestSafeThroughATakeOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		o.ClientID = "fixed"
		arrived := listen(t, v, "lab/ca/set")
		d, _ := opened(t, o)
		ctx, stop := context.WithCancel(context.Background())
		gone := make(chan struct{})
		go func() { // It takes the name every 101 ms: 100 would meet attempts 0.25 s apart again and again.
			defer close(gone)
			for ctx.Err() == nil {
				c := steal(t, v, "fixed")
				time.Sleep(101 * time.Millisecond)
				c.Close()
			}
		}()
		time.Sleep(time.Minute)
		if err := setCA(d, 1); err == nil {
			t.Error("a setpoint leaves over a connection that is taken over all the time")
		}
		for n := range 20 {
			began := time.Now()
			for setSafe(d) != nil && time.Since(began) < 10*time.Second {
			}
			synctest.Wait()
			// A connection is tried every 0.25 s, and the thief comes in between at most once.
			if took := time.Since(began); took > 400*time.Millisecond || len(arrived.take()) == 0 {
				t.Errorf("%d: left after %v", n, took)
			}
			time.Sleep(777 * time.Millisecond)
		}
		stop()
		<-gone
		closed(t, d)
	})
}
