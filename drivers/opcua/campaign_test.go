package opcua

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

var (
	outages = flag.Int("outages", 4, "outages of TestOutageCampaign")
	seed    = flag.Uint64("seed", 1, "seed of TestOutageCampaign")
)

// The campaign's figures: outages last up to longest, an answer may take campaignReply.
const (
	longest       = 1200 * time.Millisecond
	campaignReply = 500 * time.Millisecond
	// slack is what a busy machine may add to a time.
	slack = 2 * time.Second
)

// A real client and a real server with a proxy between them, and outages of five kinds at
// random times. A setpoint goes out every 20 ms whether there is a connection or not, and
// the sensor speaks all the time. Then:
//
//   - No setpoint is taken that Write reported as not sent, none more than an answer's time
//     after it was written, none after a later one. That is what stale means.
//   - What Write reports as done was taken.
//   - No measurement is heard twice, and none with another value or time than it was told with.
//   - After every outage there is a connection again within a minute.
//
// The long size, about 12 minutes:
//
//	go test ./drivers/opcua -run OutageCampaign -v -outages 500 -seed 7 -timeout 2h
func TestOutageCampaign(t *testing.T) {
	t.Logf("%d outages, seed %d", *outages, *seed)
	r := newRig(t)
	p := newProxy(t, r.port)
	o := quick(p.port)
	o.ReplyTimeout, o.ConnectTimeout = campaignReply, campaignReply
	d, err := New(o, bench(), drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := &campaign{t: t, rig: r, device: d, told: map[float64]time.Time{}, heard: map[float64]time.Time{}}
	d.Listen(c.hear)
	stop, speaking := make(chan struct{}), sync.WaitGroup{}
	speaking.Go(func() { c.speak(stop) })
	rng := rand.New(rand.NewPCG(*seed, 1))
	c.work(0)
	for range *outages {
		c.work(time.Duration(rng.Int64N(int64(300 * time.Millisecond))))
		p.strike(outage(rng.IntN(int(outageKinds))))
		c.suffer(time.Duration(rng.Int64N(int64(longest))))
		p.heal()
	}
	c.work(0)
	close(stop)
	speaking.Wait()
	c.judge()
}

// campaign is a driver and a server, through outages.
type campaign struct {
	t      *testing.T
	rig    *rig
	device *Device

	number  float64 // of the last setpoint; each is a new one, within the channel's limits
	all     []attempt
	slowest time.Duration
	opening error

	mu          sync.Mutex
	told, heard map[float64]time.Time
	twice       int
}

// attempt is a setpoint as its Write saw it.
type attempt struct {
	value float64
	begun time.Time
	err   error
}

// speak has the sensor measure something new all the time.
func (c *campaign) speak(stop chan struct{}) {
	for n := 100.0; ; n++ { // the server begins with 1
		select {
		case <-stop:
			return
		case <-time.After(25 * time.Millisecond):
		}
		at := time.Now()
		c.mu.Lock()
		c.told[n] = at
		c.mu.Unlock()
		c.rig.tellAt("energy", ua.StatusOK, n, at)
	}
}

func (c *campaign) hear(r drivers.Reading) {
	v, there := r.Values["energy"]
	if !there || v == 1 { // what the server begins with is no measurement of the campaign's
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, again := c.heard[v]; again {
		c.twice++
	}
	c.heard[v] = r.At
}

// write writes the next setpoint, and opens the device again where that is needed, as a run does.
func (c *campaign) write() bool {
	c.number += 1e-6
	a := attempt{value: c.number, begun: time.Now()}
	_, a.err = c.device.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": c.number}})
	c.all = append(c.all, a)
	if a.err == nil {
		return true
	}
	if errors.Is(a.err, drivers.ErrClosed) || errors.Is(a.err, errNotOpen) {
		_, c.opening = c.device.Open(context.Background()) // it is tried again with the next setpoint
	}
	return false
}

// work goes on until there is a connection, and then for a time.
func (c *campaign) work(d time.Duration) {
	begun := time.Now()
	for !c.write() {
		if time.Since(begun) > patience {
			c.t.Fatalf("no connection within %v: %v; %v", patience, c.all[len(c.all)-1].err, c.opening)
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.slowest = max(c.slowest, time.Since(begun))
	c.suffer(d)
}

// suffer goes on for a time, whatever comes of it.
func (c *campaign) suffer(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.write()
	}
}

// judge compares what was said with what was done.
func (c *campaign) judge() {
	c.rig.mu.Lock()
	defer c.rig.mu.Unlock()
	taken := map[float64]time.Time{}
	last, stale, done, wrong := 0.0, 0, 0, 0
	bad := func(format string, args ...any) {
		c.t.Errorf(format, args...)
	}
	for _, w := range c.rig.writes {
		if w.node != "power" {
			continue
		}
		if w.value <= last {
			stale++
			bad("%v was taken after %v", w.value, last)
		}
		last = max(last, w.value)
		taken[w.value] = w.at
	}
	for _, a := range c.all {
		at, was := taken[a.value]
		switch {
		case a.err == nil && !was:
			bad("%v is reported as done, and was not taken", a.value)
		case a.err == nil:
			done++
		}
		if was && errors.Is(a.err, drivers.ErrNotSent) {
			stale++
			bad("%v is reported as not sent, and was taken", a.value)
		}
		if was && at.Sub(a.begun) > campaignReply+slack {
			stale++
			bad("%v was taken %v after it was written", a.value, at.Sub(a.begun))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for v, at := range c.heard {
		if off := at.Sub(c.told[v]).Abs(); c.told[v].IsZero() || off > slack {
			wrong++
			bad("%v was heard as of %v from when it was told", v, off)
		}
	}
	if wrong += c.twice; c.twice > 0 {
		bad("%d measurements were heard twice", c.twice)
	}
	c.t.Logf("%d writes, %d done, %d taken, %d stale; %d measurements told, %d heard, %d wrong; back after %v at most",
		len(c.all), done, len(taken), stale, len(c.told), len(c.heard), wrong, c.slowest.Round(time.Millisecond))
	if done == 0 || len(c.heard) == 0 {
		bad("nothing was tried")
	}
}

// outage is a kind of outage.
type outage int

const (
	cut         outage = iota // every connection breaks, new ones are refused
	hang                      // the same, but new ones are taken and never answered
	upHole                    // what goes to the server does not arrive
	downHole                  // what comes from it does not
	bothHoles                 // neither does
	outageKinds               // how many there are
)

// proxy is the network between client and server. While a way is closed it keeps what comes, as
// a network does that repeats what is not acknowledged; what an end that has gone had sent is
// thrown away.
type proxy struct {
	t      testing.TB
	port   int
	target string
	listen net.Listener

	mu    sync.Mutex
	kind  outage
	out   bool
	mend  chan struct{} // closed when the outage is over
	conns map[net.Conn]bool
	tasks sync.WaitGroup
}

func newProxy(t testing.TB, target int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, port: l.Addr().(*net.TCPAddr).Port, target: fmt.Sprintf("127.0.0.1:%d", target), listen: l, conns: map[net.Conn]bool{}}
	p.tasks.Go(p.accept)
	t.Cleanup(func() {
		p.heal()
		l.Close()
		p.cutAll()
		p.tasks.Wait()
	})
	return p
}

func (p *proxy) strike(kind outage) {
	p.mu.Lock()
	p.kind, p.out, p.mend = kind, true, make(chan struct{})
	p.mu.Unlock()
	if kind == cut || kind == hang {
		p.cutAll()
	}
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out {
		p.out = false
		close(p.mend)
	}
}

func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	clear(p.conns)
}

// closed says whether a way is closed, and until when.
func (p *proxy) closed(up bool) (bool, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out && (p.kind == hang || p.kind == bothHoles || p.kind == upHole && up || p.kind == downHole && !up), p.mend
}

func (p *proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.out && p.kind == cut
		p.mu.Unlock()
		p.mu.Lock()
		p.conns[c] = true
		p.mu.Unlock()
		if refused {
			p.drop(c)
			continue
		}
		p.tasks.Go(func() { p.serve(c) })
	}
}

// drop ends connections as a network does that has gone.
func (p *proxy) drop(all ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range all {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
		delete(p.conns, c)
	}
}

// serve looks for the server when there is something to say: the library's server takes no other
// connection while one is silent at its start.
func (p *proxy) serve(c net.Conn) {
	defer p.drop(c)
	begin := make([]byte, 1<<16)
	n, err := c.Read(begin)
	if err != nil {
		return
	}
	for shut, mend := p.closed(true); shut; shut, mend = p.closed(true) {
		<-mend
	}
	s, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.conns[s] = true
	p.mu.Unlock()
	defer p.drop(s)
	if _, err := s.Write(begin[:n]); err != nil {
		return
	}
	p.tasks.Go(func() { p.pass(s, c, false) })
	p.pass(c, s, true)
}

// pass carries what comes from one end to the other.
func (p *proxy) pass(from, to net.Conn, up bool) {
	defer p.drop(from, to)
	pieces, ended := make(chan []byte, 1024), make(chan struct{})
	p.tasks.Go(func() {
		defer close(ended)
		for {
			b := make([]byte, 1<<16)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			select {
			case pieces <- b[:n]:
			default: // more than a network keeps
				return
			}
		}
	})
	for {
		select {
		case b := <-pieces:
			for {
				shut, mend := p.closed(up)
				if !shut {
					break
				}
				select {
				case <-mend:
				case <-ended:
					return
				}
			}
			if _, err := to.Write(b); err != nil {
				return
			}
		case <-ended:
			return
		}
	}
}
