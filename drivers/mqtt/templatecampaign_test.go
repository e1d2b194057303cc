package mqtt

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
	"github.com/labtuner/tuner/scripts/testsize"
)

var (
	templateOutages     = flag.Int("templateoutages", 60, "outages of TestTemplateOutages, in virtual time")
	realTemplateOutages = flag.Int("realtemplateoutages", 8, "outages of TestRealTemplateOutages, with real connections")
)

// A lamp that speaks as Zigbee2MQTT does, its state retained and with its own time, set by a
// template, read at paths and by questions, and away by two availability topics; the outages are
// those of TestOutageCampaign, and one in which the lamp's bridge restarts. Then:
//
//   - No setpoint is taken that Write reported as not sent, none after a later one, none more than
//     MaxDelay after Write has returned: that is what stale means where a message carries no time.
//     At most one for each outage is taken more than a second after.
//   - What is read was said: the brightness (0 where the lamp is off), its companion of the same
//     message, never an older message after a newer one or one message twice, and never as younger
//     than it is by more than the clocks may differ.
//   - While the bridge says that it is away nothing is sent.
//   - Without an outage every setpoint is taken and read back.
//
// The long sizes:
//
//	go test ./drivers/mqtt -run TemplateOutages -v -templateoutages 10000 -realtemplateoutages 500 -seed 7 -timeout 2h
func TestTemplateOutages(t *testing.T) {
	t.Parallel()
	t.Logf("%d outages, seed %d", *templateOutages, *seed)
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		l := &lines{broker: v}
		c := newTemplateCampaign(t, o, pace{between: 500 * time.Millisecond, work: 30 * time.Second, outage: 45 * time.Second, patience: 2 * time.Minute, speaks: 7 * time.Second, asked: 5 * time.Second}, *seed)
		c.strike = func(k outage) func() { return l.strike(k) }
		c.run(*templateOutages, outageKinds, l.dialler(&l.device), l.dialler(&l.plant))
		t.Log(c.campaignTally)
	})
}

// TestRealTemplateOutages makes the same outages of real connections to the installed broker, through a
// proxy of each side, and has the broker restart: several lamps at a time, each with its own broker.
func TestRealTemplateOutages(t *testing.T) {
	testsize.Only(t)
	const lamps = 20
	t.Logf("%d outages, seed %d", *realTemplateOutages, *seed)
	var mu sync.Mutex
	var all campaignTally
	t.Cleanup(func() { t.Logf("in all: %v", all) })
	for i := range min(lamps, *realTemplateOutages) {
		t.Run(fmt.Sprintf("lamp %d", i), func(t *testing.T) {
			t.Parallel()
			b := broker.Start(t)
			o := optionsFor(b.URL)
			address := o.Address()
			o.KeepAlive, o.PingTimeout, o.WriteTimeout, o.ConnectTimeout = time.Second, 500*time.Millisecond, time.Second, time.Second
			device, plant := newRelay(t, address), newRelay(t, address)
			c := newTemplateCampaign(t, o, pace{between: 100 * time.Millisecond, work: 2 * time.Second, outage: 4 * time.Second, patience: 5 * time.Minute, speaks: time.Second, asked: 500 * time.Millisecond}, *seed+uint64(i))
			c.strike = func(k outage) func() { return strikeRelays(b, device, plant, k) }
			n := *realTemplateOutages / lamps
			if i < *realTemplateOutages%lamps {
				n++
			}
			c.run(n, brokerRestarts+1, device.dial, plant.dial)
			device.close()
			plant.close()
			t.Log(c.campaignTally)
			mu.Lock()
			defer mu.Unlock()
			all.add(c.campaignTally)
		})
	}
}

// bridgeRestarts is the outage of a lamp's own side, brokerRestarts that of a broker which forgets
// what it has kept.
const (
	bridgeRestarts = outageKinds + iota
	brokerRestarts
)

// pace is how fast a campaign goes.
type pace struct {
	between      time.Duration // setpoints
	work, outage time.Duration // at most
	patience     time.Duration // until both directions work again
	speaks       time.Duration // the lamp, by itself
	asked        time.Duration // the lamp, by the driver
}

