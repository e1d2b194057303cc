package brokers

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/scripts/testsize"
)

// tripFile is an instrument over MQTT whose interlock is another device, which no trouble of
// the first one's connection touches.
const tripFile = `schema = 1
name = "trip"
tick = "100ms"
[[device]]
name = "stage"
driver = "mqtt"
broker = "tcp://%s"
%s
[device.channel.ca]
read = { topic = "lab/ca" }
write = { topic = "lab/ca/set" }
%s
[[device]]
name = "door"
driver = "mqtt"
broker = "%s"
[device.channel.door]
read = { topic = "lab/door" }
[device.channel.yield]
read = { topic = "lab/yield" }
[objective]
sensor = "yield"
shots = 2
timeout = "1m"
[[sensor]]
name = "yield"
unit = "1"
range = [0.0, 100.0]
device = "door"
channel = "yield"
max_age = "10s"
[[sensor]]
name = "door"
unit = "1"
range = [0.0, 10.0]
device = "door"
channel = "door"
max_age = "5s"
[[variable]]
name = "ca"
unit = "mg/L"
range = [10.0, 90.0]
device = "stage"
channel = "ca"
readback = { tolerance = 1.0, timeout = "10m" }
[safety.variable.ca]
hard = [0.0, 100.0]
slew = 50.0
safe = 5.0
on_fault = "safe"
[safety]
hold_max = "1h"
comms_timeout = "10m"
[[safety.interlock]]
sensor = "door"
range = [0.0, 1.0]
[[control_set]]
variables = ["ca"]
cost = 1.0
[cost]
unit = "1"
[policy]
kind = "random"
[stop]
steps = 100000
verify = 0
[journal]
path = "trip.db"
`

// tripLab is the instrument, its broker, and the cable to the tuner's stage.
type tripLab struct {
	t *testing.T
	// to is where the instrument finds its broker.
	to     string
	broker *broker.Broker
	client paho.Client
	// others speaks for the instruments beside it, which no trouble of its cable touches.
	others paho.Client
	cable  *cable
	// confirm is how late the instrument confirms; negative: it does not.
	confirm time.Duration

	mu       sync.Mutex
	ca       float64
	door     float64
	sessions []string
	set      []setAt
}

// setAt is a setpoint as it came.
type setAt struct {
	at    time.Time
	value float64
	// session sent it, so long after it began.
	session string
	sent    time.Duration
}

// newTripLab makes a laboratory; where behind is not nil, the instrument has a cable too.
func newTripLab(t *testing.T, confirm time.Duration, behind **cable) *tripLab {
	t.Helper()
	b := broker.Start(t)
	l := &tripLab{t: t, broker: b, to: b.URL, confirm: confirm, ca: 50}
	l.cable = newCable(t, strings.TrimPrefix(b.URL, "tcp://"))
	l.others = l.connect("")
	if behind != nil {
		*behind = newCable(t, strings.TrimPrefix(b.URL, "tcp://"))
		l.to = "tcp://" + (*behind).address
	}
	l.client = l.connect("")
	token := l.client.Subscribe("lab/ca/set", 0, func(_ paho.Client, m paho.Message) { l.take(m.Payload()) })
	if token.Wait(); token.Error() != nil {
		t.Fatal(token.Error())
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				l.speak()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped; l.client.Disconnect(50); l.others.Disconnect(50) })
	return l
}

func (l *tripLab) connect(id string) paho.Client {
	l.t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(l.to).SetClientID(id).SetOrderMatters(false).SetAutoReconnect(false))
	if token := c.Connect(); !token.WaitTimeout(time.Minute) || token.Error() != nil {
		l.t.Fatal(token.Error())
	}
	return c
}

// take is a setpoint that has come.
func (l *tripLab) take(payload []byte) {
	var s struct {
		Value   float64
		Session string
		Seq     int64
		SentMS  int64 `json:"sent_ms"`
	}
	if json.Unmarshal(payload, &s) != nil {
		return
	}
	l.mu.Lock()
	l.ca = s.Value
	l.set, l.sessions = append(l.set, setAt{time.Now(), s.Value, s.Session, time.Duration(s.SentMS) * time.Millisecond}), append(l.sessions, s.Session)
	l.mu.Unlock()
	if l.confirm >= 0 {
		time.AfterFunc(l.confirm, func() {
			l.client.Publish("lab/ca/taken", 0, false, fmt.Sprintf(`{"session":%q,"seq":%d,"released":false}`, s.Session, s.Seq))
		})
	}
}

func (l *tripLab) speak() {
	l.mu.Lock()
	ca, door := l.ca, l.door
	l.mu.Unlock()
	l.client.Publish("lab/ca", 0, false, fmt.Sprint(ca))
	l.others.Publish("lab/yield", 0, false, fmt.Sprint(ca/2))
	l.others.Publish("lab/door", 0, false, fmt.Sprint(door))
}

