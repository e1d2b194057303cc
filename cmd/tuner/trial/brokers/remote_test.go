package brokers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// oven writes a configuration of the child as an instrument, with mqtt as the text of its
// [mqtt] section, and returns its folder.
func oven(t *testing.T, mqtt string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "child")); err != nil {
		t.Fatal(err)
	}
	text := `schema = 1
name = "oven"
site = "bench"
tick = "20ms"
[objective]
sensor = "temp"
shots = 2
[[sensor]]
name = "temp"
unit = "degC"
device = "oven"
channel = "temp"
range = [-100.0, 100.0]
max_age = "1m"
[[variable]]
name = "power"
unit = "W"
range = [0.0, 9.0]
start = 2.0
device = "oven"
channel = "power"
readback = { tolerance = 0.01, timeout = "1m" }
settle = "200ms"
[policy]
kind = "random"
[stop]
steps = 100000
[safety.variable.power]
hard = [0.0, 10.0]
slew = 1000.0
safe = 1.0
on_fault = "safe"
shutdown = "safe"
[safety]
safe_wait = "1m"
[[device]]
name = "oven"
driver = "exec"
command = ["./child", "oven.log"]
reply_timeout = "1m"
start_timeout = "1m"
exit_timeout = "1m"
[mqtt]
` + mqtt
	if err := os.WriteFile(filepath.Join(dir, "oven.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// running is a tuner as a process of its own.
type running struct {
	cmd  *exec.Cmd
	says hosttest.Buffer
}

func startTuner(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: trial.Command(t, dir, args...)}
	r.cmd.Stderr, r.cmd.Stdout = &r.says, &r.says
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // only where the test failed before its end
		if t.Failed() {
			t.Logf("the tuner said:\n%s", r.says.String())
		}
	})
	return r
}

// exits waits for the process and returns its exit code.
func (r *running) exits(t *testing.T) int {
	t.Helper()
	_ = r.cmd.Wait() // the code says it
	return r.cmd.ProcessState.ExitCode()
}

