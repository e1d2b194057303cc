package serial

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/scripts/testsize"
)

var (
	outages     = flag.Int("outages", 40, "how many outages of the network the outage campaign makes, in virtual time")
	realOutages = flag.Int("realoutages", 6, "how many outages of a real connection, through a proxy")
)

// An outage campaign is a driver and an instrument with a network between them that fails, over
// lines of text and over Modbus TCP. Numbered setpoints go out all the time, some of them safe
// values, and values are read. Then:
//
//   - No setpoint is taken that Write reported as not sent, none after a later one of its channel,
//     and none later than MaxDelay after its Write had ended. That is what stale means.
//   - What Write reports as confirmed was taken before Write ended.
//   - No value is read but one that the instrument had during the call, and none of another
//     channel; a sensor that counts its measurements never gives one twice.
//   - After every outage a reading succeeds, within recovery.
type outageCampaign struct {
	t   *testing.T
	rng *rand.Rand
	dev *Device
	in  *noted
	net outageNet

	number    float64
	stale     int
	wrong     int
	wrote     int
	confirmed int
	read      int
	lastTaken map[string]float64
	lastCount float64
	judged    map[float64]string // what Write said of a setpoint, until it is over
	ends      map[float64]time.Time
	recovery  time.Duration
	slowest   time.Duration
	maxDelay  time.Duration
}

// outageNet is a network that can fail.
type outageNet interface {
	// strike makes an outage; heal ends it.
	strike(kind outageKind)
	heal()
}

type outageKind int

const (
	netCut    outageKind = iota // every connection is reset, in the middle of a command too; new ones are refused
	netHang                     // the same, but nobody answers new ones
	netHole                     // nothing passes; what was sent is kept, and passes afterwards where its connection still lives
	netForget                   // the instrument has forgotten its connections: they are dead without a sign
	netSlow                     // answers are late, up to three times as long as they may take
	netDrips                    // what passes comes in pieces
	netKinds
)

func (k outageKind) String() string {
	return []string{"cut", "hang", "hole", "forgotten", "slow", "in pieces"}[k]
}

// noted is an instrument with two outputs and a count; it notes when it took what.
type noted struct {
	mu     sync.Mutex
	values map[string]float64
	count  float64
	// had are the values that each output has had since the campaign looked last.
	had   map[string][]float64
	taken []takenSetpoint
}

type takenSetpoint struct {
	channel string
	number  float64
	at      time.Time
}

func (n *noted) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "a", Access: drivers.ReadWrite}, {Name: "b", Access: drivers.ReadWrite}, {Name: "s"}}, nil
}

func (n *noted) Read(_ context.Context, names []string) (drivers.Reading, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := drivers.Reading{Values: map[string]float64{}, At: time.Now()}
	for _, name := range names {
		if name == "s" {
			n.count++
			r.Values[name] = n.count
			continue
		}
		r.Values[name] = n.values[name]
	}
	return r, nil
}

func (n *noted) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, v := range s.Values {
		n.values[name] = v
		n.had[name] = append(n.had[name], v)
		n.taken = append(n.taken, takenSetpoint{name, v, time.Now()})
	}
	return drivers.Reading{}, nil
}

func (n *noted) Halt(context.Context) error { return nil }
func (n *noted) Close() error               { return nil }

// outageOptions describe noted as lines or as registers: both outputs and the count have answers
// of one form, so that nothing but the driver's care tells them apart.
func outageOptions(protocol string) (Options, []ChannelOptions) {
	o, channels := abOptions()
	if protocol != "line" {
		o, channels = registersOverTCP()
		o.Protocol, o.Address = protocol, 17
		for i, address := range []int{10, 20, 30} {
			r := &modbus.Register{Function: 3, Address: address, Type: "uint32"}
			channels[i] = ChannelOptions{Channel: channels[i].Channel, Read: &Read{Register: r}}
			if i < 2 {
				channels[i].Write = &Write{Register: &modbus.Register{Function: 16, Address: address, Type: "uint32"}, Idempotent: i == 1}
				channels[i].Safe = ptr(0.0)
			}
		}
		return o, channels
	}
	for i := range channels {
		channels[i].ScaleKeys, channels[i].Release = drivers.ScaleKeys{}, nil
		if i < 2 {
			channels[i].Safe = ptr(0.0)
		}
	}
	return o, channels
}

// work makes calls for a time.
func (c *outageCampaign) work(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
		switch c.rng.IntN(4) {
		case 0:
			c.write()
		case 1:
			time.Sleep(time.Duration(c.rng.Int64N(int64(d/4) + 1)))
		default:
			c.readAll()
		}
	}
}

