package brokers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal"
)

// steps are the settings of a journal's steps, with the number of those that a person has decided.
func steps(t *testing.T, path string) (persons []string, all int) {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		return nil, 0 // it is being made
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		if all++; s.Concluded {
			if by, ok := s.Decision.Person(); ok {
				persons = append(persons, fmt.Sprintf("%g %v %d", s.Decision.Requested[0], s.Outcome.Valid, by.Command))
			}
		}
	}
	return persons, all
}

// awaitSteps waits until a journal has n steps of persons, and more than a number of steps in all.
func awaitSteps(t *testing.T, path string, n, more int) []string {
	t.Helper()
	for limit := time.Now().Add(hosttest.Patience); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if persons, all := steps(t, path); len(persons) >= n && all > more {
			return persons
		}
	}
	persons, all := steps(t, path)
	t.Fatalf("%q of %d steps", persons, all)
	return nil
}

// TestTry: settings of a person's own are measured, learnt and recorded as such, also those that
// wait when the process is killed; what may not be set is refused; and the run replays.
func TestTry(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-try", "")
	path := filepath.Join(dir, "oven.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `kind = "random"`, "kind = \"gp-ucb\"\ninitial = { design = \"sobol\", steps = 3 }", 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "table.csv"), []byte("power\n1.5\n2.5\n3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "oven-try.db")
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven.toml", "running")
	for _, c := range []struct {
		args, out, errs string
		code            int
	}{
		{"try oven.toml power=12", "", "try was refused (bad-args): power = 12 W is outside its range, 0 to 9 W", 1},
		{"try oven.toml pwoer=1", "", `there is no variable "pwoer"; there are power`, 1},
		{"try oven.toml power=much", "", `power = "much" is to be a number`, 3},
		{"try oven.toml", "", "name a setting", 3},
		{"try oven.toml power=1 --rest here", "", `rest is "here"`, 1},
		{"try oven.toml power=5.25 --reason curious", "try: power = 5.25 W: tried after the present step", "", 0},
		{"pause oven.toml", "pause: paused", "", 0},
		{"try oven-try --csv table.csv --shots 3", "try: power = 3.5 W: tried after the", "", 0},
		{"try oven-try power=7.5 --times 2", "power = 7.5 W, 2 times", "", 0},
	} {
		out, errs, code := tell(t, dir, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: %d\n%s%s", c.args, code, out, errs)
		}
		if strings.Contains(c.args, "curious") {
			awaitSteps(t, record, 1, 0) // one that is being measured when the process is killed counts as unknown
		}
	}
	if err := run.cmd.Process.Kill(); err != nil { // while the others wait
		t.Fatal(err)
	}
	run.exits(t)
	run = startTuner(t, dir, "run", "oven.toml")
	got := awaitSteps(t, record, 6, 18)
	settings := make([]string, len(got))
	for i := range got {
		settings[i] = strings.Fields(got[i])[0]
		if !strings.Contains(got[i], "true") {
			t.Errorf("%s: not measured", got[i])
		}
	}
	if all := strings.Join(settings, " "); all != "5.25 1.5 2.5 3.5 7.5 7.5" {
		t.Errorf("tried %s", all)
	}
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	out, errs, code := tell(t, dir, "replay", record)
	if code != 0 || !strings.Contains(out, "6 were a person's") {
		t.Errorf("replay: %d\n%s%s", code, out, errs)
	}
}
