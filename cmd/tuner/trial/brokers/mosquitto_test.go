package brokers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/worker"
)

// labBroker is a real Mosquitto with the sample configuration, access rules and
// certificates of configs/mosquitto.
type labBroker struct {
	dir, port string
}

// labUsers log in with their name twice. A login is a connection, so some have several, NAME-2
// and so on, with the same rights.
var labUsers = []string{"tuner", "tuner-2", "tuner-3", "tuner-lab", "operator", "operator-2", "operator-3", "viewer", "viewer-2", "stopbutton", "stopbutton-2", "doser"}

// doubled are the access rules with those logins.
func doubled(rules string) string {
	blocks := strings.Split(rules, "\nuser ")
	for _, block := range blocks[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		for _, login := range labUsers {
			if strings.HasPrefix(login, name+"-") && len(login) == len(name)+2 {
				blocks = append(blocks, login+"\n"+rest)
			}
		}
	}
	// Patterns hold for everybody, wherever they are.
	return strings.Join(blocks, "\nuser ")
}

// startLabBroker gives nil where what it takes is not installed, which is said.
func startLabBroker(t *testing.T, change ...func(conf string) string) *labBroker {
	t.Helper()
	for _, tool := range []string{"mosquitto", "mosquitto_passwd", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("NOT RUN: there is no %s here (apt-get install mosquitto openssl)", tool)
			return nil
		}
	}
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	samples, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "configs", "mosquitto"))
	if err != nil {
		t.Fatal(err)
	}
	run(filepath.Join(samples, "make-certificates"), dir, "localhost", "127.0.0.1")
	for i, name := range labUsers {
		args := []string{"-b", filepath.Join(dir, "passwd"), name, name + name}
		if i == 0 {
			args = append([]string{"-c"}, args...)
		}
		run("mosquitto_passwd", args...)
		if err := os.WriteFile(filepath.Join(dir, name+".password"), []byte(name+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &labBroker{dir: dir, port: trial.FreePort(t)}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	conf := trial.ReadFile(t, filepath.Join(samples, "mosquitto.conf"))
	for from, to := range map[string]string{"listener 8883": "listener " + b.port + " 127.0.0.1\nuser " + who.Username,
		"/etc/mosquitto/tuner/": dir + "/", "/var/lib/mosquitto/": dir + "/"} {
		if !strings.Contains(conf, from) {
			t.Fatalf("the sample has no %q any more", from)
		}
		conf = strings.ReplaceAll(conf, from, to)
	}
	for _, f := range change {
		conf = f(conf)
	}
	for name, text := range map[string]string{"mosquitto.conf": conf, "acl": doubled(trial.ReadFile(t, filepath.Join(samples, "acl")))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var says hosttest.Buffer
	cmd := exec.Command("mosquitto", "-c", filepath.Join(dir, "mosquitto.conf"))
	cmd.Stdout, cmd.Stderr = &says, &says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it holds nothing worth a farewell
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("mosquitto said:\n%s", says.String())
		}
	})
	says.WaitFor(t, "running")
	return b
}

// section is the text of an [mqtt] section for a user.
func (b *labBroker) section(name string) string {
	return fmt.Sprintf("broker = \"tls://localhost:%s\"\ncommands = true\nheartbeat = \"1s\"\nca_file = %q\nusername = %q\npassword_file = %q\n",
		b.port, filepath.Join(b.dir, "ca.pem"), name, filepath.Join(b.dir, name+".password"))
}

// as writes the configuration as another user has it: what the tuner's folder holds, but
// for the login.
func (b *labBroker) as(t *testing.T, name string) (dir string) {
	t.Helper()
	return oven(t, b.section(name))
}

// peer is a client of the broker that keeps what it hears.
type peer struct {
	*mqtt.Client
	mu    sync.Mutex
	heard []string
}

func (b *labBroker) peer(t *testing.T, name string, topics ...string) *peer {
	t.Helper()
	o := b.options(name)
	p := &peer{}
	var err error
	p.Client, err = mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: worker.RealClock{}}, Subscribe: topics, Handle: func(m mqtt.Message) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = append(p.heard, m.Topic+" "+string(m.Payload))
	}})
	if err == nil {
		err = p.Connect(t.Context())
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(p.Close)
	return p
}

func (p *peer) mentions(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.heard, "\n"), text)
}

