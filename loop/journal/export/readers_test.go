package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// pandas, polars, xarray, DuckDB and Bluesky's event model read what every kind of journal holds, and give
// the same numbers. What is not installed is not run, and said to be: with the packages
// that scripts/check_readers.py names in a virtual environment,
//
//	PATH=VENV/bin:$PATH go test ./loop/journal/export -run TestOtherReaders -v
func TestOtherReaders(t *testing.T) {
	finished, j := journaltest.Demo(t, 9*journaltest.OpsPerStep)
	if err := j.Finish("steps", []byte("{}"), journaltest.After(0)); err != nil {
		t.Fatal(err)
	}
	running, _ := journaltest.Demo(t, 4*journaltest.OpsPerStep+3)
	empty, _ := journaltest.Demo(t, 0)
	early, _ := journaltest.Demo(t, 10) // its files are those of a process that was killed then
	for _, c := range []struct{ name, path string }{
		{"finished", finished}, {"running", running}, {"empty", empty}, {"in its second step", early}, {"of two sessions", twoSessions(t)}, {"of version 1", old(t)},
	} {
		dir := t.TempDir()
		for _, part := range []string{"", "-wal"} {
			content, err := os.ReadFile(c.path + part)
			if os.IsNotExist(err) {
				continue
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "run.db"+part), content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		copied := filepath.Join(dir, "run.db")
		for file, f := range map[string]Format{"steps.csv": CSV, "shots.csv": ShotsCSV, "steps.jsonl": JSONL, "bluesky.jsonl": Bluesky, "steps.parquet": Parquet, "shots.parquet": ShotsParquet} {
			if err := os.WriteFile(filepath.Join(dir, file), mustExport(t, copied, f), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, ok := python(t, nil, "../../../scripts/check_readers.py", dir)
		if !ok {
			return
		}
		t.Logf("%s:\n%s", c.name, out)
		if n := strings.Count(out, "\n"); n != 8 || strings.Count(out, " agree\n")+strings.Count(out, "pass the schemas\n")+strings.Count(out, ": NOT RUN: ") != n-1 {
			t.Errorf("%s: not every tool has a line", c.name)
		}
	}
}