// templateCampaign is a driver and a lamp through outages. Its methods belong to the test's goroutine.
type templateCampaign struct {
	t      *testing.T
	rng    *rand.Rand
	pace   pace
	o      Options
	device *Device
	lamp   *bridgedLamp
	strike func(outage) (heal func())

	campaignTally
	last      int // number of the last setpoint taken
	lastHeard int // of the lamp's messages
	writes    map[int]*written

	mu       sync.Mutex
	readings []drivers.Reading
	// taken is what the lamp took, said what it said by number.
	taken []taken
	said  map[int]lampState
}

// lampState is one message of the lamp.
type lampState struct {
	brightness, shown int // shown: 0 while it is off
	at                time.Time
}

func newTemplateCampaign(t *testing.T, o Options, p pace, seed uint64) *templateCampaign {
	o.Status = &StatusTopic{Topic: "bridge/state", Online: "online", Path: "state"}
	o.Availability = []StatusTopic{{Topic: "lamp/availability", Path: "state", Optional: true}}
	return &templateCampaign{t: t, rng: rand.New(rand.NewPCG(seed, 3)), pace: p, o: o, writes: map[int]*written{}, said: map[int]lampState{}}
}

// run goes through outages of the kinds below most.
func (c *templateCampaign) run(outages int, most outage, device, plant func(context.Context, *url.URL) (net.Conn, error)) {
	lampSide := c.o
	lampSide.Dial = plant
	c.lamp = &bridgedLamp{c: c, o: lampSide, inbox: make(chan link.Arrived), restart: make(chan bool)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); c.lamp.serve(ctx) }()
	read := func(path string) *ReadTopic {
		return &ReadTopic{Topic: "lamp", Path: path, TimePath: "last_seen", AcceptRetained: true}
	}
	b := ChannelOptions{Channel: "b", Read: read("brightness"), Write: &WriteTopic{Topic: "lamp/set", Template: `{"state":"ON","brightness":%d}`, Off: `{"state":"OFF"}`}}
	b.Read.Off, b.Read.Poll = &OffRule{Path: "state", Is: "OFF"}, &Poll{Topic: "lamp/get", Payload: `{"state":""}`, Every: c.pace.asked}
	driverSide := c.o
	driverSide.Dial = device
	c.device, _ = newDevice(c.t, driverSide, b, ChannelOptions{Channel: "n", Read: read("n")}, ChannelOptions{Channel: "lux", Read: read("illuminance")})
	c.device.Listen(func(r drivers.Reading) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.readings = append(c.readings, r)
	})
	for began := time.Now(); ; time.Sleep(c.pace.between) { // until the bridge is there
		_, err := c.device.Open(context.Background())
		if err == nil {
			break
		}
		if time.Since(began) > c.pace.patience {
			c.t.Fatal(err)
		}
	}
	c.settle(nil)
	for i := 0; i < outages && !c.t.Failed(); i++ {
		c.work()
		kind := outage(c.rng.IntN(int(most)))
		if c.rng.IntN(6) == 0 {
			kind = bridgeRestarts
		}
		late := c.late
		c.suffer(kind)
		c.settle(&kind)
		if c.late > late+1 {
			c.t.Errorf("outage %d, of kind %d: %d setpoints are taken more than %v after they were written; want 1 at most", i, kind, c.late-late, late1)
		}
	}
	c.judge()
	cancel()
	closed(c.t, c.device)
	<-ended
}

// campaignTally is what came of a campaign.
type campaignTally struct {
	wrote, took, late, stale, heard, wrong int
	slowest                                time.Duration
}

func (a *campaignTally) add(b campaignTally) {
	a.wrote, a.took, a.late, a.stale, a.heard, a.wrong = a.wrote+b.wrote, a.took+b.took, a.late+b.late, a.stale+b.stale, a.heard+b.heard, a.wrong+b.wrong
	a.slowest = max(a.slowest, b.slowest)
}

