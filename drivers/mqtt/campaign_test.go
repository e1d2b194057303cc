package mqtt

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
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

var (
	outages = flag.Int("outages", 150, "broker outages of TestOutageCampaign")
	seed    = flag.Uint64("seed", 1, "seed of TestOutageCampaign")
)

// The campaign's setpoints may be on their way for this long.
const campaignTTL = time.Second

// Real clients on both sides, a real broker, and outages of five kinds at random
// times. A setpoint goes out every half second whether there is a broker or not,
// and a sensor speaks all the time. Then:
//
//   - No setpoint is taken that Write reported as not sent, none more than its ttl
//     after it was written, none after a later one. That is what stale means.
//   - What Write reports as confirmed was taken.
//   - After every outage there is a connection again within a minute, and from then
//     on every reading arrives, once and in order.
//
// The nightly size:
//
//	go test ./drivers/mqtt -run OutageCampaign -v -outages 10000 -seed 7 -timeout 2h
func TestOutageCampaign(t *testing.T) {
	t.Parallel()
	t.Logf("%d outages, seed %d", *outages, *seed)
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		began := time.Now()
		c := &campaign{t: t, virtual: v, lines: lines{broker: v}, rng: rand.New(rand.NewPCG(*seed, 2)), writes: map[int]*written{}}
		end := c.begin(o)
		for i := 0; i < *outages && !t.Failed(); i++ {
			c.work(time.Duration(c.rng.Int64N(int64(30 * time.Second))))
			kind := outage(c.rng.IntN(int(outageKinds)))
			heal := c.lines.strike(kind)
			c.suffer(time.Duration(c.rng.Int64N(int64(45 * time.Second))))
			heal()
			c.recover(kind)
		}
		c.judge()
		t.Logf("%v of virtual time; %d writes, %d confirmed, %d taken, %d stale; %d readings, %d lost; back after %v at most",
			time.Since(began).Round(time.Second), c.wrote, c.confirmed, c.took, c.stale, c.spoken, c.lost, c.slowest)
		end()
	})
}

// outage is a kind of outage.
type outage int

const (
	cut         outage = iota // every connection breaks, new ones are refused
	hang                      // the same, but new ones are taken and never answered
	deviceHole                // the driver's line swallows everything, without a word
	plantHole                 // the instrument's line does
	bothHoles                 // both do
	outageKinds               // how many there are
)

// campaign is a driver and an instrument, through outages. Its methods belong to
// the test's goroutine.
type campaign struct {
	t       *testing.T
	virtual *broker.Virtual
	rng     *rand.Rand
	device  *Device
	lines   lines

	wrote, confirmed, took, stale, spoken, lost int
	slowest                                     time.Duration
	last                                        int              // number of the last setpoint taken
	writes                                      map[int]*written // those that were not judged yet

	mu    sync.Mutex // guards what the driver's and the instrument's goroutines write
	taken []taken
	heard []int
}

// written is a setpoint as its Write saw it.
type written struct {
	at    time.Time
	err   error
	taken bool
}

// taken is a setpoint as the instrument saw it.
type taken struct {
	number int
	at     time.Time
}

// instrument is the device that the plant serves: it notes what it takes.
type instrument struct {
	*doser
	c *campaign
}

func (i instrument) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if v, set := s.Values["ca"]; set {
		i.c.mu.Lock()
		i.c.taken = append(i.c.taken, taken{int(v), time.Now()})
		i.c.mu.Unlock()
	}
	return drivers.Reading{At: time.Now()}, nil
}

// lines are the connections of both sides to a broker in memory, to be disturbed.
type lines struct {
	broker        *broker.Virtual
	mu            sync.Mutex
	hanging       bool
	device, plant *blackHole
	waiting       []net.Conn // the far ends of those that are never answered
}

// dialler gives the dialler of the device's side or of the plant's.
func (l *lines) dialler(which **blackHole) func(context.Context, *url.URL) (net.Conn, error) {
	return func(ctx context.Context, u *url.URL) (net.Conn, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		conn, err := l.broker.Dial(ctx, u)
		if l.hanging {
			near, far := net.Pipe()
			l.waiting = append(l.waiting, far)
			conn, err = near, nil
		}
		if err != nil {
			return nil, err
		}
		*which = &blackHole{Conn: conn, gone: make(chan struct{})}
		return *which, nil
	}
}

