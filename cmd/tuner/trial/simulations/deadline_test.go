package simulations

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestSimulationsKeepTheDeadline: a simulation cuts decisions as a run would, the same ones at each time, says so, and
// its journal replays; with a deadline that is long enough it cuts none; --as-measured says what a unit takes here.
func TestSimulationsKeepTheDeadline(t *testing.T) {
	dir := t.TempDir()
	of := smallLaser{steps: 16, policy: []string{`kind = "rahbo"`, "risk = 0.1", `deadline = "250us"`}}
	short, long := filepath.Join(dir, "short.toml"), filepath.Join(dir, "long.toml")
	write(t, short, of.text())
	of.policy[2] = `deadline = "1s"`
	write(t, long, of.text())
	first, told := cuts(t, short, filepath.Join(dir, "first.db"))
	again, _ := cuts(t, short, filepath.Join(dir, "again.db"))
	if len(first) == 0 || !slices.Equal(first, again) {
		t.Errorf("cut decisions %v, then %v", first, again)
	}
	if !strings.Contains(told, "the deadline of 250µs has cut the search of step") {
		t.Errorf("nothing is said of it: %s", told)
	}
	e, out, errOut, _ := hosttest.Env("replay", filepath.Join(dir, "first.db"))
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
		t.Errorf("replay ends with code %d: %s%s", code, out, errOut)
	}
	if none, _ := cuts(t, long, filepath.Join(dir, "long.db")); len(none) > 0 {
		t.Errorf("with a second, cut decisions %v", none)
	}
	if _, told := cuts(t, long, filepath.Join(dir, "here.db"), "--as-measured"); !strings.Contains(told, "a unit of work takes") || !strings.Contains(told, "times what the table has") {
		t.Errorf("as measured: %s", told)
	}
}

// cuts simulates a file and returns the steps whose decisions were cut, and what was told on the way.
func cuts(t *testing.T, file, path string, flags ...string) (steps []int, told string) {
	t.Helper()
	e, _, errOut, _ := hosttest.Env(append([]string{"simulate", file, "--journal", path}, flags...)...)
	if code := commands.Execute(t.Context(), e); code != fault.ExitOK {
		t.Fatalf("simulate ends with code %d: %s", code, errOut)
	}
	export, out, failed, _ := hosttest.Env("export", path, "--format", "jsonl", "--all")
	if code := commands.Execute(t.Context(), export); code != fault.ExitOK {
		t.Fatalf("export ends with code %d: %s", code, failed)
	}
	for line := range strings.Lines(out.String()) {
		var d struct {
			Type string `json:"type"`
			N    int    `json:"n"`
			Cut  bool   `json:"cut"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.Type == "decision" && d.Cut {
			steps = append(steps, d.N)
		}
	}
	return steps, errOut.String()
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
