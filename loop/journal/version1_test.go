package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// v1Unfinished was written by a tuner that knew version 1 only, on a simulated laser in
// real time; the process was killed in the sixth step.
const v1Unfinished = "testdata/v1-unfinished.db"

// old copies the journal of version 1 to a folder of its own.
func old(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	journaltest.CopyFile(t, v1Unfinished, path)
	return path
}

func version(t *testing.T, path string) int {
	t.Helper()
	return journaltest.MustRead(t, path).Version()
}

// A reader takes an old file as it is and leaves it so, to the last byte.
func TestReaderReadsVersion1(t *testing.T) {
	path := old(t)
	before := journaltest.CopyFile(t, path, path+".copy")
	if v := version(t, path); v != 1 {
		t.Fatalf("the old journal is of version %d", v)
	}
	r := journaltest.MustRead(t, path)
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

// A run does not go on with it, and the file stays as it was.
func TestOpenRefusesVersion1(t *testing.T) {
	path := old(t)
	before := journaltest.CopyFile(t, path, path+".copy")
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version 1, and a run goes on with version 2 only") {
		t.Errorf("got %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("a refusal changed the file (%v)", err)
	}
}
