package brokers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestStrikeWheneverARunWaits: steps are struck while a run waits for its resume, is paused, is held
// because its instrument is silent, and measures its comparison, and when no process is there. Each is on record, the next decision
// goes by it, and the run replays; what changes decisions is refused where none follows.
func TestStrikeWheneverARunWaits(t *testing.T) {
	t.Parallel()
	if !testsize.Whole() {
		t.Skip("takes long: TUNER_TESTS=whole runs it")
	}
	dir := alone(t, "oven-struck", "")
	path := filepath.Join(dir, "oven.toml")
	text := strings.Replace(trial.ReadFile(t, path), `kind = "random"`, "kind = \"gp-ucb\"\ninitial = { steps = 3 }", 1)
	text = strings.Replace(text, "steps = 100000", "steps = 100000\nverify = 16", 1)
	text = strings.Replace(text, "[safety]\n", "[safety]\ncomms_timeout = \"3s\"\n", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "oven-struck.db")
	ask := func(line, want string, code int) {
		t.Helper()
		out, errs, got := tell(t, dir, strings.Fields(line)...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%s: %d\n%s%s\nwant %d, %q", line, got, out, errs, code, want)
		}
	}
	run := startTuner(t, dir, "run", "oven.toml")
	awaitSteps(t, record, 0, 6)
	ask("strike oven-struck.db 1", "its run goes on: name the run, or its file", 6)
	if err := run.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	ask("strike oven-struck.db 1", "struck: step 1", 0)

	run = startTuner(t, dir, "run", "--resume", "hold", "oven.toml")
	await(t, dir, "oven-struck", "waiting")
	ask("strike oven-struck 2", "struck: step 2: from step ", 0)
	_, before := steps(t, record)
	ask("resume oven-struck", "", 0)
	awaitSteps(t, record, 0, before+1)
	ask("pause oven-struck", "paused", 0)
	ask("strike oven-struck 3", "struck: step 3: from step ", 0)
	ask("strike oven-struck 3", "struck already", 1)
	_, before = steps(t, record)
	ask("resume oven-struck", "", 0)
	awaitSteps(t, record, 0, before+2)

	instrument := childOf(t, run.cmd.Process.Pid)
	if err := syscall.Kill(instrument, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await(t, dir, "oven-struck", "held")
	ask("strike oven-struck 5", "struck: step 5: from step ", 0)
	ask("status oven-struck", ", 4 struck", 0) // what was struck while no process was there counts as well
	if err := syscall.Kill(instrument, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_, before = steps(t, record)
	awaitSteps(t, record, 0, before+1)
	ask("set-best oven-struck", "the search ends", 0)
	_, before = steps(t, record)
	awaitSteps(t, record, 0, before+1)
	ask("strike oven-struck 4", "struck: step 4: from step ", 0)
	ask("narrow oven-struck power=1:8", "the search has ended: no decision follows", 1)
	ask("try oven-struck power=3", "the search has ended: no step follows", 1)
	ask("strike oven-struck 90000", "is not there", 1)
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	r, err := journal.OpenReader(record)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if struck, err := r.Struck(); err != nil || len(struck) != 5 {
		t.Errorf("struck: %v, %v", struck, err)
	}
	ask("replay oven-struck.db", "come out as they were recorded, to the last bit", 0)
}

// childOf is the process that another one has started.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		for _, child := range strings.Fields(trial.ReadFile(t, task)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("process %d has no child", pid)
	return 0
}
