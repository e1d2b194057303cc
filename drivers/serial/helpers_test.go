package serial

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/text"
	"github.com/labtuner/tuner/drivers/sim"
)

// wall is the machine's clock.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func env(t *testing.T) drivers.Env {
	t.Helper()
	return drivers.Env{Clock: wall{}, Log: testLog(t)}
}

// testLog writes to the test's log, as long as the test runs.
func testLog(t *testing.T) *slog.Logger {
	w := &logWriter{t: t}
	t.Cleanup(w.end)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type logWriter struct {
	mu sync.Mutex
	t  *testing.T
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.t != nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func (w *logWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = nil
}

func ptr[T any](v T) *T { return &v }

// stageOptions describe a stage with a mirror and a pump, and a meter.
func stageOptions(port string) (Options, []ChannelOptions) {
	o := Default()
	o.Port = port
	o.ReadTimeout = 30 * time.Millisecond
	o.ReplyTimeout = 400 * time.Millisecond
	o.Identify = &text.Identify{Out: "ID?", Match: "^STAGE"}
	return o, []ChannelOptions{
		{Channel: "mx", Unit: "mrad", ScaleKeys: drivers.ScaleKeys{Min: ptr(-10.0), Max: ptr(10.0), Safe: ptr(0.0)},
			Read: &Read{ReadKeys: text.ReadKeys{Out: "R 1", In: "R1=%f"}}, Write: &Write{WriteKeys: text.WriteKeys{Out: "M 1 %.3f", Ack: "^OK$"}}},
		{Channel: "pump", Unit: "A", ScaleKeys: drivers.ScaleKeys{Min: ptr(0.0), Max: ptr(100.0), Safe: ptr(60.0), SafeTolerance: 1},
			Read: &Read{ReadKeys: text.ReadKeys{Out: "I?", In: "I=%f"}}, Write: &Write{WriteKeys: text.WriteKeys{Out: "I %.1f"}}, Release: &text.Exchange{Out: "L", Ack: "^OK$"}},
		{Channel: "energy", Unit: "mJ", Read: &Read{ReadKeys: text.ReadKeys{Out: "E?", In: "%f mJ"}}},
	}
}

// stagePlant is a simulated laser whose channels fit stageOptions.
func stagePlant(t *testing.T) drivers.Device {
	t.Helper()
	plant, err := sim.New(sim.Options{
		Kind: "laser", Noise: 1, Seed: 1,
		Variables: []sim.Variable{
			{Name: "mirror", Unit: "mrad", Low: -2, High: 2, Min: -10, Max: 10, Device: "stage", Channel: "mx", Actuated: true},
			{Name: "pump", Unit: "A", Low: 60, High: 95, Start: 70, Min: 0, Max: 100, Safe: 60, Device: "stage", Channel: "pump", Actuated: true},
		},
		Sensors: []sim.Sensor{
			{Name: "energy", Unit: "mJ", Low: 0, High: 20, Device: "stage", Channel: "energy", Objective: true},
		},
	}, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	return plant.Device("stage")
}

// serve serves a device until the test ends.
func serve(t *testing.T, p Plant) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	path := p.Options.Path()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if target, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(target, "/dev/pts/") {
			return
		}
	}
	t.Fatal("the plant has made no port")
}

// openDevice makes and opens a device that is closed at the test's end.
func openDevice(t *testing.T, o Options, channels []ChannelOptions) *Device {
	t.Helper()
	dev, err := New(o, channels, env(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dev
}
