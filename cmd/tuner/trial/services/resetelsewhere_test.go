package services

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestResetFromElsewhere: where nothing of a run is here, its running tuner is asked; where
// there is no broker either, it is said where the state would be.
func TestResetFromElsewhere(t *testing.T) {
	t.Parallel()
	file, text := writeService(t)
	reset := func() (int, string) {
		e, out, errOut, _ := hosttest.Env("reset", file)
		e.Now, e.Slowness = time.Now, 1 // nobody answers there: no patience is long enough
		return commands.Execute(t.Context(), e), out.String() + errOut.String()
	}
	if code, said := reset(); code != fault.ExitOK || !strings.Contains(said, "nothing is latched: there is no ") {
		t.Errorf("without a broker: exit code %d, %s", code, said)
	}
	for _, name := range []string{"service.control-a", "service.control-b"} {
		_ = os.Remove(filepath.Join(filepath.Dir(file), name)) // the first one may have made neither
	}
	with := text + "\n[mqtt]\nbroker = \"tcp://127.0.0.1:1\"\ncommands = true\n"
	if err := os.WriteFile(file, []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := reset(); code != fault.ExitInstrument || !strings.Contains(said, "there is no control state here (") {
		t.Errorf("with a broker that is not there: exit code %d, %s", code, said)
	}
}
