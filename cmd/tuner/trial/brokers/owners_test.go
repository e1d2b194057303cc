package brokers

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// TestTwoProgramsOnOneTopic: a second program that reaches the same topics by another address of
// the broker, as one on another computer would, is refused before it writes anything, and told who
// drives them and what to do; when the first has ended it runs.
func TestTwoProgramsOnOneTopic(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	first, second := t.TempDir(), t.TempDir()
	writePerovskite(t, first, b.URL)
	path := filepath.Join(first, "perovskite.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(trial.WithKey(t, string(text), "steps", "100000")), 0o600); err != nil {
		t.Fatal(err)
	}
	writePerovskite(t, second, "tcp://"+newCable(t, strings.TrimPrefix(b.URL, "tcp://")).address)
	plant := trial.Command(t, first, "plant", "perovskite.toml")
	var plantSays hosttest.Buffer
	plant.Stderr = &plantSays
	if err := plant.Start(); err != nil {
		t.Fatal(err)
	}
	defer plant.Process.Kill()
	plantSays.WaitFor(t, "serving device laboratory: mqtt at "+b.URL)
	holder := startTuner(t, first, "run", "perovskite.toml", "--json")
	holder.says.WaitFor(t, `"type":"step"`)
	_, says, code := tell(t, second, "run", "perovskite.toml")
	for _, want := range []string{"is driven by another tuner: run ", "perovskite.db", "tuner: hint: wait until that run has ended, or end it with tuner end"} {
		if !strings.Contains(says, want) {
			t.Errorf("exit code %d, without %q:\n%s", code, want, says)
		}
	}
	if code != 5 {
		t.Errorf("exit code %d; two runs of one instrument on one computer end with 5", code)
	}
	if err := holder.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := holder.exits(t); code != 130 {
		t.Errorf("the first ended with %d", code)
	}
	if _, says, code := tell(t, second, "run", "perovskite.toml"); code != 0 {
		t.Errorf("after it: exit code %d\n%s", code, says)
	}
}