func (a campaignTally) String() string {
	return fmt.Sprintf("%d writes, %d taken, %d of them late, %d stale; %d readings, %d wrong; back after %v at most",
		a.wrote, a.took, a.late, a.stale, a.heard, a.wrong, a.slowest.Round(time.Millisecond))
}

// late1 is after which time a setpoint counts as late.
const late1 = time.Second

// write writes the next number.
func (c *templateCampaign) write() error {
	c.wrote++
	w := &written{}
	c.writes[c.wrote] = w
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, w.err = c.device.Write(ctx, drivers.Setpoints{Values: map[string]float64{"b": float64(c.wrote)}})
	w.at = time.Now()
	return w.err
}

// readsBack waits until the last number written is read.
func (c *templateCampaign) readsBack(most time.Duration) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(c.pace.between / 50) {
		r, err := c.device.Read(context.Background(), []string{"b"})
		if v, there := r.Values["b"]; err == nil && there && v == float64(c.wrote) {
			return true
		}
	}
	return false
}

// work is the time without an outage.
func (c *templateCampaign) work() {
	c.lamp.byHand.Store(false)
	for end := time.Now().Add(time.Duration(c.rng.Int64N(int64(c.pace.work)))); time.Now().Before(end); time.Sleep(c.pace.between) {
		if err := c.write(); err != nil {
			c.t.Errorf("setpoint %d without an outage: %v", c.wrote, err)
			return
		}
		if !c.readsBack(c.pace.patience) {
			c.t.Errorf("setpoint %d without an outage is not read back", c.wrote)
			return
		}
	}
	c.judge()
}

// suffer is an outage: what works, works.
func (c *templateCampaign) suffer(kind outage) {
	c.lamp.byHand.Store(true)
	var heal func()
	away := kind == bridgeRestarts
	if away {
		c.lamp.restart <- false
		heal = func() { c.lamp.restart <- true }
	} else {
		heal = c.strike(kind)
	}
	began := time.Now()
	for end := began.Add(time.Duration(c.rng.Int64N(int64(c.pace.outage)))); time.Now().Before(end); time.Sleep(c.pace.between) {
		said := away && c.saysAway()
		if err := c.write(); said && !errors.Is(err, drivers.ErrNotSent) {
			c.t.Errorf("setpoint %d while the bridge is away: %v", c.wrote, err)
		}
	}
	heal()
	c.lamp.byHand.Store(false)
}

// saysAway reports whether the driver has heard that the bridge is away.
func (c *templateCampaign) saysAway() bool {
	c.device.mu.Lock()
	defer c.device.mu.Unlock()
	return c.device.status["bridge/state"].text == "offline"
}

// settle waits until both directions work again.
func (c *templateCampaign) settle(kind *outage) {
	began := time.Now()
	for err := c.write(); err != nil || !c.readsBack(3*time.Second); err = c.write() {
		if time.Since(began) > c.pace.patience {
			c.t.Fatalf("%v after an outage of kind %v: %v", c.pace.patience, kind, err)
		}
		time.Sleep(c.pace.between)
	}
	if kind != nil {
		c.slowest = max(c.slowest, time.Since(began))
	}
	c.judge()
}

// judge compares what was taken with what was written, and what was read with what was said.
func (c *templateCampaign) judge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.taken {
		c.took++
		w := c.writes[k.number]
		if w != nil && k.at.Sub(w.at) > late1 {
			c.late++
		}
		if w == nil || errors.Is(w.err, drivers.ErrNotSent) || k.number <= c.last || k.at.Sub(w.at) > c.device.MaxDelay() {
			c.stale++
			c.t.Errorf("setpoint %d is taken at %v after %d; written: %+v", k.number, k.at, c.last, w)
			continue
		}
		c.last = k.number
	}
	for _, r := range c.readings {
		if len(r.Values) == 0 {
			continue // why a message was not taken
		}
		c.heard++
		n := int(r.Values["n"])
		s, said := c.said[n]
		if !said || n <= c.lastHeard || r.Values["b"] != float64(s.shown) || r.Values["lux"] != float64(illuminance(n, s.shown)) ||
			r.At.Sub(s.at) > clockTolerance+time.Millisecond || s.at.Sub(r.At) > time.Millisecond {
			c.wrong++
			c.t.Errorf("read %v as of %v after message %d; the lamp said %+v", r.Values, r.At, c.lastHeard, s)
			continue
		}
		for ; c.lastHeard < n; c.lastHeard++ {
			delete(c.said, c.lastHeard)
		}
	}
	for number := range c.writes { // what is before the last one taken can only be stale from now on
		if number < c.last {
			delete(c.writes, number)
		}
	}
	c.taken, c.readings = nil, nil
}