func (c *outageCampaign) write() {
	c.number++
	name := []string{"a", "b"}[c.rng.IntN(2)]
	_, err := c.dev.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{name: c.number}, Safe: c.rng.IntN(5) == 0})
	c.wrote++
	c.ends[c.number] = time.Now()
	switch {
	case err == nil:
		c.confirmed++
		c.judged[c.number] = "confirmed"
		c.in.mu.Lock()
		there := false
		for _, s := range c.in.taken {
			there = there || s.number == c.number
		}
		c.in.mu.Unlock()
		if !there && c.lastTaken[name] < c.number {
			c.t.Errorf("setpoint %v was reported as confirmed and was not taken", c.number)
		}
	case errors.Is(err, drivers.ErrNotSent):
		c.judged[c.number] = "not sent"
	case errors.Is(err, drivers.ErrUnavailable):
		c.judged[c.number] = "unknown"
	default:
		c.t.Errorf("setpoint %v: %v", c.number, err)
	}
	c.judge()
}

// judge looks at what the instrument has taken since.
func (c *outageCampaign) judge() {
	c.in.mu.Lock()
	taken := c.in.taken
	c.in.taken = nil
	c.in.mu.Unlock()
	for _, s := range taken {
		end, over := c.ends[s.number]
		switch {
		case s.number < c.lastTaken[s.channel]:
			c.stale++
			c.t.Errorf("setpoint %v was taken after %v", s.number, c.lastTaken[s.channel])
		case over && s.at.After(end.Add(c.maxDelay)):
			c.stale++
			c.t.Errorf("setpoint %v was taken %v after its write had ended (%s)", s.number, s.at.Sub(end), c.judged[s.number])
		case c.judged[s.number] == "not sent":
			c.stale++
			c.t.Errorf("setpoint %v was reported as not sent and was taken", s.number)
		}
		c.lastTaken[s.channel] = max(c.lastTaken[s.channel], s.number)
	}
	for n, end := range c.ends { // what is long over is forgotten
		if time.Since(end) > 10*time.Minute {
			delete(c.ends, n)
			delete(c.judged, n)
		}
	}
}

// readAll reads everything once.
func (c *outageCampaign) readAll() bool {
	c.in.mu.Lock()
	for name, v := range c.in.values {
		c.in.had[name] = []float64{v}
	}
	c.in.mu.Unlock()
	r, err := c.dev.Read(context.Background(), []string{"a", "b", "s"})
	if err != nil && !errors.Is(err, drivers.ErrUnavailable) {
		c.t.Errorf("Read: %v", err)
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for name, v := range r.Values {
		c.read++
		ok := false
		if name == "s" {
			ok = v > c.lastCount && v <= c.in.count
			c.lastCount = v
		}
		for _, had := range c.in.had[name] {
			ok = ok || v == had
		}
		if !ok {
			c.wrong++
			c.t.Errorf("%s is read as %v; it had %v, the count is %v", name, v, c.in.had[name], c.in.count)
		}
	}
	return len(r.Values) == 3
}

// recover waits until everything is read again.
func (c *outageCampaign) recover(kind outageKind) {
	for began := time.Now(); ; {
		if c.readAll() {
			c.slowest = max(c.slowest, time.Since(began))
			return
		}
		if time.Since(began) > c.recovery {
			c.t.Errorf("nothing is read %v after an outage (%v)", time.Since(began), kind)
			return
		}
		time.Sleep(max(time.Millisecond, c.dev.Wait()))
	}
}

// run makes outages.
func (c *outageCampaign) run(n int, calm, storm time.Duration) {
	began := time.Now()
	counts := map[outageKind]int{}
	for i := 0; i < n && !c.t.Failed(); i++ {
		c.work(time.Duration(c.rng.Int64N(int64(calm))))
		kind := outageKind(c.rng.IntN(int(netKinds)))
		counts[kind]++
		c.net.strike(kind)
		c.work(time.Duration(c.rng.Int64N(int64(storm))))
		c.net.heal()
		c.recover(kind)
	}
	c.judge()
	c.t.Logf("%d outages %v in %v; %d setpoints, %d confirmed, %d stale; %d values, %d wrong; read again after %v at most",
		n, counts, time.Since(began).Round(time.Second), c.wrote, c.confirmed, c.stale, c.read, c.wrong, c.slowest.Round(time.Millisecond))
	if c.confirmed < n/10 || c.read < n {
		c.t.Error("hardly anything came through; the campaign shows nothing")
	}
}

// newOutageCampaign prepares a campaign whose driver opens its port by open; nil: as a run does.
func newOutageCampaign(t *testing.T, rng *rand.Rand, o Options, channels []ChannelOptions, in *noted, world outageNet) *outageCampaign {
	t.Helper()
	dev, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &outageCampaign{t: t, rng: rng, dev: dev, in: in, net: world, lastTaken: map[string]float64{}, judged: map[float64]string{},
		ends: map[float64]time.Time{}, maxDelay: overNetwork{dev}.MaxDelay()}
}

func newNoted() *noted {
	return &noted{values: map[string]float64{"a": 0, "b": 0}, had: map[string][]float64{}}
}

// TestOutageCampaign makes outages in virtual time. The nightly size:
//
//	go test ./drivers/serial -run TestOutageCampaign -v -outages 10000 -seed 7 -timeout 2h
func TestOutageCampaign(t *testing.T) {
	for _, protocol := range []string{"line", "modbus-tcp", "modbus"} {
		t.Run(protocol, func(t *testing.T) {
			if protocol == "modbus" {
				testsize.Only(t) // the frames of a serial line, over the network
			}
			random := seeded(t)
			synctest.Test(t, func(t *testing.T) {
				o, channels := outageOptions(protocol)
				in := newNoted()
				v := &virtualNet{rng: rand.New(rand.NewPCG(random.Uint64(), 3)), patience: port.Connecting(o.ReplyTimeout), reply: o.ReplyTimeout,
					instrument: func() port.Instrument { return speak(t, o, channels, in) }}
				o.Port, o.Open = "tcp://instrument:5025", v.open
				c := newOutageCampaign(t, random, o, channels, in, v)
				c.recovery = time.Minute
				c.run(*outages, 20*time.Second, 20*time.Second)
				if err := c.dev.Close(); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Hour) // what is still on its way arrives
				c.judge()
			})
		})
	}
}

