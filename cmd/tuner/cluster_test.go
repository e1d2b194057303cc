package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	nats "github.com/nats-io/nats-server/v2/server"
)

// natsNodes starts a cluster of three NATS servers, each with its MQTT gateway, and gives
// them with their gateways' addresses.
func natsNodes(t *testing.T) (nodes []*nats.Server, addresses []string) {
	t.Helper()
	const size = 3
	var routes []*url.URL
	ports := make([]int, 0, 2*size)
	for range 2 * size {
		port, err := strconv.Atoi(freePort(t))
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	for i := range size {
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: fmt.Sprintf("127.0.0.1:%d", ports[2*i])})
	}
	for i := range size {
		o := &nats.Options{ServerName: fmt.Sprintf("node-%d", i), Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), Routes: routes,
			Cluster: nats.ClusterOpts{Name: "lab", Host: "127.0.0.1", Port: ports[2*i]},
			MQTT:    nats.MQTTOpts{Host: "127.0.0.1", Port: ports[2*i+1], StreamReplicas: size}}
		s, err := nats.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		go s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		nodes, addresses = append(nodes, s), append(addresses, fmt.Sprintf("tcp://127.0.0.1:%d", ports[2*i+1]))
	}
	for _, s := range nodes {
		if !s.ReadyForConnections(30 * time.Second) {
			t.Fatal("a node of the cluster does not start")
		}
	}
	waitUntil(t, func() bool {
		for _, s := range nodes {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == size {
				return true
			}
		}
		return false
	})
	return nodes, addresses
}

// setpoint is a write as it comes to a device.
type setpoint struct {
	Value   *float64
	Seq     int
	TTL     int `json:"ttl_ms"`
	Session string
	Sent    int `json:"sent_ms"`
}

// setpointWitness listens to the setpoints and to the tuner's status at a node that
// lives.
type setpointWitness struct {
	mu    sync.Mutex
	last  map[string]int // by topic and session
	count int
	wrong []string
	// beats counts the tuner's words of status, state is the last of them.
	beats int
	state string
	// offset is the least difference of arrival and sending, in ms: what comes later than
	// that by more than the ttl is stale.
	offset map[string]int64
}

func watchSetpoints(t *testing.T, address string) *setpointWitness {
	t.Helper()
	w := &setpointWitness{last: map[string]int{}, offset: map[string]int64{}}
	c := paho.NewClient(paho.NewClientOptions().AddBroker(address).SetClientID("witness").SetOrderMatters(true))
	if token := c.Connect(); !token.WaitTimeout(30*time.Second) || token.Error() != nil {
		t.Fatalf("the witness cannot connect: %v", token.Error())
	}
	t.Cleanup(func() { c.Disconnect(100) })
	for topic, handle := range map[string]func(paho.Message){"bay/+/set": w.write, "tuner/#": w.status} {
		if token := c.Subscribe(topic, 1, func(_ paho.Client, m paho.Message) { handle(m) }); !token.WaitTimeout(30*time.Second) || token.Error() != nil {
			t.Fatalf("the witness cannot subscribe: %v", token.Error())
		}
	}
	return w
}

func (w *setpointWitness) write(m paho.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	var s setpoint
	if err := json.Unmarshal(m.Payload(), &s); err != nil || m.Retained() {
		if !strings.HasSuffix(m.Topic(), "/my/set") { // which is a bare number
			w.wrong = append(w.wrong, fmt.Sprintf("%s: %q, retained %v: %v", m.Topic(), m.Payload(), m.Retained(), err))
		}
		return
	}
	key := m.Topic() + " " + s.Session
	if s.Seq <= w.last[key] {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: setpoint %d came after %d", key, s.Seq, w.last[key]))
	}
	w.last[key] = s.Seq
	late := time.Now().UnixMilli() - int64(s.Sent)
	if least, ok := w.offset[s.Session]; !ok || late < least {
		w.offset[s.Session] = late
	} else if s.TTL > 0 && late-least > int64(s.TTL) {
		w.wrong = append(w.wrong, fmt.Sprintf("%s: setpoint %d came %d ms late, it lives for %d ms", key, s.Seq, late-least, s.TTL))
	}
}

func (w *setpointWitness) status(m paho.Message) {
	if !strings.HasSuffix(m.Topic(), "/status") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var s struct{ State string }
	if err := json.Unmarshal(m.Payload(), &s); err != nil {
		w.wrong = append(w.wrong, fmt.Sprintf("status %q: %v", m.Payload(), err))
	}
	w.beats, w.state = w.beats+1, s.State
}

// goesOn waits until more setpoints and heartbeats have come, and the tuner is online.
func (w *setpointWitness) goesOn(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	count, beats := w.count, w.beats
	w.mu.Unlock()
	waitUntil(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.count >= count+20 && w.beats >= beats+3 && w.state == "online"
	})
}

// TestNodeOfAClusterIsKilled has a tuner and its instrument on a cluster of three NATS
// servers. The node that both are at is killed: they find the next one, the run goes on, no
// setpoint comes late or out of order, and the tuner's heartbeat is heard again. (A node
// that dies takes the last will of its clients with it: only the heartbeat tells.)
func TestNodeOfAClusterIsKilled(t *testing.T) {
	nodes, addresses := natsNodes(t)
	list := fmt.Sprintf("cluster = [%q, %q]\n", addresses[1], addresses[2])
	text := strings.ReplaceAll(laserOverMQTT(addresses[0]), "driver = \"mqtt\"\n", "driver = \"mqtt\"\nconnect_timeout = \"20s\"\n"+list)
	text += fmt.Sprintf("\n[mqtt]\nbroker = %q\nheartbeat = \"1s\"\n%s", addresses[0], list)
	text = withKey(t, text, "steps", "100000")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "served.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plant := startTuner(t, dir, "plant", "served.toml")
	plant.says.waitFor(t, "serving device")
	w := watchSetpoints(t, addresses[2])
	run := startTuner(t, dir, "run", "--resume", "run", "served.toml")
	w.goesOn(t)
	nodes[0].Shutdown()
	nodes[0].WaitForShutdown()
	w.goesOn(t)
	w.mu.Lock()
	t.Logf("%d setpoints, %d heartbeats", w.count, w.beats)
	for _, problem := range w.wrong {
		t.Error(problem)
	}
	w.mu.Unlock()
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := run.exits(t); code != 130 {
		t.Errorf("the run ended with %d, want 130", code)
	}
}
