package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// The traps of the client library. Each test first walks into the trap with the
// library as it comes, so that it shows that it can see it, and then the same way
// with the driver.

// raw gives a connected client with the library's defaults, but for what change
// says.
func raw(t *testing.T, v *broker.Virtual, id string, change func(*paho.ClientOptions)) paho.Client {
	t.Helper()
	o := paho.NewClientOptions().AddBroker("tcp://virtual:1883").SetClientID(id).
		SetCustomOpenConnectionFn(func(u *url.URL, _ paho.ClientOptions) (net.Conn, error) { return v.Dial(context.Background(), u) })
	if change != nil {
		change(o)
	}
	c := paho.NewClient(o)
	if token := c.Connect(); !token.WaitTimeout(time.Minute) || token.Error() != nil {
		t.Fatalf("the raw client does not connect: %v", token.Error())
	}
	return c
}

// quit ends a raw client, and waits until it is done with its own waits.
func quit(c paho.Client) {
	c.Disconnect(0)
	time.Sleep(11 * time.Minute)
}

// tally counts a topic's messages at the broker, whoever is connected.
type tally struct {
	mu   sync.Mutex
	said []string
}

func listen(t *testing.T, v *broker.Virtual, topic string) *tally {
	t.Helper()
	n := &tally{}
	err := v.Listen(topic, func(payload []byte) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.said = append(n.said, string(payload))
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// take gives what came since it was last asked.
func (n *tally) take() []string {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	said := n.said
	n.said = nil
	return said
}

// opened is a device of the file, open.
func opened(t *testing.T, o Options, channels ...ChannelOptions) (*Device, *records) {
	t.Helper()
	if len(channels) == 0 {
		channels = doserChannels()
	}
	d, said := newDevice(t, o, channels...)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d, said
}

func closed(t *testing.T, d *Device) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func setCA(d *Device, v float64) error {
	_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": v}})
	return err
}

// Setpoints that were published while there was no connection arrive when there is
// one again.
func TestTrapStaleReplay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		arrived := listen(t, v, "lab/ca/set")
		c := raw(t, v, "raw", nil)
		d, _ := opened(t, o)
		if err := setCA(d, 1); err != nil || len(arrived.take()) != 1 {
			t.Errorf("before the outage: %v", err)
		}
		v.Cut()
		synctest.Wait()
		for i := range 50 {
			c.Publish("lab/ca/set", 1, false, fmt.Sprintf("raw %d", i))
			if err := setCA(d, float64(i)); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("Write without a broker: %v", err)
			}
		}
		time.Sleep(time.Minute)
		v.Restore()
		time.Sleep(15 * time.Minute)
		late := arrived.take()
		replayed := 0
		for _, m := range late {
			if strings.HasPrefix(m, "raw ") {
				replayed++
			} else {
				t.Errorf("the driver replays %s", m)
			}
		}
		if replayed == 0 {
			t.Error("the library does not replay any more; this test proves nothing")
		}
		if err := setCA(d, 2); err != nil || len(arrived.take()) != 1 {
			t.Errorf("after the outage: %v", err)
		}
		quit(c)
		closed(t, d)
	})
}

// A handler that publishes and waits stops the library from reading. In real time,
// with buffers between client and broker: a virtual broker would stop with it.
func TestTrapPublishInHandler(t *testing.T) {
	const burst = 20
	b := broker.Start(t)
	var handled atomic.Int64
	all := make(chan struct{})
	c := paho.NewClient(paho.NewClientOptions().AddBroker(b.URL).SetAutoReconnect(false))
	if token := c.Connect(); token.Wait() && token.Error() != nil {
		t.Fatal(token.Error())
	}
	defer c.Disconnect(0)
	c.Subscribe("lab/area", 1, func(c paho.Client, _ paho.Message) {
		<-all // on a slow computer, each answer may otherwise be there before the next message
		c.Publish("lab/echo", 1, false, "x").Wait()
		handled.Add(1)
	}).Wait()
	d, said := newDevice(t, optionsFor(b.URL), doserChannels()...)
	var written atomic.Int64
	d.Listen(func(drivers.Reading) {
		if err := setCA(d, 1); err != nil {
			t.Errorf("Write from the sink: %v", err)
		}
		written.Add(1)
	})
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	speaker := newOther(t, b.URL)
	for i := range burst {
		speaker.say("lab/area", fmt.Sprint(i), false)
	}
	close(all)
	eventually(t, "every reading is answered by a Write", func() bool { return written.Load() == burst })
	if handled.Load() >= burst {
		t.Error("the library's handler may publish and wait now; this test proves nothing")
	}
	if strings.Contains(said.String(), "lost") {
		t.Errorf("the driver lost the connection:\n%s", said)
	}
}

// A handler that is slow stops the library from reading too, its pings' answers
// among the rest. A sink that hangs must cost nothing but readings.
func TestTrapSlowHandler(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, said := newDevice(t, o, doserChannels()...)
		release := make(chan struct{})
		var last atomic.Int64
		d.Listen(func(r drivers.Reading) {
			<-release
			last.Store(int64(r.Values["area"]))
		})
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		const many = 3 * link.QueueLength
		for i := range many {
			if err := v.Publish("lab/area", fmt.Append(nil, i), false); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(5 * time.Minute)
		if err := setCA(d, 1); err != nil || strings.Contains(said.String(), "lost") {
			t.Errorf("while the sink hangs: %v; the log says:\n%s", err, said)
		}
		close(release)
		synctest.Wait()
		if last.Load() != many-1 || !strings.Contains(said.String(), "the oldest were dropped") {
			t.Errorf("the last reading is %d of %d; the log says:\n%s", last.Load(), many, said)
		}
		closed(t, d)
	})
}

