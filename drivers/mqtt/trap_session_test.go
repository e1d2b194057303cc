package mqtt

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// The traps about sessions, names and farewells; see trap_test.go.

// The library's store on disk sends what the last process left, and is not synced
// either.
func TestTrapStoreOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		arrived := listen(t, v, "lab/ca/set")
		stored := func(c *paho.ClientOptions) { c.SetStore(paho.NewFileStore(folder)).SetCleanSession(false) }
		o.ClientID = "tuner"
		c := raw(t, v, "raw", stored)
		d, _ := opened(t, o)
		v.Cut()
		synctest.Wait()
		c.Publish("lab/ca/set", 1, false, "raw")
		if err := setCA(d, 7); err == nil {
			t.Error("Write without a broker")
		}
		quit(c)
		closed(t, d)

		v.Restore() // both are started again
		c = raw(t, v, "raw", stored)
		d, _ = opened(t, o)
		time.Sleep(time.Minute)
		if got := arrived.take(); len(got) != 1 || got[0] != "raw" {
			t.Errorf("after the restart %q arrives; the raw client's message was to, and no other", got)
		}
		quit(c)
		closed(t, d)
	})
}

// A broker keeps messages for a client that left a session behind, and delivers
// them when it comes back.
func TestTrapQueuedWhileAway(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		const id = "doser-plant" // what Serve makes of the client_id doser
		var late atomic.Int64
		lasting := func(o *paho.ClientOptions) {
			o.SetCleanSession(false).SetAutoReconnect(false).SetDefaultPublishHandler(func(paho.Client, paho.Message) { late.Add(1) })
		}
		// leave subscribes under the name, leaves, and lets a setpoint be sent.
		leave := func() {
			c := raw(t, v, id, lasting)
			c.Subscribe("lab/ca/set", 1, nil).Wait()
			quit(c)
			synctest.Wait()
			sender := raw(t, v, "sender", nil)
			sender.Publish("lab/ca/set", 1, false, `{"value":99,"seq":1,"ttl_ms":600000,"session":"s"}`).Wait()
			quit(sender)
		}
		leave()
		c := raw(t, v, id, lasting)
		time.Sleep(time.Second)
		quit(c)
		if late.Load() != 1 {
			t.Errorf("the raw client gets %d messages from the time it was away; this test proves nothing", late.Load())
		}
		leave()
		plant := &doser{}
		o.ClientID = "doser"
		end := serveVirtual(t, o, doserChannels(), plant)
		time.Sleep(10 * time.Second)
		if _, _, written := plant.state(); len(written) > 0 {
			t.Errorf("a setpoint from before the plant was there is written: %v", written)
		}
		end()
	})
}

// A client that says goodbye has no last will; one that comes back must have one
// again.
func TestTrapNoWillOnGoodbye(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		rawStatus, status := listen(t, v, "raw/status"), listen(t, v, "lab/status")
		c := raw(t, v, "raw", func(o *paho.ClientOptions) { o.SetWill("raw/status", "offline", 1, true) })
		c.Disconnect(250)
		if got := rawStatus.take(); len(got) > 0 {
			t.Errorf("the library says goodbye with %q; this test proves nothing", got)
		}
		end := serveVirtual(t, withStatus(o), doserChannels(), &doser{})
		want := []string{"online"}
		for range 2 {
			v.Cut()
			time.Sleep(time.Minute)
			v.Restore()
			time.Sleep(time.Minute)
			want = append(want, "offline", "online")
		}
		end()
		want = append(want, "offline")
		if got := status.take(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the status was %q; want %q", got, want)
		}
	})
}

// Two clients of one name throw each other out for ever. The driver writes nothing
// over connections that do not hold, and says what it may be.
func TestTrapTwoClientsOneName(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		o.ClientID = "tuner"
		var thrownOut atomic.Int64
		c := raw(t, v, "tuner", func(o *paho.ClientOptions) {
			o.SetMaxReconnectInterval(time.Second).SetConnectionLostHandler(func(paho.Client, error) { thrownOut.Add(1) })
		})
		d, said := opened(t, o)
		time.Sleep(time.Minute)
		for range 600 {
			time.Sleep(time.Second)
			if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) {
				t.Fatalf("Write over a connection that the other client ends: %v", err)
			}
		}
		if thrownOut.Load() < 30 {
			t.Errorf("the raw client was thrown out %d times in 11 minutes; this test proves nothing", thrownOut.Load())
		}
		if !strings.Contains(said.String(), "does another client have the same client_id?") {
			t.Errorf("the log does not say what it may be:\n%s", said)
		}
		quit(c)
		if err := setCA(d, 1); err != nil {
			t.Errorf("the other client is gone: %v", err)
		}
		closed(t, d)
	})
}

// The same with two drivers, which wait equally long.
func TestTwoDriversOneName(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		o.ClientID = "tuner"
		one, oneSaid := opened(t, o)
		two, twoSaid := opened(t, o)
		time.Sleep(3 * time.Minute)
		for range 900 {
			time.Sleep(time.Second)
			for _, d := range []*Device{one, two} {
				if err := setCA(d, 1); !errors.Is(err, drivers.ErrUnavailable) {
					t.Fatalf("Write over a connection that the other driver ends: %v", err)
				}
			}
		}
		const want = "does another client have the same client_id?"
		if !strings.Contains(oneSaid.String(), want) || !strings.Contains(twoSaid.String(), want) {
			t.Error("the logs do not say what it may be")
		}
		closed(t, one)
		time.Sleep(time.Minute)
		if err := setCA(two, 1); err != nil {
			t.Errorf("the other is gone: %v", err)
		}
		closed(t, two)
	})
}
