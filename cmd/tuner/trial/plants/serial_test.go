package plants

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/scripts/testsize"
)

// serialLaser is a laser with two knobs; its meter and its stage are on serial
// lines.
const serialLaser = `schema = 1
name = "beam"
seed = 11
tick = "20ms"

[plant]
kind = "laser"

[objective]
sensor = "pulse_energy"
goal = "maximize"
shots = 3

[[sensor]]
name = "pulse_energy"
unit = "mJ"
device = "meter"
channel = "energy"
range = [0.0, 20.0]
max_age = "1m"

[[variable]]
name = "mirror_x"
unit = "mrad"
range = [-2.0, 2.0]
start = -1.5
resolution = 0.001
device = "stage"
channel = "mx"
readback = { tolerance = 0.02, timeout = "1m" }
settle = "100ms"

[[variable]]
name = "mirror_y"
unit = "mrad"
range = [-2.0, 2.0]
start = -1.5
resolution = 0.001
device = "stage"
channel = "my"
readback = { tolerance = 0.02, timeout = "1m" }
settle = "100ms"

[cost]
unit = "shots"
per_shot = 1.0

[policy]
kind = "gp-ucb"
initial = { steps = 5 }
deadline = "30s"

[stop]
steps = 24

[safety.variable.mirror_x]
hard = [-2.5, 2.5]
slew = 20.0
safe = 0.0
[safety.variable.mirror_y]
hard = [-2.5, 2.5]
slew = 20.0
safe = 0.0

[safety]
safe_wait = "1m"

[[device]]
name = "meter"
driver = "serial"
profile = "energy-meter"
port = "meter.port"
reply_timeout = "30s"
write_timeout = "30s"

[[device]]
name = "stage"
driver = "serial"
port = "stage.port"
reply_timeout = "30s"
write_timeout = "30s"
identify = { out = "ID?", match = "^STAGE" }
[device.channel.mx]
read = { out = "R 1", in = "R1=%f" }
write = { out = "M 1 %.3f", ack = "^OK$" }
[device.channel.my]
read = { out = "R 2", in = "R2=%f" }
write = { out = "M 2 %.3f", ack = "^OK$" }
`

// ended is the last line of a run.
type ended struct {
	Type        string
	Recommended map[string]float64
	ControlSet  []string `json:"control_set"`
	Mean        float64
	Baseline    struct{ Mean float64 }
	Truth       struct{ Value, Range, Regret float64 }
}

// lastLine reads the result of what a run printed, and counts its valid steps.
func lastLine(t *testing.T, lines []byte) (result ended, valid int) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var l struct {
			ended
			Valid   bool
			Problem string
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case l.Type == "result":
			result = l.ended
		case l.Valid:
			valid++
		default:
			t.Errorf("a step is not valid: %s", l.Problem)
		}
	}
	return result, valid
}

// TestRunOverSerialLines tunes the simulated laser that another process serves on
// two pseudo-terminals, and compares with simulate, which knows the truth.
func TestRunOverSerialLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := serialLaser
	// How the lines share the processor decides which noise a shot meets, so the result varies.
	// Simulated with seeds 1 to 60, 24 steps of three shots end at most 0.15 of the range short
	// of the optimum, and 12 steps that are not compared 0.26. The search begins at 0.53.
	bound := 0.25
	if !testsize.Whole() { // the stage travels for most of the time
		text, bound = trial.WithKey(t, text, "steps", "12\nverify = 0"), 0.35
	}
	if err := os.WriteFile(filepath.Join(dir, "beam.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plant := trial.Command(t, dir, "plant", "beam.toml")
	var plantSays hosttest.Buffer
	plant.Stderr = &plantSays
	if err := plant.Start(); err != nil {
		t.Fatal(err)
	}
	defer plant.Process.Kill() // only where the test failed before its end
	plantSays.WaitFor(t, "serving device meter: serial at meter.port")
	plantSays.WaitFor(t, "serving device stage: serial at stage.port")
	waitForPorts(t, dir, "meter.port", "stage.port")

	table, err := trial.Command(t, dir, "check", "--probe", "beam.toml").CombinedOutput()
	if err != nil || !strings.Contains(string(table), "stage.mx") {
		t.Fatalf("check --probe: %v\n%s", err, table)
	}

	run := trial.Command(t, dir, "run", "beam.toml", "--json")
	var out, says bytes.Buffer
	run.Stdout, run.Stderr = &out, &says
	if err := run.Run(); err != nil {
		t.Fatalf("run: %v\n%s%s\nplant: %s", err, out.String(), says.String(), plantSays.String())
	}
	got, steps := lastLine(t, out.Bytes())
	simulated, err := trial.Command(t, dir, "simulate", "beam.toml", "--json").Output()
	if err != nil {
		t.Fatalf("simulate: %v", err)
	}
	want, _ := lastLine(t, simulated)
	t.Logf("run found %v with %.2f mJ from %.2f mJ; simulate %v with %.2f mJ; the optimum is %.2f mJ of a range of %.2f mJ",
		got.Recommended, got.Mean, got.Baseline.Mean, want.Recommended, want.Mean, want.Truth.Value, want.Truth.Range)
	if steps == 0 {
		t.Error("no step was valid")
	}
	if short := want.Truth.Value - got.Mean; short > bound*want.Truth.Range {
		t.Errorf("the setting found is %.2f mJ short of the optimum", short)
	}

	if err := plant.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := plant.Wait(); err != nil {
		t.Errorf("the plant ended with %v\n%s", err, plantSays.String())
	}
	for _, name := range []string{"meter.port", "stage.port"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("the plant left its link %s behind", name)
		}
	}
}

// waitForPorts waits until a plant's links lead somewhere.
func waitForPorts(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		for limit := time.Now().Add(hosttest.Patience); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("there is no port %s after %v", name, hosttest.Patience)
			}
		}
	}
}
