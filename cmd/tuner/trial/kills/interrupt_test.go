package kills

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
)

// A run that goes on and is interrupted before it has driven anything says where the
// actuators are: exit code 7 where the process before was killed and has left them as they
// were, 130 where that one brought them to rest.
func TestInterruptedWhileItBegins(t *testing.T) {
	c := newCampaign(t, nil, heater())
	interrupt := func(point string) (code int, says string) {
		t.Helper()
		cmd := trial.Command(t, c.dir, "run", "kill.toml")
		cmd.Env = append(os.Environ(), "TUNER_FAILPOINT="+point, "TUNER_FAILSIGNAL=INT")
		var out bytes.Buffer
		cmd.Stderr = &out
		_ = cmd.Run() // its exit code is what is looked at
		awaitChildren(t, filepath.Join(c.dir, c.log))
		return cmd.ProcessState.ExitCode(), out.String()
	}
	c.runAndKill(c.dir, "before-write@3", 2*time.Minute)
	heard, err := os.ReadFile(filepath.Join(c.dir, c.log))
	if err != nil {
		t.Fatal(err)
	}
	code, says := interrupt("taken-up@1")
	if code != fault.ExitUnsafe || !strings.Contains(says, "stopping: this process has written nothing") ||
		!strings.Contains(says, "the record does not say that the one before brought the actuators to rest") || !strings.Contains(says, "hint: tuner make-safe CONFIG") {
		t.Errorf("after a kill: exit code %d\n%s", code, says)
	}
	after, err := os.ReadFile(filepath.Join(c.dir, c.log))
	if err != nil || strings.Contains(string(after[len(heard):]), `"op":"write"`) {
		t.Errorf("it wrote: %s, %v", after[len(heard):], err)
	}

	// While the decisions are replayed, before a device is opened.
	e, _, errOut, _ := hosttest.Env("run", filepath.Join(c.dir, "kill.toml"))
	e.Lookup = func(name string) (string, bool) { return c.dir, name == "STATE_DIRECTORY" }
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if code := commands.Execute(ended, e); code != fault.ExitUnsafe || !strings.Contains(errOut.String(), "the record does not say that the one before brought the actuators to rest") {
		t.Errorf("while it is brought to where it was: exit code %d\n%s", code, errOut.String())
	}

	if code, says := interrupt("after-write@1"); code != fault.ExitInterrupted || !strings.Contains(says, "at its safe value") {
		t.Errorf("in the middle: exit code %d\n%s", code, says)
	}
	e, _, errOut, _ = hosttest.Env("run", filepath.Join(c.dir, "kill.toml"))
	e.Lookup = func(name string) (string, bool) { return c.dir, name == "STATE_DIRECTORY" }
	if code := commands.Execute(ended, e); code != fault.ExitInterrupted || strings.Contains(errOut.String(), "as they were") {
		t.Errorf("after an end in order: exit code %d\n%s", code, errOut.String())
	}
}

// TestInterruptedAboveItsExposure: an actuator that the file leaves where it is at the end comes down to
// what it may be above for a time only, and the process says so.
func TestInterruptedAboveItsExposure(t *testing.T) {
	v := heater()
	v.file = strings.NewReplacer(`shutdown = "safe"`, "shutdown = \"hold\"\nexposure = { above = 1.5, time = \"1h\" }", "range = [0.0, 9.0]", "range = [1.5, 9.0]",
		`"oven.log"]`, `"oven.log", "holds@0"]`).Replace(v.file)
	c := newCampaign(t, nil, v)
	cmd := trial.Command(t, c.dir, "run", "kill.toml")
	cmd.Env = append(os.Environ(), "TUNER_FAILPOINT=after-write@3", "TUNER_FAILSIGNAL=INT")
	var out bytes.Buffer
	cmd.Stderr = &out
	_ = cmd.Run() // its exit code is what is looked at
	awaitChildren(t, filepath.Join(c.dir, c.log))
	if code := cmd.ProcessState.ExitCode(); code != fault.ExitInterrupted || !strings.Contains(out.String(), "actuator power: at 1.5 W, above which it may be for a time only") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
	heard := trial.ReadFile(t, filepath.Join(c.dir, c.log))
	at := strings.LastIndex(heard, `"op":"write"`)
	if at < 0 || !strings.Contains(heard[at:], `"power":1.5}`) {
		t.Errorf("it was told %s", heard)
	}
}
