package scripts

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
)

// TestProgressOnATerminal simulates in process, with a terminal on stderr: the
// progress line is drawn and gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "8")
	e, out, errOut, _ := hosttest.Env("simulate", "laser.toml")
	e.IsTerminal = func(w io.Writer) bool { return w == io.Writer(errOut) }
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(out.String(), "recommended setting") {
		t.Errorf("stdout:\n%s", out)
	}
	text := errOut.String()
	if !strings.Contains(text, "\rstep ") && !strings.Contains(text, "\r\x1b[2mstep ") {
		t.Errorf("no progress line: %q", text)
	}
	if end := text[strings.LastIndex(text, "\r")+1:]; end != "" {
		t.Errorf("something is left on the last line: %q", end)
	}
}

// writeSample writes a sample into the working folder, with one key changed.
func writeSample(t *testing.T, name, key, value string) {
	t.Helper()
	text := trial.WithKey(t, trial.SampleText(t, name), key, value)
	if err := os.WriteFile(name+".toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReaderGone: a simulation whose reader leaves ends early and says so.
func TestReaderGone(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "100000")
	e, _, errOut, _ := hosttest.Env("simulate", "laser.toml", "--json")
	r, w := io.Pipe()
	e.Stdout = w
	go func() {
		if _, err := io.ReadFull(r, make([]byte, 200)); err != nil {
			t.Error(err)
		}
		r.Close()
	}()
	if code := commands.Execute(t.Context(), e); code != fault.ExitFailure {
		t.Errorf("exit code %d", code)
	}
	j, err := journal.OpenReader("pulse-energy.simulate.db")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	// The budget pays for more than a hundred steps; the first is enough to notice.
	if s, err := j.Status(); err != nil || s.Steps > 50 {
		t.Errorf("the simulation went on for %d steps, %v", s.Steps, err)
	}
	if want := "tuner: error: write to stdout: io: read/write on closed pipe\n"; !strings.HasSuffix(errOut.String(), want) {
		t.Errorf("stderr:\n%s", errOut)
	}
}

// TestSignalInProcess: the signal comes by the env alone.
func TestSignalInProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSample(t, "laser", "steps", "100000")
	e, out, errOut, signals := hosttest.Env("simulate", "laser.toml", "--json", "--journal", filepath.Join(t.TempDir(), "x.db"))
	done := make(chan int)
	go func() { done <- commands.Execute(t.Context(), e) }()
	out.WaitFor(t, `"n":3,`)
	signals <- syscall.SIGTERM
	if code := <-done; code != fault.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(out.String(), `"reason":"interrupted"`) {
		t.Errorf("no result line:\n%s", out)
	}
}
