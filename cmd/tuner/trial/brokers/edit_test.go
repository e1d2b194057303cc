package brokers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestEdit: a running tuner is changed by commands over its socket; what cannot be is refused
// and says why; a killed process leaves what was changed to the next one; and the run replays.
func TestEdit(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-edit", "")
	path := filepath.Join(dir, "oven.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `kind = "random"`, "kind = \"gp-ucb\"\ninitial = { design = \"sobol\", steps = 3 }", 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "oven-edit.db")
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven.toml", "running")
	awaitSteps(t, record, 0, 4)
	for _, c := range []struct {
		args, out, errs string
		code            int
	}{
		{"strike oven.toml", "", "say what", 3},
		{"strike oven.toml x", "", `"x" is to be a step`, 3},
		{"strike oven.toml 2,3 --reason shutter", "strike: struck: steps 2, 3: from step ", "", 0},
		{"strike oven-edit 3,9000", "", `step 3 is struck already, by "`, 1},
		{"strike oven-edit 9000", "", "step 9000 is not there: the last one is", 1},
		{"unstrike oven-edit 1", "", "step 1 is not struck", 1},
		{"unstrike oven-edit 2", "unstrike: no longer struck: step 2: from step ", "", 0},
		{"strike oven-edit --sensor-saturated nobody", "", `there is no sensor "nobody"`, 1},
		{"narrow oven-edit power=-1:5", "", "is not inside its present range, [0, 9] W", 1},
		{"narrow oven-edit power=2:8", "narrow: the range of power is [2, 8] W (was [0, 9] W)", "", 0},
		{"widen oven-edit power=3:9", "", "does not contain its present range, [2, 8] W", 1},
		{"widen oven-edit power=0:99", "", "reaches outside its hard limits", 1},
		{"freeze oven-edit power=5", "", "leaves nothing to tune: every variable is frozen", 1},
		{"freeze oven-edit power=9", "", "power = 9 W is outside its range, [2, 8] W", 1},
		{"free oven-edit power", "", "power is not frozen", 1},
		{"change oven-edit policy.beta=3", "", "policy.beta does not change while a run goes on; these do:", 1},
		{"change oven-edit stop.steps=0", "", "stop.steps", 1},
		{"change oven-edit stop.steps=5000 --json", `"ok":true`, "", 0},
	} {
		out, errs, code := tell(t, dir, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: %d\n%s%s", c.args, code, out, errs)
		}
	}
	_, before := steps(t, record)
	if err := run.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	run = startTuner(t, dir, "run", "oven.toml")
	awaitSteps(t, record, 0, before+3)
	if out, errs, code := tell(t, dir, "strike", "oven-edit", "3"); code != 1 || !strings.Contains(errs, "struck already") {
		t.Errorf("the next process does not know what was struck: %d\n%s%s", code, out, errs)
	}
	narrowed := [2]float64{2, 3}
	if out, errs, code := tell(t, dir, "narrow", "oven-edit", "power=2:3"); code != 0 {
		t.Errorf("narrow: %d\n%s%s", code, out, errs)
	}
	_, before = steps(t, record)
	awaitSteps(t, record, 0, before+3)
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	// What is best is looked for in the range of now, also in the journal, whose first
	// configuration had another.
	out, errs, code := tell(t, dir, "best", record, "--json")
	var best struct{ Values []float64 }
	if err := json.Unmarshal([]byte(out), &best); err != nil || code != 0 {
		t.Errorf("best: %d, %v\n%s%s", code, err, out, errs)
	} else if best.Values[0] < narrowed[0] || best.Values[0] > narrowed[1] {
		t.Errorf("best is %g W, outside %v", best.Values[0], narrowed)
	}
	if out, errs, code := tell(t, dir, "replay", record); code != 0 {
		t.Errorf("replay: %d\n%s%s", code, out, errs)
	}
	if out, errs, code := tell(t, dir, "export", record, "--format", "jsonl"); code != 0 || strings.Count(out, `"struck":"\"`) != 1 || !strings.Contains(out, "shutter") {
		t.Errorf("export: %d, %d struck\n%s", code, strings.Count(out, `"struck"`), errs)
	}
}
