package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
)

// asKilled leaves in a folder of its own what a kill would leave of a run of some records:
// the journal and its log.
func asKilled(t *testing.T, id string, records int) (path string) {
	t.Helper()
	run := journaltest.DemoRun()
	run.ID = id
	j, err := Create(filepath.Join(t.TempDir(), "run.db"), run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	journaltest.PerformFrom(t, j, 0, records)
	path = filepath.Join(t.TempDir(), "run.db")
	for _, part := range []string{"", "-wal"} {
		if b := journaltest.CopyFile(t, j.Path()+part, path+part); len(b) == 0 {
			t.Fatalf("%q of a run that goes on is empty", part)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogOfAnotherRun: the log of another run of the same shape, put beside a journal, is
// refused by whoever reads or goes on, whatever lies in it; the journal stays as it was, and
// with its own log it is whole.
func TestLogOfAnotherRun(t *testing.T) {
	for _, c := range []struct{ mine, others int }{
		{2 * journaltest.OpsPerStep, 2 * journaltest.OpsPerStep}, {3, 5 * journaltest.OpsPerStep}, {5 * journaltest.OpsPerStep, 3}, {1, 2}, {2, 1},
	} {
		mine, other := asKilled(t, "0198-mine", c.mine), asKilled(t, "0199-other", c.others)
		mixed := filepath.Join(t.TempDir(), "run.db")
		before := journaltest.CopyFile(t, mine, mixed)
		journaltest.CopyFile(t, other+"-wal", mixed+"-wal")
		if err := verified(mixed); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%+v: a reader: %v", c, err)
		}
		if j, err := Open(mixed, Options{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%+v: a writer: %v", c, err)
			if err == nil {
				_ = j.Close()
			}
		}
		if after, err := os.ReadFile(mixed); err != nil || !slices.Equal(after, before) {
			t.Errorf("%+v: refusing it changed the journal (%v)", c, err)
		}
		for _, path := range []string{mine, other} {
			j, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// verified reads and checks every row.
func verified(path string) error {
	r, err := OpenReader(path)
	if err != nil {
		return err
	}
	return errors.Join(r.Sound(), r.Close())
}
