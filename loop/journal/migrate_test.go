package journal

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// v1Unfinished was written by a tuner that knew version 1 only, on a simulated laser in
// real time; the process was killed in the sixth step.
const v1Unfinished = "testdata/v1-unfinished.db"

// old copies the journal of version 1 to a folder of its own.
func old(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, v1Unfinished, path)
	return path
}

func version(t *testing.T, path string) int {
	t.Helper()
	return mustRead(t, path).Version()
}

// A reader takes an old file as it is and leaves it so, to the last byte.
func TestReaderReadsVersion1(t *testing.T) {
	path := old(t)
	before := copyFile(t, path, path+".copy")
	if v := version(t, path); v != 1 {
		t.Fatalf("the old journal is of version %d", v)
	}
	r := mustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Errorf("damage in a sound journal of version 1: %v", d)
	}
	status, err := r.Status()
	if err != nil || status.Steps != 6 || status.Concluded != 5 || status.Finished {
		t.Errorf("status %+v, %v", status, err)
	}
	comparisons, err := r.Comparisons()
	if err != nil || len(comparisons) != 0 {
		t.Errorf("comparisons of a version without them: %v, %v", comparisons, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("reading changed the file (%v)", err)
	}
}

// A writer brings it to the newest version. Every record stays as it was, every
// checksum holds, and the run goes on and ends.
func TestMigrateVersion1(t *testing.T) {
	path := old(t)
	before := mustDump(t, path)
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := version(t, path); v != schemaVersion || j.Session() != 2 {
		t.Errorf("version %d, session %d", v, j.Session())
	}
	const told = "brought from schema version 1 to 2"
	after := mustDump(t, path)
	kept := slices.DeleteFunc(strings.Split(after, "\n"), func(line string) bool { return strings.Contains(line, told) })
	if got := strings.Join(kept, "\n"); got != before || got == after {
		t.Errorf("the migration changed a record, or did not tell: %s", firstDifference(got, before))
	}
	nan2 := []float64{nan}
	for _, err := range []error{
		j.Conclude(Outcome{Step: 6, X: nan2, Mean: nan, Variance: nan, StandardError: nan, Problem: "unknown"}),
		j.Compare(Comparison{Number: 1, Pairs: 8, Shots: 2, Recommended: []float64{6.7}, Start: []float64{2}}),
		j.Decide(Decision{Step: 7, Requested: []float64{2}, Applied: []float64{2}, Compared: Compared{1, 1, Starting}}),
		j.Conclude(Outcome{Step: 7, X: []float64{2}, Mean: 1, Variance: nan, StandardError: nan, Shots: 1, Valid: true}),
		j.CompareResult(ComparisonResult{Comparison: 1, Verdict: "no data", Gain: nan, Low: nan, High: nan, P: nan, Document: []byte("{}")}),
		j.Finish("steps", []byte("{}"), Stamp{}), j.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mustDump(t, path) // verifies
	for _, f := range []Format{CSV, JSONL} {
		if text := string(mustExport(t, path, f)); strings.Count(text, "start") == 0 {
			t.Errorf("the %s export does not tell which setting was measured:\n%s", f, text)
		}
	}
}

// A migration that fails half way leaves the old version whole.
func TestMigrationIsOneTransaction(t *testing.T) {
	path := old(t)
	before := mustDump(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	// The last table's name is taken, so the migration fails after the other tables.
	tables := added(2)
	_, err = db.Exec("CREATE TABLE " + tables[len(tables)-1].table + " (x)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "bring it from schema version 1 to 2") {
		t.Fatalf("got %v", err)
	}
	if v := version(t, path); v != 1 {
		t.Errorf("version %d after a migration that failed", v)
	}
	if after := mustDump(t, path); after != before {
		t.Errorf("a migration that failed changed a record: %s", firstDifference(after, before))
	}
	var left int
	r := mustRead(t, path)
	if err := r.db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = ?", tables[0].table).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables were left, %v", left, err)
	}
}
