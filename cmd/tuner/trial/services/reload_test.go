package services

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal"
)

// TestReload changes the file of a running service by SIGHUP: once narrower, once wider,
// once broken.
func TestReload(t *testing.T) {
	t.Parallel()
	file, text := writeService(t)
	var l hosttest.Listener
	e, _, errOut, signals := hosttest.Env("run", file)
	e.Manager, e.Now, e.Reload = l.Manager(0), time.Now, make(chan struct{}, 1)
	done := make(chan int)
	go func() { done <- commands.Execute(t.Context(), e) }()
	waitUntil(t, func() bool { return slices.Contains(l.Lines(), "READY=1") })

	reload := func(text, want string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := len(l.Lines())
		signals <- syscall.SIGHUP
		waitUntil(t, func() bool { return len(l.Lines()) >= before+3 })
		if got := l.Lines()[before:]; !slices.Equal(got, []string{"RELOADING=1", "MONOTONIC_USEC=90000000", "READY=1"}) {
			t.Errorf("heard %q", got)
		}
		errOut.WaitFor(t, want)
	}
	narrow := strings.Replace(text, "steps = 100000", "steps = 90000", 1)
	narrow = strings.Replace(narrow, `name = "x"
unit = "V"
range = [0.0, 1.0]`, `name = "x"
unit = "V"
range = [0.25, 0.75]`, 1)
	reload(narrow, "tuner: reloaded: changed by "+file+" (sha256 ")
	errOut.WaitFor(t, "): variable.x.range = [0.25, 0.75] (was [0.0, 1.0]); stop.steps = 90000 (was 100000)\n")
	reload(strings.Replace(narrow, "hard = [0.0, 1.0]", "hard = [0.0, 2.0]", 1), "a running tuner only narrows, and this must lie inside\n")
	errOut.WaitFor(t, "tuner: reload refused: the run goes on unchanged\n")
	reload(narrow+"\n[nonsense]\n", "nonsense")
	reload(narrow, "tuner: reload: "+file+" says nothing new\n")
	// Some steps under the narrower range, and then the end.
	first := stepOf(t, lastStatus(&l))
	waitUntil(t, func() bool { return stepOf(t, lastStatus(&l)) > first+2 })
	signals <- stopSignal
	if code := <-done; code != fault.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	narrowedRun(t, filepath.Join(filepath.Dir(file), "service.db"))
}

// narrowedRun looks at what the journal has of it.
func narrowedRun(t *testing.T, record string) {
	t.Helper()
	r, err := journal.OpenReader(record)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	told, from := false, 0
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		told = told || e.Kind == journal.EventConfiguration && strings.Contains(e.Message, "variable.x.range = [0.25, 0.75]")
		if e.Kind == journal.EventNarrowed {
			from = e.Step
		}
	}
	if !told || from == 0 {
		t.Fatalf("told %v, from step %d on", told, from)
	}
	after := 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		if s.Decision.Step < from {
			continue
		}
		after++
		if x := s.Decision.Applied[0]; x < 0.25 || x > 0.75 {
			t.Errorf("step %d goes to %g", s.Decision.Step, x)
		}
	}
	if after == 0 {
		t.Error("no step after the change")
	}
	e, out, errOut, _ := hosttest.Env("replay", record)
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK || !strings.Contains(out.String(), "to the last bit") {
		t.Errorf("replay: exit code %d\n%s%s", code, out, errOut)
	}
}
