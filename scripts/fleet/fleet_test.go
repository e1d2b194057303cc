package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/nats-io/nats-server/v2/server"
)

// cluster is three brokers that are one, and a door that leads to one that lives, as a
// virtual address does.
type cluster struct {
	nodes []*server.Server
	ports []int // of the MQTT gateways
	door  net.Listener
	mu    sync.Mutex
	dead  map[int]bool
	open  map[int][]net.Conn // by node
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	const size = 3
	ports := freePorts(t, 2*size)
	c := &cluster{ports: ports[:size], dead: map[int]bool{}, open: map[int][]net.Conn{}}
	var routes []*url.URL
	for _, p := range ports[size:] {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", p)})
	}
	for i := range size {
		s, err := server.NewServer(&server.Options{ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(), Cluster: server.ClusterOpts{Name: "lab", Host: "127.0.0.1", Port: ports[size+i]},
			Routes: routes, MQTT: server.MQTTOpts{Host: "127.0.0.1", Port: c.ports[i]}})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, s)
		go s.Start()
	}
	t.Cleanup(func() {
		for _, s := range c.nodes {
			s.Shutdown()
		}
	})
	eventually(t, "the cluster has a leader", func() bool {
		for _, s := range c.nodes {
			if s.JetStreamIsLeader() {
				return true
			}
		}
		return false
	})
	for i := range c.ports {
		eventually(t, fmt.Sprintf("node %d carries messages", i), func() bool { return carries(c.ports[i]) })
	}
	var err error
	if c.door, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.door.Close() })
	go c.serve()
	return c
}

// carries reports whether a message comes through this gateway, a retained one too: the
// first session makes the gateway's streams, which have to find their leaders.
func carries(port int) bool {
	heard := make(chan struct{}, 1)
	client := paho.NewClient(paho.NewClientOptions().AddBroker(fmt.Sprintf("tcp://127.0.0.1:%d", port)).SetClientID(fmt.Sprint("try", port)).
		SetConnectTimeout(attempt).SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
		if !m.Retained() {
			heard <- struct{}{}
		}
	}))
	done := func(token paho.Token) bool { return token.WaitTimeout(attempt) && token.Error() == nil }
	topic := fmt.Sprintf("try/%d", port)
	if !done(client.Connect()) {
		return false
	}
	defer client.Disconnect(100)
	if !done(client.Subscribe(topic, 1, nil)) || !done(client.Publish(topic, 1, true, "there")) {
		return false
	}
	select {
	case <-heard:
		return done(client.Publish(topic, 1, true, "")) // nothing of it stays
	case <-time.After(attempt):
		return false
	}
}

// serve leads each connection to the first node that lives.
func (c *cluster) serve() {
	for {
		in, err := c.door.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			for i, port := range c.ports {
				c.mu.Lock()
				dead := c.dead[i]
				c.mu.Unlock()
				if dead {
					continue
				}
				out, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
				if err != nil {
					continue
				}
				c.mu.Lock()
				c.open[i] = append(c.open[i], in, out)
				c.mu.Unlock()
				go func() { io.Copy(out, in); out.Close() }()
				io.Copy(in, out)
				return
			}
		}()
	}
}

// kill ends a node and what was connected to it.
func (c *cluster) kill(i int) {
	c.mu.Lock()
	c.dead[i] = true
	open := c.open[i]
	c.mu.Unlock()
	c.nodes[i].Shutdown()
	for _, conn := range open {
		conn.Close()
	}
}

// setpoint is a message to a set topic.
type setpoint struct {
	Value   float64 `json:"value"`
	Seq     int64   `json:"seq"`
	TTL     int64   `json:"ttl_ms"`
	Session string  `json:"session"`
	Sent    int64   `json:"sent_ms"`
}

// observer hears everything at a node that stays alive.
type observer struct {
	mu     sync.Mutex
	states map[string]string // by status topic
	beats  map[string]int    // signs of life by status topic
	count  map[string]int    // setpoints by topic
	last   map[string]int64  // seq by session and topic
	least  map[string]time.Duration
	read   map[string]bool // topics of readings that were heard
	late   []string
	begin  time.Time
}

