package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
)

// What a tuner of schema version 1 left when it was killed in the sixth step goes on with
// this one, by a configuration that was changed meanwhile, and every decision of both
// sessions derives from the journal, each by its own configuration.
func TestResumesAJournalOfVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "bench.db")
	content, err := os.ReadFile("../../loop/journal/testdata/v1-unfinished.db")
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(r.Run().ConfigText)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(text, "steps = 12", "steps = 9\nverify = 0", 1)
	changed = strings.Replace(changed, `initial = { steps = 4 }`, "initial = { steps = 4 }\nconfidence = \"constant\"\nbeta = 5.0", 1)
	if changed == text || !strings.Contains(changed, "beta = 5.0") || !strings.Contains(changed, "steps = 9") {
		t.Fatalf("the configuration of the old journal is another: %s", changed)
	}
	file := filepath.Join(dir, "bench.toml")
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		e, out, errOut, _ := testEnv(args...)
		e.lookup = func(name string) (string, bool) { return dir, name == "STATE_DIRECTORY" }
		if code := execute(context.Background(), e); code != 0 {
			t.Fatalf("tuner %s: exit code %d: %s", strings.Join(args, " "), code, errOut.String())
		}
		return out.String() + errOut.String()
	}
	if got := run("replay", path); !strings.Contains(got, "bench: 6 decisions derive as they were recorded") {
		t.Errorf("before: %s", got)
	}
	got := run("run", file)
	for _, want := range []string{"after 6 steps; step 6 was in flight and counts as unknown", "the configuration was changed since the last session",
		"bench: run by gp-ucb over 9 steps"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in: %s", want, got)
		}
	}
	if got := run("replay", path); !strings.Contains(got, "bench: 9 decisions derive as they were recorded") {
		t.Errorf("after: %s", got)
	}
	for _, format := range []string{"csv", "jsonl"} {
		if lines := strings.Count(run("export", path, "--format", format), "\n"); lines != 10 { // header or result, and nine steps
			t.Errorf("%s has %d lines", format, lines)
		}
	}
}