// virtualNet is a network in virtual time, and the instrument behind it. It keeps what is sent in
// order on each connection; the instrument takes any number of connections.
type virtualNet struct {
	rng             *rand.Rand
	patience, reply time.Duration
	instrument      func() port.Instrument

	mu     sync.Mutex
	state  outageKind
	down   bool
	conns  []*virtualConn
	serves sync.Mutex // the instrument does one thing at a time
}

// open is the driver's opener.
func (v *virtualNet) open(ctx context.Context, s port.Spec) (port.Raw, error) {
	v.mu.Lock()
	down, state, wait := v.down, v.state, v.latency()
	v.mu.Unlock()
	switch {
	case down && state == netCut:
		return nil, fmt.Errorf("%w: refused", drivers.ErrUnavailable)
	case down && (state == netHang || state == netHole):
		time.Sleep(v.patience)
		return nil, fmt.Errorf("%w: no connection within %v", drivers.ErrUnavailable, v.patience)
	}
	time.Sleep(wait)
	c := &virtualConn{net: v, slice: s.Slice, in: v.instrument(), news: make(chan struct{}, 1)}
	v.mu.Lock()
	v.conns = append(v.conns, c)
	v.mu.Unlock()
	return c, nil
}

// latency is how long something takes that is sent now; v.mu is held. An answer to one command
// may be late, while the next command is taken.
func (v *virtualNet) latency() time.Duration {
	return time.Duration(v.rng.Int64N(int64(20 * time.Millisecond)))
}

func (v *virtualNet) strike(kind outageKind) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.down, v.state = true, kind
	for _, c := range v.conns {
		switch kind {
		case netCut, netHang:
			c.reset(v.rng)
		case netForget:
			c.forgotten = true
		}
	}
}

func (v *virtualNet) heal() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.down = false
	alive := v.conns[:0]
	for _, c := range v.conns {
		if !c.closed {
			alive = append(alive, c)
			c.release()
		}
	}
	v.conns = alive
}

// holds says that nothing passes; v.mu is held.
func (v *virtualNet) holds() bool { return v.down && v.state == netHole }

// virtualConn is one connection. Its fields are guarded by the network's lock.
type virtualConn struct {
	net   *virtualNet
	slice time.Duration
	in    port.Instrument
	news  chan struct{}

	got       []byte // by the driver, not read yet
	over      error
	closed    bool // by the driver
	forgotten bool // by the instrument
	// toward and back are what is under way each way, in order; freeToward and freeBack are when
	// the last of it arrives.
	toward, back         [][]byte
	freeToward, freeBack time.Time
	since                time.Time // when the oldest of toward was sent
}

var errVirtualReset = errors.New("connection reset by peer")