func (o *observer) handle(_ paho.Client, m paho.Message) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case strings.HasSuffix(m.Topic(), "/instability"):
		o.read[m.Topic()] = true
	case strings.HasSuffix(m.Topic(), "/status"):
		var s struct{ State string }
		_ = json.Unmarshal(m.Payload(), &s)
		o.states[m.Topic()] = s.State
		if s.State == "online" && !m.Retained() {
			o.beats[m.Topic()]++
		}
	case strings.HasSuffix(m.Topic(), "/set"):
		var s setpoint
		if json.Unmarshal(m.Payload(), &s) != nil || m.Retained() {
			o.late = append(o.late, fmt.Sprintf("%s retained or unreadable: %s", m.Topic(), m.Payload()))
			return
		}
		o.count[m.Topic()]++
		key := s.Session + m.Topic()
		if s.Seq <= o.last[key] {
			o.late = append(o.late, fmt.Sprintf("%s: seq %d after %d", m.Topic(), s.Seq, o.last[key]))
		}
		o.last[key] = s.Seq
		// The fastest message of a session tells when it began; what took much longer was
		// held up on its way.
		took := now.Sub(o.begin) - time.Duration(s.Sent)*time.Millisecond
		if least, seen := o.least[s.Session]; !seen || took < least {
			o.least[s.Session] = took
		}
		if delay := took - o.least[s.Session]; delay > time.Duration(s.TTL)*time.Millisecond {
			o.late = append(o.late, fmt.Sprintf("%s: a setpoint %v late", m.Topic(), delay))
		}
	}
}

func (o *observer) state(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.states["tuner/lab/"+name+"/status"]
}

// reads reports whether an instrument has been heard to say what it reads.
func (o *observer) reads(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.read[name+"/instability"]
}

// alive counts the signs of life of an instrument's tuner.
func (o *observer) alive(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.beats["tuner/lab/"+name+"/status"]
}

func (o *observer) setpoints() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[string]int{}
	for k, v := range o.count {
		name, _, _ := strings.Cut(k, "/")
		out[name] += v
	}
	return out
}

var broker = regexp.MustCompile(`(?m)^broker = .*$`)

// instrument writes the sample under another name, on this broker: the lines of its keys.
func instrument(t *testing.T, tuner, keys, name string) (dir string) {
	t.Helper()
	text, err := exec.Command(tuner, "config", "--sample", "perovskite").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	s = strings.Replace(s, `name = "perovskite"`, `name = "`+name+`"`+"\ntick = \"50ms\"", 1)
	s = strings.ReplaceAll(s, `topic = "laboratory/`, `topic = "`+name+`/`)
	// A gateway that has lost a node is slow, a busy machine too.
	s = broker.ReplaceAllString(s, keys+"\nconnect_timeout = \"20s\"")
	s = regexp.MustCompile(`(?m)^steps = .*$`).ReplaceAllString(s, "steps = 100000")
	s = strings.Replace(s, `data = "perovskite"`, "data = \"perovskite\"\nbatch = \"60ms\"", 1)
	s += "\n[mqtt]\n" + keys + "\ncommands = true\nheartbeat = \"1s\"\n"
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.toml"), []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// child is a tuner that runs until the test ends.
type child struct {
	*exec.Cmd
	name  string
	ended chan struct{} // closed when it has
}

// process runs tuner until the test ends.
func process(t *testing.T, tuner, dir string, args ...string) *child {
	t.Helper()
	var says bytes.Buffer
	c := &child{exec.Command(tuner, args...), strings.Join(args, " "), make(chan struct{})}
	c.Dir, c.Stderr, c.Stdout = dir, &says, &says
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // where it has not ended by itself
		<-c.ended
		if t.Failed() {
			t.Logf("tuner %s:\n%s", c.name, says.String())
		}
	})
	return c
}

// patience is what a busy machine is given until something has come true, attempt what
// one try of it may take. Both are waited out only where something is wrong.
const (
	patience = 3 * time.Minute
	attempt  = 30 * time.Second
)

