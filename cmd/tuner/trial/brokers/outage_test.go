package brokers

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/worker"
)

// plainPeer is a client of a broker without rules.
func plainPeer(t *testing.T, url string, handle func(mqtt.Message), topics ...string) *mqtt.Client {
	t.Helper()
	o := mqtt.Default()
	o.Broker = url
	if handle == nil {
		handle = func(mqtt.Message) {}
	}
	c, err := mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: worker.RealClock{}}, Subscribe: topics, Handle: handle})
	if err == nil {
		err = c.Connect(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestBrokerDiesAndComesBack: the run goes on without a broker; when one is there again it
// is told everything anew, and nothing that was published meanwhile acts.
func TestBrokerDiesAndComesBack(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	dir := oven(t, fmt.Sprintf("broker = %q\ncommands = true\nheartbeat = \"1s\"\n", b.URL))
	run := startTuner(t, dir, "run", "oven.toml")
	far := elsewhere(t, dir)
	awaitState(t, far, "running")
	before, _, _ := tell(t, far, "status", "oven.toml", "--json")
	b.Stop()
	run.says.WaitFor(t, "connection to the broker lost")
	pause := trial.Command(t, far, "pause", "oven.toml")
	pause.Env = append(os.Environ(), trial.Hasty+"=yes")
	if out, err := pause.CombinedOutput(); trial.CodeOf(err) != fault.ExitInstrument || !strings.Contains(string(out), "connection refused") {
		t.Errorf("without a broker: %v\n%s", err, out)
	}
	b.Restart()
	// Commands of before the tuner is back: of this session, retained and not.
	session, _, _ := strings.Cut(strings.SplitN(before, `"session":"`, 2)[1], `"`)
	p := plainPeer(t, b.URL, nil)
	stale := fmt.Sprintf(`{"transaction":"stale","session":%q,"expires_ms":60000}`, session)
	for _, retained := range []bool{false, true} {
		if err := p.Publish(t.Context(), mqtt.Message{Topic: "tuner/bench/oven/cmd/pause", Payload: []byte(stale), QoS: 1, Retained: retained}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Publish(t.Context(), mqtt.Message{Topic: "tuner/bench/oven/cmd/stop", Payload: []byte("now"), QoS: 1, Retained: true}); err != nil {
		t.Fatal(err)
	}
	awaitState(t, far, "running")
	for _, name := range []string{"pause", "stop"} {
		run.says.WaitFor(t, "command="+name+" code=retained")
	}
	if out, errs, code := tell(t, far, "pause", "oven.toml"); code != 0 {
		t.Errorf("pause after it: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := tell(t, far, "stop", "oven.toml"); code != 0 {
		t.Errorf("stop after it: %d\n%s%s", code, out, errs)
	}
	if code := run.exits(t); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
}

// TestStopUnderFlood: a client that may publish sends as many commands as the broker takes,
// and a stop among them acts.
func TestStopUnderFlood(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	dir := oven(t, fmt.Sprintf("broker = %q\ncommands = true\nheartbeat = \"1s\"\n", b.URL))
	run := startTuner(t, dir, "run", "oven.toml")
	awaitState(t, elsewhere(t, dir), "running")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sent atomic.Int64
	flooded := make(chan struct{})
	flooder := plainPeer(t, b.URL, nil)
	go func() {
		defer close(flooded)
		for i := 0; ctx.Err() == nil; i++ {
			text := fmt.Sprintf(`{"transaction":"f%d","session":"guessed","expires_ms":60000}`, i)
			if flooder.Publish(ctx, mqtt.Message{Topic: "tuner/bench/oven/cmd/resume", Payload: []byte(text)}) == nil {
				sent.Add(1)
			}
		}
	}()
	eventually(t, "ten thousand commands", func() bool { return sent.Load() > 10_000 })
	began := time.Now()
	if err := plainPeer(t, b.URL, nil).Publish(t.Context(), mqtt.Message{Topic: "tuner/bench/oven/cmd/stop", QoS: 1}); err != nil {
		t.Fatal(err)
	}
	code := run.exits(t)
	cancel()
	<-flooded
	t.Logf("stopped %v after the stop was sent, with %d commands before it and meanwhile", time.Since(began).Round(time.Millisecond), sent.Load())
	if code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
}