// illuminance goes with the lamp's brightness and the message.
func illuminance(n, shown int) int { return 3*shown + n%7 }

// bridgedLamp is a lamp behind a bridge.
type bridgedLamp struct {
	c       *templateCampaign
	o       Options
	inbox   chan link.Arrived
	restart chan bool
	// byHand says that someone switches it off at times.
	byHand atomic.Bool

	level, n int
	on       bool
}

// serve lets it work until ctx ends; at a restart it goes, and comes back.
func (l *bridgedLamp) serve(ctx context.Context) {
	o := l.o.filled()
	for {
		here, leave := context.WithCancel(ctx)
		env, _ := environment()
		to := link.New(link.Spec{Options: o.Options, Env: env, Name: o.ClientName, Topics: []string{"lamp/set", "lamp/get"},
			Will: &link.Will{Topic: "bridge/state", Online: `{"state":"online"}`, Offline: `{"state":"offline"}`},
			Handle: func(m link.Arrived) {
				select {
				case l.inbox <- m:
				case <-here.Done():
				}
			}})
		if to.StartPatiently(here) == nil {
			l.work(ctx, to)
		}
		leave()
		to.Close()
		select {
		case <-l.restart:
		case <-ctx.Done():
			return
		}
	}
}

var lampSet = regexp.MustCompile(`^\{"state":"ON","brightness":(\d+)\}$`)

// work answers until it is to restart.
func (l *bridgedLamp) work(ctx context.Context, to *link.Link) {
	ticker := time.NewTicker(l.c.pace.speaks)
	defer ticker.Stop()
	for {
		select {
		case m := <-l.inbox:
			if set := lampSet.FindSubmatch(m.Payload); m.Topic == "lamp/set" && set != nil && !m.Retained {
				l.level, _ = strconv.Atoi(string(set[1]))
				l.on = true
				l.c.mu.Lock()
				l.c.taken = append(l.c.taken, taken{l.level, time.Now()})
				l.c.mu.Unlock()
			} else if m.Topic != "lamp/get" {
				l.c.t.Errorf("the lamp hears %q on %s", m.Payload, m.Topic)
			}
		case <-ticker.C:
			if l.byHand.Load() && l.n%5 == 0 {
				l.on = false
			}
		case <-l.restart:
			return
		case <-ctx.Done():
			return
		}
		l.speak(ctx, to)
	}
}

// speak says the state, retained, over the connection that is there.
func (l *bridgedLamp) speak(ctx context.Context, to *link.Link) {
	l.n++
	s, word := lampState{l.level, l.level, time.Now()}, "ON"
	if !l.on {
		s.shown, word = 0, "OFF"
	}
	l.c.mu.Lock()
	l.c.said[l.n] = s
	l.c.mu.Unlock()
	conn, err := to.Open()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.WriteTimeout)
	defer cancel()
	text := fmt.Sprintf(`{"brightness":%d,"color_temp":325,"illuminance":%d,"last_seen":%q,"linkquality":120,"n":%d,"state":%q}`, s.brightness, illuminance(l.n, s.shown), s.at.UTC().Format(time.RFC3339Nano), l.n, word)
	_ = conn.Put(ctx, Message{Topic: "lamp/availability", Payload: []byte(`{"state":"online"}`), Retained: true})
	_ = conn.Put(ctx, Message{Topic: "lamp", Payload: []byte(text), Retained: true}) // a lost connection is made anew
}
