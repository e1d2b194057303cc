package plants

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// quickFeed is the file of the script doses.txtar in real time: short batches (but long beside
// the way from a dose to a reading of what it did, on a slow machine too), a probe
// that is believed after little, six steps, and a count of what the pumps have given.
func quickFeed(t *testing.T, devices string) string {
	t.Helper()
	text, err := os.ReadFile(trial.FeedFile(t))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "[[device]]")
	for _, r := range [][2]string{
		{`tick = "1s"`, `tick = "20ms"`}, {"kind = \"dosing\"", "kind = \"dosing\"\nbatch = \"2s\""},
		{`settle = "5m"`, `settle = "40ms"`}, {`min_interval = "2m"`, `min_interval = "60ms"`}, {"steps = 40", "steps = 6"},
		{"steps = 8", "steps = 6"}, {"moves = 0.2", "moves = 1e-4"}, {"moves = -0.2", "moves = -1e-4"}, {`within = "5m"`, `within = "1m"`}, {`max_age = "10s"`, `max_age = "1m"`},
		{"hour = 60.0", "hour = 600.0"}, {"[policy]", "[[sensor]]\nname = \"dosed\"\nunit = \"mL\"\ndevice = \"bench\"\nchannel = \"dosed\"\nrange = [0.0, 1e6]\nmax_age = \"1m\"\n\n[policy]"},
	} {
		if !strings.Contains(head, r[0]) {
			t.Fatalf("%q is not in the file", r[0])
		}
		head = strings.ReplaceAll(head, r[0], r[1])
	}
	return head + "[safety]\nsafe_wait = \"1m\"\n" + devices
}

// onOneDevice puts everything on the device "pumps".
func onOneDevice(text string) string {
	return strings.ReplaceAll(text, `device = "bench"`, `device = "pumps"`)
}

// checkFeed runs the file and compares what the run has booked with what its plant has
// counted by the last shot.
func checkFeed(t *testing.T, dir string) {
	t.Helper()
	run := trial.Command(t, dir, "run", "feed.toml", "--json")
	var says bytes.Buffer
	run.Stderr = &says
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, says.String())
	}
	if _, valid := lastLine(t, out); valid < 6 {
		t.Errorf("%d valid steps\n%s", valid, says.String())
	}
	r, err := journal.OpenReader(filepath.Join(dir, "feed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	given, doses := 0.0, 0
	for a, err := range r.AllActions() {
		if err != nil {
			t.Fatal(err)
		}
		if a.Kind == "dose" {
			doses++
			for _, x := range a.Values {
				given += x
			}
			if n := len(a.Resolutions); n != 1 || a.Resolutions[0].State != journal.Confirmed || len(a.Resolutions[0].Readback) != 1 {
				t.Errorf("dose %d: %+v", a.ID, a.Resolutions)
			}
		}
	}
	counted, steps := 0.0, 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			t.Fatal(err)
		}
		steps++
		for _, shot := range shots {
			counted = max(counted, shot.Sensors[len(shot.Sensors)-1])
		}
	}
	if doses < 2*5 || math.Abs(given-counted) > 1e-6 {
		t.Errorf("%d doses in %d steps: %g mL on record, %g counted by the plant", doses, steps, given, counted)
	}
	control, err := controlstate.Open(filepath.Join(dir, "feed.control"), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	booked := 0.0
	for name, d := range control.State().Doses {
		booked += d.Total
		if d.Open || d.Unknown {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if math.Abs(booked-given) > 1e-6 {
		t.Errorf("%g mL booked, %g given", booked, given)
	}
}

// TestDosesOverExec: the plant is a child.
func TestDosesOverExec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := onOneDevice(quickFeed(t, "[[device]]\nname = \"pumps\"\ndriver = \"exec\"\ncommand = [\"sh\", \"-c\", \"exec tuner plant feed.toml\"]\nreply_timeout = \"1m\"\nstart_timeout = \"1m\"\nexit_timeout = \"1m\"\n"))
	if err := os.WriteFile(filepath.Join(dir, "feed.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFeed(t, dir)
}

// TestDosesOverLinesAndBroker: the plant is another process, behind pseudo-terminals as
// two EZO pumps and a bench, or behind a broker.
func TestDosesOverLinesAndBroker(t *testing.T) {
	t.Parallel()
	lines := `[[device]]
name = "nutrient_pump"
driver = "serial"
profile = "ezo-pump"
port = "nutrient.port"
reply_timeout = "30s"
write_timeout = "30s"

[[device]]
name = "acid_pump"
driver = "serial"
profile = "ezo-pump"
port = "acid.port"
reply_timeout = "30s"
write_timeout = "30s"

[[device]]
name = "bench"
driver = "serial"
port = "bench.port"
reply_timeout = "30s"
write_timeout = "30s"
identify = { out = "ID?", match = "^BENCH" }
[device.channel.growth]
read = { out = "G", in = "%f", none = "-" }
[device.channel.ec]
read = { out = "E", in = "%f" }
[device.channel.ph]
read = { out = "P", in = "%f" }
[device.channel.dosed]
read = { out = "D", in = "%f" }
`
	b := broker.Start(t)
	topics := `[[device]]
name = "pumps"
driver = "mqtt"
broker = "` + b.URL + `"
[device.channel.growth]
read = { topic = "feed/growth" }
[device.channel.ec]
read = { topic = "feed/ec" }
[device.channel.ph]
read = { topic = "feed/ph" }
[device.channel.dosed]
read = { topic = "feed/dosed" }
[device.channel.nutrient]
dose = true
write = { topic = "feed/nutrient/set" }
release = { topic = "feed/nutrient/stop" }
confirm = { topic = "feed/nutrient/given", timeout = "1m" }
[device.channel.acid]
dose = true
write = { topic = "feed/acid/set" }
release = { topic = "feed/acid/stop" }
confirm = { topic = "feed/acid/given", timeout = "1m" }
`
	serial := strings.NewReplacer(`device = "pumps"
channel = "nutrient"`, `device = "nutrient_pump"
channel = "dose"`, `device = "pumps"
channel = "acid"`, `device = "acid_pump"
channel = "dose"`).Replace(quickFeed(t, lines))
	for name, text := range map[string]string{"serial": serial, "mqtt": onOneDevice(quickFeed(t, topics))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "feed.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			plant := trial.Command(t, dir, "plant", "feed.toml")
			var plantSays hosttest.Buffer
			plant.Stderr = &plantSays
			if err := plant.Start(); err != nil {
				t.Fatal(err)
			}
			defer plant.Process.Kill() // only where the test failed before its end
			defer func() {
				if t.Failed() {
					t.Log(plantSays.String())
				}
			}()
			plantSays.WaitFor(t, "serving device")
			if name == "serial" {
				waitForPorts(t, dir, "nutrient.port", "acid.port", "bench.port")
			}
			checkFeed(t, dir)
			if err := plant.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := plant.Wait(); plant.ProcessState.ExitCode() != 130 && err != nil {
				t.Errorf("plant: %v\n%s", err, plantSays.String())
			}
		})
	}
}
