package mqtt

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

var (
	outages = flag.Int("outages", 200, "broker outages of TestOutageCampaign")
	seed    = flag.Uint64("seed", 1, "seed of TestOutageCampaign")
)

// campaign is a driver and a listener to its setpoints, through outages.
type campaign struct {
	t        *testing.T
	virtual  *broker.Virtual
	device   *Device
	readings atomic.Int64
	arrivals chan setpoint

	n, last     int64               // numbers of the last write and of the last arrival
	sent        map[int64]time.Time // when Write said that it was sent
	stale, lost int
}

// Real client and real broker, outages of random length at random times, a
// setpoint every half second whether there is a broker or not. Then: no setpoint
// arrives that Write did not report as sent, none arrives later than a second
// after it was written, none out of order, and after every outage both
// directions work again.
//
//	go test ./drivers/mqtt -run OutageCampaign -v -outages 10000 -seed 7
func TestOutageCampaign(t *testing.T) {
	t.Logf("%d outages, seed %d", *outages, *seed)
	rng := rand.New(rand.NewPCG(*seed, 2))
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		began := time.Now()
		c := &campaign{t: t, virtual: v, arrivals: make(chan setpoint, 1024), sent: map[int64]time.Time{}}
		listener := c.begin(o)
		for i := 0; i < *outages && !t.Failed(); i++ {
			c.goOn(time.Duration(rng.Int64N(int64(30*time.Second))), true)
			v.Cut()
			c.goOn(time.Duration(rng.Int64N(int64(60*time.Second))), false)
			v.Restore()
			time.Sleep(lastWait + time.Second) // the longest wait between attempts
			c.bothWays()
		}
		t.Logf("%v of virtual time, %d writes, %d sent, %d stale, %d lost", time.Since(began), c.n, len(c.sent), c.stale, c.lost)
		listener.close()
		if err := c.device.Close(); err != nil {
			t.Error(err)
		}
	})
}

// begin opens the device and subscribes a link of its own to the setpoints.
func (c *campaign) begin(o Options) *link {
	c.device, _ = newDevice(c.t, o, doserChannels()...)
	c.device.Listen(func(drivers.Reading) { c.readings.Add(1) })
	if _, err := c.device.Open(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	listener := newLink(linkSpec{options: o.filled(), env: c.device.env, clientID: "plant", topics: []string{"lab/ca/set"},
		handle: func(m message) {
			s, err := parseSetpoint(m.payload, false)
			if err != nil {
				c.t.Errorf("%s: %v", m.payload, err)
				return
			}
			c.arrivals <- s
		}})
	if err := listener.start(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	return listener
}

// goOn writes twice a second. While the broker is away, no Write may claim to be
// sent; while it is there, one may still fail until the outage before is noticed
// to be over.
func (c *campaign) goOn(duration time.Duration, there bool) {
	for ; duration > 0; duration -= 500 * time.Millisecond {
		time.Sleep(500 * time.Millisecond)
		if err := c.write(); err == nil && !there {
			c.t.Error("a Write during an outage claims to be sent")
		}
		c.check()
	}
}

// write writes the next number.
func (c *campaign) write() error {
	c.n++
	_, err := c.device.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": float64(c.n)}})
	if err == nil {
		c.sent[c.n] = time.Now()
	}
	return err
}

// check looks at what arrived.
func (c *campaign) check() {
	synctest.Wait()
	for len(c.arrivals) > 0 {
		k := int64(*(<-c.arrivals).Value)
		at, was := c.sent[k]
		if !was || time.Since(at) > time.Second || k <= c.last {
			c.stale++
			c.t.Errorf("setpoint %d arrives; sent: %v, %v ago; the last was %d", k, was, time.Since(at), c.last)
		}
		c.last = k
	}
}

// bothWays checks that a setpoint and a reading come through.
func (c *campaign) bothWays() {
	before := c.readings.Load()
	if err := c.write(); err != nil {
		c.t.Errorf("after an outage: %v", err)
	}
	c.check()
	if c.last != c.n {
		c.lost++
		c.t.Errorf("after an outage, setpoint %d does not arrive", c.n)
	}
	if err := c.virtual.Publish("lab/area", []byte("7"), false); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
	if c.readings.Load() != before+1 {
		c.lost++
		c.t.Error("after an outage, a reading does not arrive")
	}
}
