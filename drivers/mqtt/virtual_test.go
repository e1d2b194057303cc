package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// pahoWaits is longer than the 30 s for which the library holds a message that no connection takes any more: a line that is
// cut while one is on its way to it leaves that behind, and virtual time stands once the test's function is over.
const pahoWaits = time.Minute

// inVirtualTime runs a test with an embedded broker over pipes, in a bubble.
func inVirtualTime(t *testing.T, f func(t *testing.T, v *broker.Virtual, o Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := broker.StartVirtual(t)
		o := optionsFor("tcp://virtual:1883")
		o.Dial = v.Dial
		f(t, v, o)
		if err := v.Stop(); err != nil {
			t.Error(err)
		}
		time.Sleep(pahoWaits)
	})
}

// blackHole is a connection that, between shut and heal, takes nothing and gives
// nothing, as a cable that was pulled: nobody is told.
type blackHole struct {
	net.Conn
	gone chan struct{} // closed by Close

	mu     sync.Mutex
	healed chan struct{} // nil while the line is good
	until  time.Time     // deadline of a Write
}

// dialHole gives a dialler whose last connection hole is.
func dialHole(v *broker.Virtual, hole **blackHole) func(context.Context, *url.URL) (net.Conn, error) {
	return func(ctx context.Context, u *url.URL) (net.Conn, error) {
		conn, err := v.Dial(ctx, u)
		if err != nil {
			return nil, err
		}
		*hole = &blackHole{Conn: conn, gone: make(chan struct{})}
		return *hole, nil
	}
}

func (b *blackHole) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.healed = make(chan struct{})
}

func (b *blackHole) heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.healed)
	b.healed = nil
}

func (b *blackHole) SetWriteDeadline(at time.Time) error {
	b.mu.Lock()
	b.until = at
	b.mu.Unlock()
	return b.Conn.SetWriteDeadline(at)
}

func (b *blackHole) Write(p []byte) (int, error) {
	b.mu.Lock()
	healed, wait := b.healed, time.Until(b.until)
	b.mu.Unlock()
	if healed != nil {
		select {
		case <-healed:
		case <-time.After(wait):
			return 0, errors.New("deadline passed in the black hole")
		case <-b.gone:
			return 0, net.ErrClosed
		}
	}
	return b.Conn.Write(p)
}

func (b *blackHole) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	b.mu.Lock()
	healed := b.healed
	b.mu.Unlock()
	if healed != nil { // not even the other side's goodbye comes through
		select {
		case <-healed:
		case <-b.gone:
			return 0, net.ErrClosed
		}
	}
	return n, err
}

func (b *blackHole) Close() error {
	b.mu.Lock()
	select {
	case <-b.gone:
	default:
		close(b.gone)
	}
	b.mu.Unlock()
	return b.Conn.Close()
}

// A link that dies silently is noticed within keep-alive, ping timeout and the
// client's look at them every quarter of the keep-alive, whenever it dies.
// With the library's own settings, 30 s and 10 s, it would take up to 47 s.
func TestSilentLossIsNoticed(t *testing.T) {
	worst := time.Duration(0)
	// A ping leaves after KeepAlive; the client looks after it every quarter of that.
	// In a pipe without buffer it does not even leave, for WriteTimeout.
	d := Default()
	bound := d.KeepAlive*5/4 + max(d.PingTimeout+d.KeepAlive/4, d.WriteTimeout)
	if bound > 12*time.Second {
		t.Errorf("by the defaults, a silent loss may go unnoticed for %v", bound)
	}
	for after := time.Duration(0); after < 10*time.Second; after += 700 * time.Millisecond {
		inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
			var hole *blackHole
			o.Dial = dialHole(v, &hole)
			d, _ := newDevice(t, o, doserChannels()...)
			if _, err := d.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			conn, err := d.ready()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute + after) // pings keep it alive
			if _, err := d.ready(); err != nil {
				t.Fatalf("after a quiet minute: %v", err)
			}
			hole.shut()
			began := time.Now()
			<-conn.Gone
			took := time.Since(began)
			if took > bound {
				t.Errorf("a silent loss is noticed after %v; the bound is %v", took, bound)
			}
			worst = max(worst, took)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("a silent loss is noticed after %v at most", worst)
}

// A Write whose message cannot leave in time must break the connection: when the
// link heals, the message must not arrive.
func TestLateWriteBreaksTheConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		var hole *blackHole
		o.Dial = dialHole(v, &hole)
		plant := &doser{}
		serving := optionsFor("tcp://virtual:1883")
		serving.Dial = v.Dial
		env, _ := environment()
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() {
			served <- Serve(ctx, Plant{Options: serving, Channels: doserChannels(), Device: plant, Period: time.Second, Env: env})
		}()
		d, _ := newDevice(t, o, doserChannels()...)
		if _, err := d.Open(ctx); err != nil {
			t.Fatal(err)
		}
		line := hole
		line.shut()
		writing, stop := context.WithTimeout(ctx, 300*time.Millisecond)
		_, err := d.Write(writing, drivers.Setpoints{Values: map[string]float64{"ca": 111}})
		stop()
		if !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "outcome is not known") {
			t.Errorf("a Write that cannot leave: %v", err)
		}
		time.Sleep(time.Second)
		line.heal()             // what still waits in it could now go through
		time.Sleep(time.Minute) // connected again, over a good line
		if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": 5}}); err != nil {
			t.Errorf("Write after the loss: %v", err)
		}
		time.Sleep(time.Second)
		if _, _, written := plant.state(); fmt.Sprint(written) != "[5]" {
			t.Errorf("the plant was written %v; want only 5", written)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// Thousands of messages at once, while the driver publishes: none blocks, none
// is read out of order.
func TestBurstKeepsOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, _ := newDevice(t, o, doserChannels()...)
		last, count := -1.0, 0
		done := make(chan struct{})
		const many = 3000
		d.Listen(func(r drivers.Reading) {
			if v := r.Values["area"]; v <= last {
				t.Errorf("%v comes after %v", v, last)
			} else {
				last = v
			}
			if count++; last == many-1 {
				close(done)
			}
		})
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			if err := v.Publish("lab/area", fmt.Append(nil, i), false); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 1}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		<-done
		t.Logf("%d of %d readings came", count, many)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenWithoutBroker(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		v.Cut()
		d, _ := newDevice(t, o, doserChannels()...)
		began := time.Now()
		_, err := d.Open(context.Background())
		if !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "unreachable") {
			t.Errorf("Open without a broker: %v", err)
		}
		if took := time.Since(began); took > o.ConnectTimeout {
			t.Errorf("Open took %v; connect_timeout is %v", took, o.ConnectTimeout)
		}
		// A broker that comes up within connect_timeout is found.
		time.AfterFunc(2*time.Second, v.Restore)
		if _, err := d.Open(context.Background()); err != nil {
			t.Errorf("Open while the broker comes up: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Close must end an Open that hangs in dialling.
func TestCloseDuringOpen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		o.Dial = func(ctx context.Context, _ *url.URL) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		d, _ := newDevice(t, o, doserChannels()...)
		time.AfterFunc(time.Second, func() { d.Close() })
		began := time.Now()
		if _, err := d.Open(context.Background()); err == nil {
			t.Error("Open succeeded without a connection")
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("Open ended after %v; Close came after 1s", took)
		}
	})
}