// Write implements port.Raw.
func (c *virtualConn) Write(p []byte) (int, error) {
	v := c.net
	v.mu.Lock()
	defer v.mu.Unlock()
	if c.over != nil {
		return 0, c.over
	}
	pieces := [][]byte{append([]byte(nil), p...)}
	if v.down && v.state == netDrips && len(p) > 1 {
		at := 1 + v.rng.IntN(len(p)-1)
		pieces = [][]byte{pieces[0][:at], pieces[0][at:]}
	}
	for _, piece := range pieces {
		if len(c.toward) == 0 {
			c.since = time.Now()
		}
		c.toward = append(c.toward, piece)
		c.freeToward = latest(c.freeToward, time.Now()).Add(v.latency())
		time.AfterFunc(time.Until(c.freeToward), c.arrive)
	}
	return len(p), nil
}

// arrive takes the next piece to the instrument, unless nothing passes.
func (c *virtualConn) arrive() {
	v := c.net
	v.serves.Lock()
	defer v.serves.Unlock()
	v.mu.Lock()
	if len(c.toward) == 0 || c.over != nil && !c.closed {
		v.mu.Unlock()
		return
	}
	if v.holds() { // heal goes on with it
		v.mu.Unlock()
		return
	}
	piece := c.toward[0]
	c.toward = c.toward[1:]
	c.since = time.Now()
	forgotten := c.forgotten
	v.mu.Unlock()
	if forgotten {
		return
	}
	said, err := c.in.Hear(context.Background(), piece)
	if err != nil || len(said) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c.back = append(c.back, said)
	c.freeBack = latest(c.freeBack, time.Now()).Add(v.latency())
	if v.down && v.state == netSlow {
		c.freeBack = c.freeBack.Add(time.Duration(v.rng.Int64N(int64(3 * v.reply))))
	}
	time.AfterFunc(time.Until(c.freeBack), c.comeBack)
}

// comeBack takes the next answer to the driver.
func (c *virtualConn) comeBack() {
	v := c.net
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(c.back) == 0 || c.over != nil || v.holds() || c.forgotten {
		return
	}
	c.got = append(c.got, c.back[0]...)
	c.back = c.back[1:]
	c.wake()
}

func (c *virtualConn) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// release lets what was held pass, as the retransmissions of a connection that still lives.
func (c *virtualConn) release() {
	for range c.toward {
		c.freeToward = latest(c.freeToward, time.Now()).Add(c.net.latency())
		time.AfterFunc(time.Until(c.freeToward), c.arrive)
	}
	for range c.back {
		c.freeBack = latest(c.freeBack, time.Now()).Add(c.net.latency())
		time.AfterFunc(time.Until(c.freeBack), c.comeBack)
	}
}

// reset ends the connection; of what is under way a beginning may arrive.
func (c *virtualConn) reset(rng *rand.Rand) {
	if c.over != nil {
		return
	}
	if len(c.toward) > 0 && rng.IntN(2) == 0 {
		first := c.toward[0]
		part := first[:rng.IntN(len(first)+1)]
		in := c.in
		time.AfterFunc(0, func() {
			c.net.serves.Lock()
			defer c.net.serves.Unlock()
			in.Hear(context.Background(), part)
		})
	}
	c.over, c.toward, c.back = errVirtualReset, nil, nil
	c.wake()
}

// expired ends the connection where the other side has not confirmed for too long, as the
// kernel does with TCP_USER_TIMEOUT.
func (c *virtualConn) expired() error {
	if c.over == nil && len(c.toward) > 0 && c.net.holds() && time.Since(c.since) > c.net.patience {
		c.over, c.toward, c.back = errors.New("connection timed out"), nil, nil
	}
	return c.over
}

// Read implements port.Raw.
func (c *virtualConn) Read(p []byte) (int, error) {
	for deadline := time.Now().Add(c.slice); ; {
		c.net.mu.Lock()
		err := c.expired()
		n := copy(p, c.got)
		c.got = c.got[n:]
		c.net.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		wait := time.Until(deadline)
		if err != nil || wait <= 0 {
			return 0, err
		}
		select {
		case <-c.news:
		case <-time.After(wait):
		}
	}
}

// Waiting implements port.Raw.
func (c *virtualConn) Waiting() (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if err := c.expired(); err != nil && len(c.got) == 0 {
		return 0, err
	}
	return len(c.got), nil
}

// ResetOutputBuffer implements port.Raw.
func (c *virtualConn) ResetOutputBuffer() error { return nil }

// Close implements port.Raw, as the port of the network does: what is not confirmed in 250 ms is
// thrown away.
func (c *virtualConn) Close() error {
	v := c.net
	for limit := time.Now().Add(250 * time.Millisecond); ; time.Sleep(time.Millisecond) {
		v.mu.Lock()
		if len(c.toward) == 0 || c.over != nil || !time.Now().Before(limit) {
			break
		}
		v.mu.Unlock()
	}
	defer v.mu.Unlock()
	c.closed, c.toward, c.back = true, nil, nil
	if c.over == nil {
		c.over = errVirtualReset
	}
	return nil
}