// tell runs a command line and returns what it printed and its exit code.
func tell(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs hosttest.Buffer
	cmd := trial.Command(t, dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// awaitState asks until the tuner is in a state.
func awaitState(t *testing.T, dir, want string) {
	t.Helper()
	var out, errs string
	for limit := time.Now().Add(hosttest.Patience); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if out, errs, _ = tell(t, dir, "status", "oven.toml"); strings.Contains(out, "oven at bench:") && strings.Contains(out, want) {
			return
		}
	}
	t.Fatalf("not %q within %v:\n%s%s", want, hosttest.Patience, out, errs)
}

// elsewhere copies a configuration to a folder of its own, as on another computer: by it the
// run is not found on this one, and is asked through its broker.
func elsewhere(t *testing.T, dir string) string {
	t.Helper()
	far := t.TempDir()
	for _, name := range []string{"oven.toml", "keys"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // not every oven has keys
		}
		if err := os.WriteFile(filepath.Join(far, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return far
}

// TestCommandsOverMQTT drives a run through every command line, over a real broker.
func TestCommandsOverMQTT(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	t.Logf("the broker is %s", b.Kind)
	dir := oven(t, fmt.Sprintf("broker = %q\ncommands = true\nheartbeat = \"1s\"\n", b.URL))
	if _, errs, code := tell(t, dir, "pause", "oven.toml"); code != 5 || !strings.Contains(errs, "no tuner is online: nothing was ever said on tuner/bench/oven/status") ||
		!strings.Contains(errs, "look whether tuner run goes on") {
		t.Errorf("without a tuner: %d\n%s", code, errs)
	}
	run := startTuner(t, dir, "run", "oven.toml")
	far := elsewhere(t, dir)
	awaitState(t, far, "running")
	out, errs, code := tell(t, far, "pause", "oven.toml", "--reason", "lunch")
	if code != 0 || out != "pause: paused: every actuator stays where it is until resume\n" {
		t.Errorf("pause: %d\n%s%s", code, out, errs)
	}
	awaitState(t, far, "held, paused")
	out, errs, code = tell(t, far, "set-best", "oven.toml")
	if code != 1 || !strings.Contains(errs, "tuner: error: set-best was refused (mode): paused: resume first") {
		t.Errorf("set-best: %d\n%s%s", code, out, errs)
	}
	out, _, code = tell(t, far, "status", "oven.toml", "--json")
	var doc struct {
		Type     string
		Presence struct{ State, Session string }
		Status   struct {
			Session string
			Paused  bool
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Type != "status" || !doc.Status.Paused ||
		doc.Presence.State != "online" || doc.Presence.Session != doc.Status.Session {
		t.Errorf("status --json: %v, %d\n%s", err, code, out)
	}
	if out, _, code = tell(t, far, "reset", "oven.toml"); code != 0 || out != "reset: nothing is latched\n" {
		t.Errorf("reset: %d\n%s", code, out)
	}
	if out, _, code = tell(t, far, "resume", "oven.toml", "--json"); code != 0 || !strings.Contains(out, `"ok":true`) {
		t.Errorf("resume: %d\n%s", code, out)
	}
	awaitState(t, far, "running")
	if out, errs, code = tell(t, far, "stop", "oven.toml"); code != 0 || !strings.Contains(out, "stop: made safe") {
		t.Errorf("stop: %d\n%s%s", code, out, errs)
	}
	if code := run.exits(t); code != 4 {
		t.Errorf("the run ended with %d, want 4", code)
	}
	if _, errs, code = tell(t, far, "status", "oven.toml"); code != 5 || !strings.Contains(errs, `no tuner is online: its last word is "offline"`) {
		t.Errorf("after the end: %d\n%s", code, errs)
	}
	if out, _, code = tell(t, dir, "reset", "oven.toml"); code != 0 || !strings.Contains(out, "cleared: stopped") {
		t.Errorf("reset without a tuner: %d\n%s", code, out)
	}
	log, err := os.ReadFile(filepath.Join(dir, "oven.log"))
	if err != nil || !strings.HasSuffix(strings.TrimSpace(lastWrite(string(log))), `"values":{"power":1}}`) && !strings.Contains(lastWrite(string(log)), `{"power":1}`) {
		t.Errorf("%v: the last write was %s", err, lastWrite(string(log)))
	}
	checkAsked(t, filepath.Join(dir, "oven.db"), "mqtt", []string{"pause ok", "set-best mode", "reset ok", "resume ok", "stop ok"})
}

// lastWrite is the last thing that the child was told to set.
func lastWrite(log string) (last string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"write"`) {
			last = line
		}
	}
	return last
}

// TestKilledTunerIsLost: the broker speaks the will of a process that was killed, and a
// command finds nobody.
func TestKilledTunerIsLost(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	dir := oven(t, fmt.Sprintf("broker = %q\ncommands = true\n", b.URL))
	run := startTuner(t, dir, "run", "oven.toml")
	awaitState(t, dir, "running")
	if err := run.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	var errs string
	var code int
	for limit := time.Now().Add(hosttest.Patience); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if _, errs, code = tell(t, dir, "stop", "oven.toml"); strings.Contains(errs, `its last word is "lost"`) {
			break
		}
	}
	if code != 5 || !strings.Contains(errs, `its last word is "lost"`) {
		t.Errorf("%d\n%s", code, errs)
	}
}

// TestSignedCommands: with keys in the file an unsigned command and a wrong key are
// refused, the right one acts and is named in the journal; a stop needs none.
func TestSignedCommands(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	keys := func(name, digit string) string { return name + " " + strings.Repeat(digit, 64) + "\n" }
	section := fmt.Sprintf("broker = %q\ncommands = true\nheartbeat = \"1s\"\n", b.URL)
	with := func(text string) (dir string) {
		dir = oven(t, section+"command_keys_file = \"keys\"\n")
		if err := os.WriteFile(filepath.Join(dir, "keys"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := with(keys("bob", "b") + keys("anna", "a"))
	run := startTuner(t, dir, "run", "oven.toml")
	far := elsewhere(t, dir)
	awaitState(t, far, "running")
	for what, c := range map[string]struct{ dir, code string }{
		"unsigned": {oven(t, section), "unsigned"}, "a wrong key": {with(keys("anna", "c")), "signature"}, "nobody's key": {with(keys("eve", "e")), "signature"},
	} {
		if _, errs, code := tell(t, c.dir, "pause", "oven.toml"); code != 1 || !strings.Contains(errs, "pause was refused ("+c.code+")") {
			t.Errorf("%s: %d\n%s", what, code, errs)
		}
	}
	if out, errs, code := tell(t, with(keys("anna", "a")), "pause", "oven.toml"); code != 0 {
		t.Errorf("anna's pause: %d\n%s%s", code, out, errs)
	}
	if _, errs, code := tell(t, far, "resume", "oven.toml", "--key", "carl"); code != 3 || !strings.Contains(errs, `--key "carl"`) {
		t.Errorf("no such key: %d\n%s", code, errs)
	}
	if out, errs, code := tell(t, far, "resume", "oven.toml", "--key", "anna"); code != 0 {
		t.Errorf("resume: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := tell(t, oven(t, section), "stop", "oven.toml"); code != 0 {
		t.Errorf("an unsigned stop: %d\n%s%s", code, out, errs)
	}
	if code := run.exits(t); code != 4 {
		t.Errorf("exit code %d", code)
	}
	if says := run.says.String(); !strings.Contains(says, `pause asked for by "anna" over mqtt: paused`) || strings.Contains(says, "aaaaaaaa") {
		t.Errorf("it said:\n%s", says)
	}
}
