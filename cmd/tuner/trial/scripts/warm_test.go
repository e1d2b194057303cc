package scripts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal"
)

// A run that was told of an earlier one and is interrupted goes on by what its journal
// has of that, though the file is gone; every decision derives.
func TestWarmRunResumes(t *testing.T) {
	dir := t.TempDir()
	earlier := filepath.Join(dir, "earlier.db")
	content, err := os.ReadFile("../../../../loop/journal/testdata/v1-unfinished.db")
	if err == nil {
		err = os.WriteFile(earlier, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(earlier)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`name = "bench"`, `name = "next"`, "steps = 12", "steps = 5\nverify = 0").Replace(string(r.Run().ConfigText))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	file, path := filepath.Join(dir, "next.toml"), filepath.Join(dir, "next.db")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { return dir, name == "STATE_DIRECTORY" }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e, out, errOut, _ := hosttest.Env("run", file, "--json", "--warm-start", earlier)
	e.Lookup = lookup
	ended := make(chan int)
	go func() { ended <- commands.Execute(ctx, e) }()
	out.WaitFor(t, `"type":"step","n":2`)
	cancel()
	if code := <-ended; code != 130 || !strings.Contains(errOut.String(), "earlier.db: 5 observations") {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	if err := os.Remove(earlier); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", file}, {"replay", path}} {
		e, out, errOut, _ := hosttest.Env(args...)
		e.Lookup = lookup
		if code := commands.Execute(context.Background(), e); code != 0 || !strings.Contains(out.String(), "5 steps") && !strings.Contains(out.String(), "5 decisions come out") {
			t.Fatalf("tuner %s: exit code %d: %s%s", args[0], code, out.String(), errOut.String())
		}
	}
	e, _, errOut, _ = hosttest.Env("run", file, "--warm-start", earlier)
	e.Lookup = lookup
	if code := commands.Execute(context.Background(), e); code != 3 && code != 6 {
		t.Errorf("the run is finished and its source gone: exit code %d: %s", code, errOut.String())
	}
}
