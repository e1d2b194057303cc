package brokers

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/sim"
)

// TestPlantOverMQTT tunes the sample that is served by another process over a
// real broker, from end to end.
func TestPlantOverMQTT(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	t.Logf("the broker is %s", b.Kind)
	dir := t.TempDir()
	writePerovskite(t, dir, b.URL)

	plant := trial.Command(t, dir, "plant", "perovskite.toml")
	var plantSays hosttest.Buffer
	plant.Stderr = &plantSays
	if err := plant.Start(); err != nil {
		t.Fatal(err)
	}
	defer plant.Process.Kill() // only where the test failed before its end
	plantSays.WaitFor(t, "serving device laboratory: mqtt at "+b.URL)

	probe := trial.Command(t, dir, "check", "--probe", "perovskite.toml")
	table, err := probe.CombinedOutput()
	if err != nil || !strings.Contains(string(table), "laboratory.cs") {
		t.Fatalf("check --probe: %v\n%s", err, table)
	}

	run := trial.Command(t, dir, "run", "perovskite.toml", "--json")
	var out, says bytes.Buffer
	run.Stdout, run.Stderr = &out, &says
	if err := run.Run(); err != nil {
		t.Fatalf("run: %v\n%s%s", err, out.String(), says.String())
	}
	checkPerovskite(t, out.Bytes())

	if err := plant.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := plant.Wait(); err != nil {
		t.Errorf("the plant ended with %v\n%s", err, plantSays.String())
	}
	plantSays.WaitFor(t, "ended, its devices are at their safe values")
}

// writePerovskite writes the sample with this broker, and a faster laboratory.
func writePerovskite(t *testing.T, dir, url string) {
	t.Helper()
	text := trial.SampleText(t, "perovskite")
	text = trial.WithKey(t, text, "broker", strconv.Quote(url)+"\nconnect_timeout = \"1m\"")
	text = trial.WithKey(t, text, "max_age", `"1m"`)
	text = strings.ReplaceAll(text, "readback = { tolerance = 0.001 }", "readback = { tolerance = 0.001, timeout = \"1m\" }")
	text = trial.WithKey(t, text, "tick", `"20ms"`)
	text = trial.WithKey(t, text, "steps", "15")
	text = trial.WithKey(t, text, "data", "\"perovskite\"\nbatch = \"60ms\"")
	if err := os.WriteFile(filepath.Join(dir, "perovskite.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkPerovskite looks at what a run printed: every step is valid and at a
// mixture that was measured, and the achieved setting is the one applied.
func checkPerovskite(t *testing.T, lines []byte) {
	t.Helper()
	table, err := sim.LoadTable("perovskite")
	if err != nil {
		t.Fatal(err)
	}
	steps, results := 0, 0
	for line := range bytes.Lines(lines) {
		var l struct {
			Type        string
			Applied, X  map[string]float64
			Mean        float64
			Valid       bool
			Problem     string
			Recommended map[string]float64
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		setting := l.X
		switch l.Type {
		case "step":
			steps++
			if !l.Valid {
				t.Errorf("step %d: %s", steps, l.Problem)
			}
			for name, x := range l.X {
				// The readback's tolerance is 0.001.
				if d := x - l.Applied[name]; d > 0.001 || d < -0.001 {
					t.Errorf("step %d: %s is at %v, wanted at %v", steps, name, x, l.Applied[name])
				}
			}
		case "result":
			results++
			setting = l.Recommended
		}
		if !slices.ContainsFunc(table.Rows, func(row []float64) bool {
			// The readback's tolerance again.
			return math.Abs(row[0]-setting["caesium"]) < 0.002 && math.Abs(row[1]-setting["formamidinium"]) < 0.002 &&
				math.Abs(row[2]-setting["methylammonium"]) < 0.002
		}) {
			t.Errorf("%s line: nobody measured %v", l.Type, setting)
		}
	}
	if steps != 15 || results != 1 {
		t.Errorf("%d steps and %d results, want 15 and 1", steps, results)
	}
}

// TestRunWithoutBroker: a broker that is not there is an instrument that is not
// there.
func TestRunWithoutBroker(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	b.Stop()
	dir := t.TempDir()
	writePerovskite(t, dir, b.URL)
	file := filepath.Join(dir, "perovskite.toml")
	if err := os.WriteFile(file, []byte(strings.Replace(trial.ReadFile(t, file), `connect_timeout = "1m"`, `connect_timeout = "2s"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out, err := trial.Command(t, dir, "run", "perovskite.toml").CombinedOutput()
	if code := trial.CodeOf(err); code != fault.ExitInstrument {
		t.Errorf("exit code %d, want %d\n%s", code, fault.ExitInstrument, out)
	}
	t.Logf("after %v:\n%s", time.Since(begin), out)
	if !strings.Contains(string(out), "tuner: error: instrument failed: open device \"laboratory\"") {
		t.Errorf("the error does not name the device:\n%s", out)
	}
}