// TestSampleAccessRules runs a tuner at a real Mosquitto with the samples: an operator
// commands, and nobody else does; nobody else says what only the tuner or an instrument
// may say.
func TestSampleAccessRules(t *testing.T) {
	t.Parallel()
	b := startLabBroker(t)
	if b == nil {
		return
	}
	dir := b.as(t, "tuner")
	run := startTuner(t, dir, "run", "oven.toml")
	operator, viewer := b.as(t, "operator"), b.as(t, "viewer")
	awaitState(t, operator, "running")
	awaitState(t, viewer, "running")

	listener, commands := b.peer(t, "tuner-lab", "lab/#"), b.peer(t, "tuner-2", "tuner/bench/oven/cmd/+")
	watcher := b.peer(t, "operator-2", "tuner/#")
	const tree = "tuner/bench/oven/"
	forgeries := map[string][]string{
		"doser":      {"lab/other/ca", "lab/doser/ca/set", "lab/other/ca/confirm", tree + "status", tree + "state", tree + "cmd/pause", tree + "cmd/stop", tree + "resp/pause"},
		"viewer-2":   {"lab/doser/ca", tree + "status", tree + "state", tree + "event", tree + "telemetry", tree + "resp/pause", tree + "cmd/resume", tree + "cmd/stop"},
		"operator-3": {"lab/doser/ca", "lab/doser/ca/set", tree + "status", tree + "state", tree + "event", tree + "telemetry", tree + "resp/pause"},
		"stopbutton": {"lab/doser/ca", tree + "status", tree + "cmd/pause", tree + "cmd/reset", tree + "resp/stop"},
		"tuner-3":    {"lab/doser/ca", "lab/doser/ca/set", tree + "cmd/pause"},
	}
	const mark = "forged-by-"
	peers := map[string]*peer{}
	for name, topics := range forgeries {
		p := b.peer(t, name)
		peers[name] = p
		for _, topic := range topics {
			// The broker acknowledges what it drops.
			if err := p.Publish(t.Context(), mqtt.Message{Topic: topic, Payload: []byte(mark + name), QoS: 1, Retained: strings.HasSuffix(topic, "status")}); err != nil {
				t.Errorf("%s to %s: %v", name, topic, err)
			}
		}
	}
	// What is allowed gets through, after all of those.
	if err := peers["doser"].Publish(t.Context(), mqtt.Message{Topic: "lab/doser/ca", Payload: []byte("42"), QoS: 1}); err != nil {
		t.Error(err)
	}
	eventually(t, "the instrument's own reading", func() bool { return listener.mentions("lab/doser/ca 42") })
	if out, errs, code := tell(t, operator, "pause", "oven.toml"); code != 0 {
		t.Errorf("the operator's pause: %d\n%s%s", code, out, errs)
	}
	eventually(t, "the answer", func() bool { return watcher.mentions(tree + `resp/pause {"transaction":`) })
	for what, p := range map[string]*peer{"lab": listener, "commands": commands, "the tuner's tree": watcher} {
		if p.mentions(mark) {
			t.Errorf("%s: a forged message came through:\n%s", what, strings.Join(p.heard, "\n"))
		}
	}
	if _, errs, code := tell(t, viewer, "resume", "oven.toml"); code != 5 || !strings.Contains(errs, "the broker may not let this user write there") {
		t.Errorf("the viewer's resume: %d\n%s", code, errs)
	}
	awaitState(t, viewer, "held, paused")
	if err := b.peer(t, "stopbutton-2").Publish(t.Context(), mqtt.Message{Topic: tree + "cmd/stop", QoS: 1}); err != nil {
		t.Error(err)
	}
	if code := run.exits(t); code != 4 {
		t.Errorf("after the stop button: exit code %d, want 4", code)
	}
	eventually(t, "the goodbye", func() bool { return watcher.mentions(`status {"state":"offline"`) })
	checkStrangers(t, b)
}

// TestSampleAccessRulesPreventTakeOver: at a real Mosquitto with the samples a client that
// gives another's identifier takes nothing over. Without use_username_as_clientid it does,
// which shows that the test would notice.
func TestSampleAccessRulesPreventTakeOver(t *testing.T) {
	t.Parallel()
	for _, prevents := range []bool{true, false} {
		b := startLabBroker(t, func(conf string) string {
			if prevents {
				return conf
			}
			return strings.Replace(conf, "use_username_as_clientid true", "", 1)
		})
		if b == nil {
			return
		}
		o := b.options("tuner-lab")
		o.ClientID = "known"
		said := make(chan string, 16)
		victim := b.client(t, o, func(text string) { said <- text })
		thief := b.options("viewer")
		thief.ClientID = "known"
		b.client(t, thief, nil)
		taken := false
		select {
		case text := <-said:
			if taken = true; !strings.Contains(text, "takes the connection over") {
				t.Errorf("told %q", text)
			}
		case <-time.After(2 * time.Second):
		}
		if taken == prevents || prevents && !victim.Connected() {
			t.Errorf("taken over: %v, with use_username_as_clientid: %v", taken, prevents)
		}
	}
}

// options are a login's.
func (b *labBroker) options(name string) mqtt.Options {
	o := mqtt.Default()
	o.Broker, o.CAFile, o.Username, o.PasswordFile = "tls://localhost:"+b.port, filepath.Join(b.dir, "ca.pem"), name, filepath.Join(b.dir, name+".password")
	return o
}

// client is one that is connected, and tells of take-overs.
func (b *labBroker) client(t *testing.T, o mqtt.Options, tell func(string)) *mqtt.Client {
	t.Helper()
	c, err := mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: worker.RealClock{}}, Handle: func(mqtt.Message) {}, Notify: tell})
	if err == nil {
		err = c.Connect(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// checkStrangers: without the right password, or without TLS, nobody is let in.
func checkStrangers(t *testing.T, b *labBroker) {
	t.Helper()
	for what, change := range map[string]func(*mqtt.Options){
		"a wrong password":  func(o *mqtt.Options) { o.Password = func() (string, error) { return "guess", nil } },
		"no name":           func(o *mqtt.Options) { o.Username, o.PasswordFile = "", "" },
		"no TLS":            func(o *mqtt.Options) { o.Broker, o.CAFile = "tcp://localhost:"+b.port, "" },
		"another authority": func(o *mqtt.Options) { o.CAFile = "" },
	} {
		o := mqtt.Default()
		o.Broker, o.CAFile, o.Username, o.PasswordFile = "tls://localhost:"+b.port, filepath.Join(b.dir, "ca.pem"), "operator", filepath.Join(b.dir, "operator.password")
		o.ConnectTimeout = 2 * time.Second
		change(&o)
		c, err := mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: worker.RealClock{}}, Handle: func(mqtt.Message) {}})
		if err != nil {
			t.Fatal(err)
		}
		if c.Connect(context.Background()) == nil {
			t.Errorf("%s: let in", what)
		}
		c.Close()
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(hosttest.Patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %v: %s", hosttest.Patience, what)
		}
	}
}