// session is the one of the last setpoint.
func (l *tripLab) session() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sessions) == 0 {
		return ""
	}
	return l.sessions[len(l.sessions)-1]
}

// count is how many setpoints have come.
func (l *tripLab) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.set)
}

// openDoor opens the interlock.
func (l *tripLab) openDoor() time.Time {
	l.mu.Lock()
	l.door = 5
	l.mu.Unlock()
	at := time.Now()
	l.speak()
	return at
}

// safeAfter waits for the safe value, for a time at most.
func (l *tripLab) safeAfter(opened time.Time, most time.Duration) (time.Duration, bool) {
	for time.Since(opened) < most {
		l.mu.Lock()
		for _, s := range l.set {
			if s.value == 5 && s.at.After(opened) {
				l.mu.Unlock()
				return s.at.Sub(opened), true
			}
		}
		l.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
	return most, false
}

// pace begins a plain client that logs in, subscribes and hears itself, over and over. What it
// returns ends that and says how long the slowest round took: a machine that is busy with other
// work takes its time from this client as it does from tuner.
func (l *tripLab) pace() func() time.Duration {
	stop, slowest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for {
			most = max(most, l.round())
			select {
			case <-stop:
				slowest <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() time.Duration { close(stop); return <-slowest }
}

// round is how long a plain client takes from its login to what it sent to itself.
func (l *tripLab) round() time.Duration {
	began := time.Now()
	heard := make(chan struct{}, 1)
	c := paho.NewClient(paho.NewClientOptions().AddBroker(l.broker.URL).SetAutoReconnect(false))
	defer c.Disconnect(0)
	topic := fmt.Sprintf("pace/%d", began.UnixNano())
	for _, do := range []func() paho.Token{
		c.Connect,
		func() paho.Token {
			return c.Subscribe(topic, 0, func(paho.Client, paho.Message) { heard <- struct{}{} })
		},
		func() paho.Token { return c.Publish(topic, 0, false, "") },
	} {
		if token := do(); !token.WaitTimeout(time.Minute) || token.Error() != nil {
			l.t.Errorf("the plain client beside: %v", token.Error())
			return 0
		}
	}
	<-heard
	return time.Since(began)
}

// last is the setpoint that came last.
func (l *tripLab) last() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set[len(l.set)-1].value
}

// cable passes bytes on between the tuner and the broker until it is cut.
type cable struct {
	address string
	to      string
	mu      sync.Mutex
	conns   []net.Conn
	// spans are the times in which a client was logged in, the last one open where left is zero.
	spans []*span
	// flows is held while nothing passes; what comes meanwhile is kept, and passes later.
	flows sync.RWMutex
}

// span is a time in which a client was logged in: from the broker's first answer to its end.
type span struct{ came, left time.Time }

// answers passes on what the broker says to one client, and notes when that began.
func (c *cable) answers(client, broker net.Conn) {
	first := make([]byte, 4096)
	n, err := broker.Read(first)
	if err != nil {
		return // never logged in; the copy behind this ends with the same error
	}
	s := &span{came: time.Now()}
	c.mu.Lock()
	c.spans = append(c.spans, s)
	c.mu.Unlock()
	if _, err := (throttled{c, client}).Write(first[:n]); err == nil {
		_, _ = io.Copy(throttled{c, client}, broker) // what ends it is seen by both
	}
	c.mu.Lock()
	s.left = time.Now()
	c.mu.Unlock()
}

// open is how long of a time at least one client was logged in, where no two were at once.
func (c *cable) open(from, to time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum time.Duration
	for _, s := range c.spans {
		begin, end := s.came, s.left
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{address: l.Addr().String(), to: to}
	t.Cleanup(func() { l.Close(); c.drop() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, in, out)
			c.mu.Unlock()
			hangUp := func() { in.Close(); out.Close() }
			go func() {
				defer hangUp()
				_, _ = io.Copy(throttled{c, out}, in) // what ends it is seen by both
			}()
			go func() {
				defer hangUp()
				c.answers(in, out)
			}()
		}
	}()
	return c
}

// throttled is a side of a cable through which bytes pass while it flows.
type throttled struct {
	*cable
	io.Writer
}

// Write waits until the cable flows.
func (h throttled) Write(p []byte) (int, error) {
	h.flows.RLock()
	defer h.flows.RUnlock()
	return h.Writer.Write(p)
}

// stall holds what passes for a time, and lets it go on then.
func (c *cable) stall(d time.Duration) {
	c.flows.Lock()
	defer c.flows.Unlock()
	time.Sleep(d)
}

// drop cuts every connection; new ones pass.
func (c *cable) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// tripCase is a way in which the connection suffers before the interlock opens.
type tripCase struct {
	name string
	// keys go to the stage, channel to its channel.
	keys, channel string
	confirm       time.Duration
	// suffer returns when the interlock is to open; stop ends when the trial does.
	suffer func(l *tripLab, stop <-chan struct{})
	bound  time.Duration
}

// drops cuts the cable n times, and leaves it alone for a second.
func drops(n int) func(*tripLab, <-chan struct{}) {
	return func(l *tripLab, _ <-chan struct{}) {
		for range n {
			time.Sleep(3500 * time.Millisecond)
			l.cable.drop()
		}
		time.Sleep(time.Second)
	}
}

// every does something again and again until stop.
func every(d time.Duration, stop <-chan struct{}, f func()) {
	go func() {
		for {
			f()
			select {
			case <-stop:
				return
			case <-time.After(d):
			}
		}
	}()
}

// tripBound is the published bound from an open interlock to the safe value, while a
// connection is open, on a machine that has time for it. The test adds paceRounds rounds of a
// plain client beside tuner: a trip takes about as many messages and logins, each of which waits
// for a processor. Where the connection is away one is made at once for a safe value: tripAway is
// how long that may take beside others that take it away again, half a minute where it is not made.
const (
	tripBound  = 400 * time.Millisecond
	paceRounds = 8
	tripAway   = 5 * time.Second
)

func tripCases() []tripCase {
	thief := func(every500 time.Duration, id func(*tripLab) string) func(*tripLab, <-chan struct{}) {
		return func(l *tripLab, stop <-chan struct{}) {
			every(every500, stop, func() {
				c := l.connect(id(l))
				time.AfterFunc(50*time.Millisecond, func() { c.Disconnect(0) })
			})
			time.Sleep(time.Duration(testsize.Of(5, 15)) * time.Second)
		}
	}
	return []tripCase{
		{"0 drops", "", "", -1, drops(0), tripBound},
		{"2 drops 3.5 s apart", "", "", -1, drops(2), tripBound},
		{"4 drops 3.5 s apart", "", "", -1, drops(4), tripBound},
		{"8 drops 3.5 s apart", "", "", -1, drops(8), tripBound},
		{"4 drops, then one every 20 s", "", "", -1, func(l *tripLab, stop <-chan struct{}) {
			drops(4)(l, stop)
			time.AfterFunc(19*time.Second, func() { every(20*time.Second, stop, l.cable.drop) })
		}, tripBound},
		{"take-over every 2 s by the id that the session gave away", "", "", -1,
			thief(2*time.Second, func(l *tripLab) string { return "tuner-" + l.session() }), tripBound},
		// Of a name that is known the connection is away for the time of a login, over and over,
		// and one setpoint may be lost with it.
		{"take-over every 0.5 s of a fixed client_id", `client_id = "known"`, "", -1,
			thief(500*time.Millisecond, func(*tripLab) string { return "known" }), 2 * tripBound},
		{"confirmation 2.5 s late", "", `confirm = { topic = "lab/ca/taken", timeout = "5s" }`, 2500 * time.Millisecond, drops(0), tripBound},
	}
}

// TestTripOverMosquitto opens the interlock of a real run over a real Mosquitto, after its
// connection has suffered, and measures when the instrument hears its safe value. Beside it a plain client shows how busy the
// machine is.
//
//	go test ./cmd/tuner/trial/brokers -run TestTripOverMosquitto -v
func TestTripOverMosquitto(t *testing.T) {
	t.Parallel()
	for i, c := range tripCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if i > 1 && i < 6 { // the longest, and those that are like another
				testsize.Only(t)
			}
			l := newTripLab(t, c.confirm, nil)
			dir := t.TempDir()
			text := fmt.Sprintf(tripFile, l.cable.address, c.keys, c.channel, l.broker.URL)
			if err := os.WriteFile(filepath.Join(dir, "trip.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run := trial.Command(t, dir, "run", "trip.toml")
			var says hosttest.Buffer
			run.Stdout, run.Stderr = &says, &says
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			defer func() {
				close(stop)
				_ = run.Process.Kill() // how it would end is not looked at here
				_ = run.Wait()         // its exit code is that of the signal
				if t.Failed() {
					t.Logf("tuner said:\n%s", says.String())
				}
			}()
			for began := time.Now(); l.count() < 3; time.Sleep(20 * time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatal("it does not set anything")
				}
			}
			c.suffer(l, stop)
			pace := l.pace()
			opened := l.openDoor()
			took, out := l.safeAfter(opened, 45*time.Second)
			connected, slowest := l.cable.open(opened, opened.Add(took)), pace()
			t.Logf("| %s | %.2f s, connected for %.2f s | %s | a plain client's round %.3f s |",
				c.name, took.Seconds(), connected.Seconds(), l.broker.Kind, slowest.Seconds())
			bound := c.bound + paceRounds*slowest
			if !out || connected > bound || took > bound+tripAway {
				t.Errorf("%s: safe value after %v (%v), connected for %v of it, bound %v and %d rounds of %v, and %v without a connection",
					c.name, took, out, connected, c.bound, paceRounds, slowest, tripAway)
			}
			time.Sleep(2 * time.Second)
			if v := l.last(); v != 5 {
				t.Errorf("the last setpoint is %v, want the safe 5 mg/L", v)
			}
		})
	}
}
