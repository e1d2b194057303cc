package export

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// python runs a script of the repository, and gives what it printed. ok is false where
// there is no Python, or one without a module that the script needs.
func python(t *testing.T, stdin io.Reader, args ...string) (out string, ok bool) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Logf("not shown here: %v", err)
		return "", false
	}
	var stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	b, err := cmd.Output()
	if err != nil && strings.Contains(stderr.String(), "ModuleNotFoundError") {
		t.Logf("not shown here: %s", stderr.String())
		return "", false
	}
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return string(b), true
}

// old copies a journal of version 1 to a folder of its own.
func old(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	journaltest.CopyFile(t, "../testdata/v1-unfinished.db", path)
	return path
}

// rows is what read_run.py gives.
type rows struct {
	Name  string
	Units map[string]string
	Steps []map[string]any
}

// scripts/read_run.py gives the same rows and units from a journal, while it is written,
// as from the tables that are exported of it.
func TestReadRunScript(t *testing.T) {
	path := twoSessions(t)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	units := func(describe func(io.Writer, *journal.Reader) error) []byte {
		var b bytes.Buffer
		if err := describe(&b, journaltest.MustRead(t, path)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for what, table := range map[string]string{"steps": write("steps.csv", mustExport(t, path, CSV)), "shots": write("shots.csv", mustExport(t, path, ShotsCSV))} {
		write("steps.units.json", units(WriteUnits))
		write("shots.units.json", units(WriteShotUnits))
		var of [2]rows
		for i, file := range []string{path, table} {
			text, ok := python(t, nil, "../../../scripts/read_run.py", file, what, "--json")
			if !ok {
				return
			}
			if err := json.Unmarshal([]byte(text), &of[i]); err != nil {
				t.Fatal(err)
			}
		}
		// What one of them does not have.
		for _, step := range of[1].Steps {
			for _, name := range []string{"elapsed_s", "by", "struck", "reason", "cut"} {
				delete(step, name)
			}
			if what == "shots" {
				delete(step, "time")
			}
		}
		for _, name := range []string{"elapsed_s", "by", "struck", "reason", "cut"} {
			delete(of[1].Units, name)
		}
		if what == "shots" {
			delete(of[1].Units, "time")
		}
		if len(of[0].Steps) < 5 || !reflect.DeepEqual(of[0], of[1]) {
			t.Errorf("%s: the journal gives\n%v\nthe table\n%v", what, of[0], of[1])
		}
	}
	if text, ok := python(t, nil, "../../../scripts/read_run.py", old(t)); ok && !strings.Contains(text, "bench: 6 rows, 6 of the search, 5 of these valid") {
		t.Errorf("a journal of version 1: %s", text)
	}
	const frame = `import sys; sys.path.insert(0, "../../../scripts"); import pandas, read_run
f = read_run.read(sys.argv[1]).frame(); print(len(f), f.attrs["units"]["x_current"], f["mean"].dtype, f["time"].dtype)`
	if text, ok := python(t, nil, "-c", frame, path); ok && !strings.HasPrefix(text, "5 A float64 datetime64[") {
		t.Errorf("as a frame: %s", text)
	}
}

// The documents pass Bluesky's own schemas, where its package is installed.
func TestBlueskySchemas(t *testing.T) {
	path, j := journaltest.Demo(t, 3*journaltest.OpsPerStep)
	if err := j.Finish("steps", []byte("{}"), journaltest.After(0)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{path: "sound: 3 of primary, 12 of shots; ended by steps", twoSessions(t): "not ended"} {
		out, ok := python(t, bytes.NewReader(mustExport(t, file, Bluesky)), "../../../scripts/check_bluesky.py")
		if ok && !strings.Contains(out, want) {
			t.Errorf("got %q, want %q", out, want)
		}
	}
}

// A shot that is recorded between two of the script's queries is in none of them.
func TestReadRunScriptWhileShotsCome(t *testing.T) {
	content, err := os.ReadFile(twoSessions(t))
	path := filepath.Join(t.TempDir(), "copy.db")
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	const racing = `import sys; sys.path.insert(0, "../../../scripts"); import sqlite3, read_run
connect, path = sqlite3.connect, sys.argv[1]
other = connect(path)
other.execute("PRAGMA journal_mode = wal")
class Watched(sqlite3.Connection):
    def execute(self, sql, *rest):
        if "FROM shot_value" in sql:
            other.execute("INSERT INTO shot SELECT step, n + 1000, objective, session, mono_ns, wall_ns, crc FROM shot LIMIT 1")
            other.execute("INSERT INTO shot_value SELECT step, shot + 1000, variable, x, crc FROM shot_value LIMIT 1")
            other.commit()
        return super().execute(sql, *rest)
before = len(read_run.read(path, "shots").steps)
sqlite3.connect = lambda *a, **k: connect(*a, factory=Watched, **k)
print(before, len(read_run.read(path, "shots").steps), before > 0)`
	if text, ok := python(t, nil, "-c", racing, path); ok {
		if words := strings.Fields(text); len(words) != 3 || words[0] != words[1] || words[2] != "True" {
			t.Errorf("before and while a shot came: %s", text)
		}
	}
}