// eventually waits until something has come true, for as long as none of the children ends.
func eventually(t *testing.T, what string, done func() bool, children ...*child) {
	t.Helper()
	for limit := time.Now().Add(patience); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		for _, c := range children {
			select {
			case <-c.ended:
				t.Fatalf("tuner %s has ended before this: %s", c.name, what)
			default:
			}
		}
	}
}

// TestNodeDies: two instruments, each with a tuner, on one cluster. The node that all of
// them are at is killed: status recovers, setpoints go on, and none is late, repeated or out of order.
// The cluster has one address that leads to a node that lives, or the file lists its nodes.
func TestNodeDies(t *testing.T) {
	tuner := filepath.Join(t.TempDir(), "tuner")
	build := exec.Command("go", "build", "-o", tuner, "./cmd/tuner")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, keys := range map[string]func(*cluster) string{
		"one address": func(c *cluster) string { return fmt.Sprintf("broker = %q", "tcp://"+c.door.Addr().String()) },
		"a list of nodes": func(c *cluster) string {
			return fmt.Sprintf("broker = \"tcp://127.0.0.1:%d\"\ncluster = [\"tcp://127.0.0.1:%d\", \"tcp://127.0.0.1:%d\"]", c.ports[0], c.ports[1], c.ports[2])
		},
	} {
		t.Run(name, func(t *testing.T) { outlivesANode(t, tuner, keys) })
	}
}

// outlivesANode kills the first node under two instruments whose files have these keys.
func outlivesANode(t *testing.T, tuner string, keys func(*cluster) string) {
	c := startCluster(t)
	o := &observer{states: map[string]string{}, beats: map[string]int{}, count: map[string]int{}, last: map[string]int64{}, least: map[string]time.Duration{}, read: map[string]bool{}, begin: time.Now()}
	client := paho.NewClient(paho.NewClientOptions().AddBroker(fmt.Sprintf("tcp://127.0.0.1:%d", c.ports[2])).SetClientID("observer").
		SetConnectTimeout(attempt).SetDefaultPublishHandler(o.handle))
	eventually(t, "the observer is connected", func() bool {
		token := client.Connect()
		return token.WaitTimeout(attempt) && token.Error() == nil
	})
	defer client.Disconnect(100)
	topics := map[string]byte{"tuner/#": 1, "+/+/set": 0, "first/instability": 0, "second/instability": 0}
	eventually(t, "the observer is subscribed", func() bool {
		token := client.SubscribeMultiple(topics, nil)
		return token.WaitTimeout(attempt) && token.Error() == nil
	})
	names := []string{"first", "second"}
	var plants, runs []*child
	for _, name := range names {
		dir := instrument(t, tuner, keys(c), name)
		plants = append(plants, process(t, tuner, dir, "plant", "x.toml"))
		eventually(t, "the plant says what it reads: "+name, func() bool { return o.reads(name) }, plants...)
		runs = append(runs, process(t, tuner, dir, "run", "x.toml"))
	}
	children := slices.Concat(plants, runs)
	all := func(state string) func() bool {
		return func() bool { return o.state(names[0]) == state && o.state(names[1]) == state }
	}
	more := func(than map[string]int) func() bool {
		return func() bool {
			now := o.setpoints()
			return now[names[0]] > than[names[0]]+5 && now[names[1]] > than[names[1]]+5
		}
	}
	eventually(t, "both are online", all("online"), children...)
	eventually(t, "both tune", more(nil), children...)
	began := time.Now()
	c.kill(0)
	alive := []int{o.alive(names[0]), o.alive(names[1])}
	eventually(t, "both give signs of life again", func() bool {
		return o.alive(names[0]) > alive[0]+2 && o.alive(names[1]) > alive[1]+2 && all("online")()
	}, children...)
	before := o.setpoints()
	eventually(t, "both tune again", more(before), children...)
	t.Logf("tuning again %v after the node was killed; setpoints %v", time.Since(began).Round(100*time.Millisecond), o.setpoints())
	for i, run := range runs {
		if err := run.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		eventually(t, names[i]+" says goodbye", func() bool { return o.state(names[i]) == "offline" }, plants...)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.late {
		t.Error(l)
	}
}