// begin opens both sides, and gives the function that ends them.
func (c *campaign) begin(o Options) (end func()) {
	set := confirmed()[:1]
	set[0].Write.TTL = campaignTTL
	set[0].Confirm.Timeout = 400 * time.Millisecond
	env, _ := environment()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	serving := o
	serving.Dial = c.lines.dialler(&c.lines.plant)
	go func() {
		ended <- Serve(ctx, Plant{Options: serving, Channels: set, Device: instrument{&doser{}, c}, Period: 7 * time.Second, Env: env})
	}()
	o.Dial = c.lines.dialler(&c.lines.device)
	c.device, _ = newDevice(c.t, o, append(set, ChannelOptions{Channel: "n", Read: &ReadTopic{Topic: "lab/n"}})...)
	c.device.Listen(func(r drivers.Reading) {
		if n, there := r.Values["n"]; there {
			c.mu.Lock()
			c.heard = append(c.heard, int(n))
			c.mu.Unlock()
		}
	})
	if _, err := c.device.Open(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Second)
	return func() {
		cancel()
		closed(c.t, c.device)
		if err := <-ended; err != nil {
			c.t.Errorf("Serve: %v", err)
		}
	}
}

// strike begins an outage, and gives the function that ends it.
func (l *lines) strike(kind outage) (heal func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch kind {
	case cut, hang:
		l.hanging = kind == hang
		l.broker.Cut()
		return func() {
			l.mu.Lock()
			l.hanging = false
			for _, far := range l.waiting {
				far.Close()
			}
			l.waiting = nil
			l.mu.Unlock()
			l.broker.Restore()
		}
	}
	var holes []*blackHole
	if kind != plantHole {
		holes = append(holes, l.device)
	}
	if kind != deviceHole {
		holes = append(holes, l.plant)
	}
	for _, h := range holes {
		h.shut()
	}
	return func() {
		for _, h := range holes {
			h.heal()
		}
	}
}

// write writes the next number, and reports whether it was confirmed.
func (c *campaign) write() bool {
	c.wrote++
	w := &written{at: time.Now()}
	c.writes[c.wrote] = w
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, w.err = c.device.Write(ctx, drivers.Setpoints{Values: map[string]float64{"ca": float64(c.wrote)}})
	if w.err == nil {
		c.confirmed++
	}
	return w.err == nil
}

// speak lets the sensor say the next number, and reports whether it was heard.
func (c *campaign) speak() bool {
	c.spoken++
	if err := c.virtual.Publish("lab/n", fmt.Append(nil, c.spoken), false); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard) > 0 && c.heard[len(c.heard)-1] == c.spoken
}

// work is the time without an outage: everything must work.
func (c *campaign) work(duration time.Duration) {
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		if !c.write() {
			c.t.Errorf("setpoint %d without an outage: %v", c.wrote, c.writes[c.wrote].err)
		}
		if !c.speak() {
			c.lost++
			c.t.Errorf("reading %d is lost", c.spoken)
		}
	}
	c.judge()
}

// suffer is the time of an outage: what works, works.
func (c *campaign) suffer(duration time.Duration) {
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		c.write()
		c.speak()
	}
}

// recover waits until both directions work again, which must be soon: a silent
// loss is noticed after 12 s at most, the next attempt comes maxBackoff later, and a
// link that breaks again and again is not trusted for stableTime.
func (c *campaign) recover(kind outage) {
	began := time.Now()
	for !c.write() || !c.speak() {
		if time.Since(began) > time.Minute {
			c.t.Fatalf("a minute after an outage of kind %d: %v", kind, c.writes[c.wrote].err)
		}
		time.Sleep(500 * time.Millisecond)
	}
	c.slowest = max(c.slowest, time.Since(began))
	c.judge()
}

// judge compares what the instrument took with what was written, and forgets both.
func (c *campaign) judge() {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.taken {
		c.took++
		w := c.writes[k.number]
		late := w != nil && k.at.Sub(w.at) > campaignTTL+100*time.Millisecond // pace tells to within creep
		denied := w != nil && w.err != nil && strings.Contains(w.err.Error(), "nothing was sent")
		if w == nil || late || denied || k.number <= c.last {
			c.stale++
			c.t.Errorf("setpoint %d is taken at %v after %d; written: %+v", k.number, k.at, c.last, w)
			continue
		}
		w.taken = true
		c.last = k.number
	}
	for number, w := range c.writes {
		if w.err == nil && !w.taken {
			c.t.Errorf("setpoint %d was confirmed and not taken", number)
		}
		if w.err != nil && !errors.Is(w.err, drivers.ErrUnavailable) {
			c.t.Errorf("setpoint %d: %v", number, w.err)
		}
	}
	for i := 1; i < len(c.heard); i++ {
		if c.heard[i] <= c.heard[i-1] {
			c.t.Errorf("reading %d comes after %d", c.heard[i], c.heard[i-1])
		}
	}
	c.taken, c.heard = nil, c.heard[:0]
	clear(c.writes)
}