// After a reconnection the broker knows no subscriptions any more.
func TestTrapSubscriptionsGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var raws, readings atomic.Int64
		c := raw(t, v, "raw", nil)
		c.Subscribe("lab/area", 0, func(paho.Client, paho.Message) { raws.Add(1) }).Wait()
		d, _ := newDevice(t, o, doserChannels()...)
		d.Listen(func(drivers.Reading) { readings.Add(1) })
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if err := v.Publish("lab/area", []byte("1"), false); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := readings.Load(); got != int64(i+1) {
				t.Errorf("%d readings after %d messages", got, i+1)
			}
			v.Cut()
			time.Sleep(time.Second)
			v.Restore()
			time.Sleep(20 * time.Minute)
		}
		if !c.IsConnectionOpen() || raws.Load() != 1 {
			t.Errorf("the raw client is connected: %v, and heard %d of 2; this test proves nothing", c.IsConnectionOpen(), raws.Load())
		}
		quit(c)
		closed(t, d)
	})
}

// The library's waits between attempts to connect grow to ten minutes.
func TestTrapTenMinutes(t *testing.T) {
	// From 3 s to 3 h, so that the outage ends anywhere in the waits.
	var worstRaw, worst time.Duration
	for outage := 3 * time.Second; outage < 3*time.Hour; outage *= 3 {
		inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
			c := raw(t, v, "raw", nil)
			d, _ := opened(t, o)
			time.Sleep(time.Minute)
			v.Cut()
			time.Sleep(outage)
			v.Restore()
			began := time.Now()
			for !c.IsConnectionOpen() {
				if _, err := d.ready(); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			for up := false; !up; time.Sleep(10 * time.Millisecond) {
				_, err := d.ready()
				up = err == nil
			}
			worst = max(worst, time.Since(began))
			for ; !c.IsConnectionOpen(); time.Sleep(time.Second) {
			}
			worstRaw = max(worstRaw, time.Since(began))
			quit(c)
			closed(t, d)
		})
	}
	t.Logf("after an outage there is a connection again after %v at most; with the library's own waits after %v", worst, worstRaw)
	if worst > 11*time.Second {
		t.Errorf("a connection comes back after %v; the longest wait is %v", worst, link.MaxBackoff)
	}
	if worstRaw < time.Minute {
		t.Errorf("the library is back after %v; this test proves nothing", worstRaw)
	}
}

// IsConnected is true without a connection, and a QoS 0 message that is published
// then is thrown away with a token that says it went well.
func TestTrapSuccessWithoutBroker(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		arrived := listen(t, v, "lab/ca/set")
		c := raw(t, v, "raw", nil)
		d, _ := opened(t, o)
		v.Cut()
		time.Sleep(2 * time.Second)
		if !c.IsConnected() {
			t.Error("the library's IsConnected says no now; this test proves nothing")
		}
		token := c.Publish("lab/ca/set", 0, false, "raw")
		if !token.WaitTimeout(time.Minute) || token.Error() != nil {
			t.Errorf("the library's token says %v now; this test proves nothing", token.Error())
		}
		if _, err := d.Read(context.Background(), []string{"ca"}); !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("Read without a broker: %v", err)
		}
		if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) {
			t.Errorf("Write without a broker: %v", err)
		}
		if got := arrived.take(); len(got) > 0 {
			t.Errorf("%q arrived", got)
		}
		quit(c)
		closed(t, d)
	})
}

// A token that is done says that the broker has the message, not that anybody took
// it.
func TestTrapTokenIsNotDelivery(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		c := raw(t, v, "raw", nil)
		token := c.Publish("lab/ca/set", 1, false, "1") // nobody has subscribed
		if !token.WaitTimeout(time.Minute) || token.Error() != nil {
			t.Errorf("the token says %v; this test proves nothing", token.Error())
		}
		d, _ := opened(t, o, confirmed()...)
		if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "not confirmed") {
			t.Errorf("a setpoint that nobody took: %v", err)
		}
		quit(c)
		closed(t, d)
	})
}

// The library keeps what is published without a connection until its 65,535
// message numbers are used up.
func TestTrapQueueGrows(t *testing.T) {
	const many = 70_000
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		c := raw(t, v, "raw", nil)
		d, _ := opened(t, o)
		v.Cut()
		synctest.Wait()
		before, goroutines := heap(), runtime.NumGoroutine()
		for range many {
			if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) {
				t.Fatalf("Write without a broker: %v", err)
			}
		}
		ours, more := heap()-before, runtime.NumGoroutine()-goroutines
		var last error
		for i := 0; i < many && last == nil; i++ {
			if token := c.Publish("x", 1, false, "1"); token.WaitTimeout(0) {
				last = token.Error()
			}
		}
		theirs := heap() - before - ours
		t.Logf("%d setpoints without a broker keep %d kB in the driver and %d kB in the library", many, ours/1000, theirs/1000)
		if last == nil || theirs < 1e6 {
			t.Errorf("the library ends with %v; this test proves nothing", last)
		}
		// What other tests' leftovers come to is far below one byte for each setpoint.
		if ours > many || more > 0 {
			t.Errorf("the driver kept %d bytes and %d goroutines", ours, more)
		}
		quit(c)
		closed(t, d)
	})
}

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
