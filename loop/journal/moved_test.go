package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestRecordOfADeletedJournalIsNotDurable: the record after the deletion is refused, then
// taken once, and everything is in the journal at its name.
func TestRecordOfADeletedJournalIsNotDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	run := Run{ID: "r", Name: "oven", Variables: []Column{{Name: "power"}}, ControlSets: []ControlSet{{Variables: []string{"power"}}}}
	j, err := Create(path, run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 3; step++ {
		d := Decision{Step: step, Requested: []float64{1}, Applied: []float64{1}}
		if step == 2 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := j.Decide(d); !errors.Is(err, ErrMoved) {
				t.Fatalf("a record of a deleted journal: %v", err)
			}
			if err := j.Look(); err != nil || j.Held() != "" {
				t.Fatalf("%v, held for %q", err, j.Held())
			}
		}
		if err := j.Decide(d); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if err := j.Conclude(Outcome{Step: step, X: []float64{1}, Valid: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if st, err := r.Status(); err != nil || st.Concluded != 3 || r.Verify() != nil {
		t.Errorf("%+v, %v", st, err)
	}
}

// lostJournal makes a journal of one concluded step in a folder of its own.
func lostJournal(t *testing.T, opts Options) (j *Journal, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.db")
	run := Run{ID: "r", Name: "oven", Variables: []Column{{Name: "power"}}, ControlSets: []ControlSet{{Variables: []string{"power"}}}}
	j, err := Create(path, run, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	oneStep(t, j, 1)
	return j, path
}

func oneStep(t *testing.T, j *Journal, step int) {
	t.Helper()
	if err := errors.Join(j.Decide(Decision{Step: step, Requested: []float64{1}, Applied: []float64{1}}),
		j.Conclude(Outcome{Step: step, X: []float64{1}, Valid: true})); err != nil {
		t.Fatal(err)
	}
}

// hasSteps wants a sound journal of so many steps.
func hasSteps(t *testing.T, path string, want int) {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if st, err := r.Status(); err != nil || st.Concluded != want || r.Verify() != nil {
		t.Errorf("%s: %+v, %v, want %d steps", path, st, err, want)
	}
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestRescueNeverOverwrites: a copy of an earlier rescue stays as it is, and so does what
// stands at the journal's name.
func TestRescueNeverOverwrites(t *testing.T) {
	j, path := lostJournal(t, Options{})
	first, second := filepath.Join(filepath.Dir(path), "run.rescued.db"), filepath.Join(filepath.Dir(path), "run.rescued-2.db")
	mustDo(t, os.Remove(path), os.WriteFile(path, []byte("a note"), 0o600), os.WriteFile(first, []byte("earlier"), 0o600), j.Look())
	if j.Path() != second || !strings.Contains(j.Held(), "another file stands at the journal's name") {
		t.Fatalf("it is at %q, held for %q", j.Path(), j.Held())
	}
	oneStep(t, j, 2)
	// The copy itself loses its name.
	mustDo(t, os.Remove(second), j.Look())
	oneStep(t, j, 3)
	hasSteps(t, j.Path(), 3)
	for name, want := range map[string]string{path: "a note", first: "earlier"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	mustDo(t, os.Remove(path), j.Look())
	if j.Path() != path || j.Held() != "" {
		t.Errorf("it is at %q, held for %q", j.Path(), j.Held())
	}
	hasSteps(t, path, 3)
	if names, err := Rescued(path); err != nil || len(names) != 1 || names[0] != first {
		t.Errorf("copies %v, %v", names, err)
	}
}

// TestForeignLogIsLeftAlone: another database's log at the journal's name is neither played
// into the journal nor removed.
func TestForeignLogIsLeftAlone(t *testing.T) {
	j, path := lostJournal(t, Options{})
	mustDo(t, os.Remove(path+"-wal"), os.WriteFile(path+"-wal", []byte("of another database"), 0o600))
	if err := j.Look(); !errors.Is(err, ErrMoved) || !strings.Contains(j.Held(), "another log stands at") {
		t.Fatalf("%v, held for %q", err, j.Held())
	}
	if err := j.Log(Event{Level: "info"}); !errors.Is(err, ErrMoved) {
		t.Errorf("a record beside another log: %v", err)
	}
	if got, err := os.ReadFile(path + "-wal"); err != nil || string(got) != "of another database" {
		t.Errorf("the other log holds %q, %v", got, err)
	}
	mustDo(t, os.Remove(path+"-wal"), j.Look())
	oneStep(t, j, 2)
	hasSteps(t, path, 2)
}

// TestRescueWaitsForTheDisk: a copy that cannot be written is tried again, and nothing of
// the attempt is left.
func TestRescueWaitsForTheDisk(t *testing.T) {
	j, path := lostJournal(t, Options{})
	mustDo(t, os.Remove(path))
	journaltest.FullFor(t, func() {
		if err := j.Look(); !errors.Is(err, ErrMoved) || !strings.Contains(j.Held(), "it cannot be copied") {
			t.Errorf("a full disk: %v, held for %q", err, j.Held())
		}
	})
	mustDo(t, j.Look())
	oneStep(t, j, 2)
	hasSteps(t, path, 2)
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if strings.Contains(e.Name(), ".new") || strings.Contains(e.Name(), RescuedPart) {
			t.Errorf("%s is left, %v", e.Name(), err)
		}
	}
}

// TestNewInodeNumberOnANetwork: where processes share no memory, a file of another number
// that holds the run to the last record is the journal; one that does not is another.
func TestNewInodeNumberOnANetwork(t *testing.T) {
	mounts := uint64(0)
	opts := Options{FileSystem: func(string) (disk.FileSystem, error) { return disk.FileSystem{Name: "nfs"}, nil }}.
		IdentifiedBy(func(name string) (disk.FileID, error) {
			id, err := disk.Identify(name)
			id.Device += mounts
			return id, err
		})
	j, path := lostJournal(t, opts)
	mounts++
	mustDo(t, j.Look())
	if n := j.News(); len(n) != 1 || !strings.Contains(n[0].Message, "another inode number") || j.Path() != path || j.Held() != "" {
		t.Errorf("%+v, at %q, held for %q", n, j.Path(), j.Held())
	}
	oneStep(t, j, 2)
	hasSteps(t, path, 2)
	// An older state of the same run is not the journal.
	old, err := os.ReadFile(path)
	mustDo(t, err)
	oneStep(t, j, 3)
	mustDo(t, os.Remove(path), os.WriteFile(path, old, 0o600), j.Look())
	if j.Held() == "" || j.Path() == path {
		t.Errorf("an older file was taken for the journal: at %q", j.Path())
	}
	hasSteps(t, j.Path(), 3)
	hasSteps(t, path, 2)
}

// TestOtherNamesAreNoLoss: a hard link that is made under the run, and a link that leads to
// the journal and goes, change nothing.
func TestOtherNamesAreNoLoss(t *testing.T) {
	j, path := lostJournal(t, Options{})
	mustDo(t, os.Link(path, path+".link"), os.Symlink(path, path+".symlink"), j.Look(), os.Remove(path+".symlink"), j.Look())
	if j.Held() != "" || len(j.News()) > 0 {
		t.Errorf("held for %q", j.Held())
	}
	oneStep(t, j, 2)
	hasSteps(t, path, 2)
}

// TestDeletedLockIsTakenAgain: no second process takes the lock whose file was deleted.
func TestDeletedLockIsTakenAgain(t *testing.T) {
	j, path := lostJournal(t, Options{})
	mustDo(t, os.Remove(path+".lock"), j.Look())
	if _, err := Open(path, Options{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
}

// TestOverwrittenInPlace: a journal that a shell has emptied, or cp has filled with another
// run's, keeps its name and inode number. It is noticed with the next record. Where SQLite
// still has what was in it, everything goes on in a copy, and what stands at the name is
// left to a person; else nothing is taken for recorded any more.
func TestOverwrittenInPlace(t *testing.T) {
	for _, c := range []struct {
		name   string
		folded bool // the log was moved into the file before
		lost   bool // nothing is left to be copied
		by     func(t *testing.T, path string)
	}{
		{"emptied", false, true, func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}},
		{"its log emptied", false, false, func(t *testing.T, path string) {
			if err := os.Truncate(path+"-wal", 0); err != nil {
				t.Fatal(err)
			}
		}},
		{"its log cut", false, false, func(t *testing.T, path string) {
			if err := os.Truncate(path+"-wal", 8192); err != nil {
				t.Fatal(err)
			}
		}},
		{"other bytes in its log", false, false, func(t *testing.T, path string) {
			info, err := os.Stat(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(make([]byte, info.Size())); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"another run's", true, false, func(t *testing.T, path string) {
			j, other := lostJournal(t, Options{})
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(other)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(append(text, make([]byte, 1<<20)...)); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.db")
			run := Run{ID: "20261123T000000Z-0123456789abcdef", Name: "oven", Variables: []Column{{Name: "power"}}, ControlSets: []ControlSet{{Variables: []string{"power"}}}}
			j, err := Create(path, run, Options{})
			if err != nil {
				t.Fatal(err)
			}
			decide := func(step int) error {
				return j.Decide(Decision{Step: step, Requested: []float64{1}, Applied: []float64{1}})
			}
			conclude := func(step int) {
				t.Helper()
				if err := j.Conclude(Outcome{Step: step, X: []float64{1}, Valid: true}); err != nil {
					t.Fatal(err)
				}
			}
			if err := decide(1); err != nil {
				t.Fatal(err)
			}
			conclude(1)
			if c.folded {
				if err := j.Fold(); err != nil {
					t.Fatal(err)
				}
				if err := j.Look(); err != nil {
					t.Fatal(err)
				}
			}
			c.by(t, path)
			if err := decide(2); !errors.Is(err, ErrMoved) {
				t.Fatalf("a record of an overwritten journal: %v", err)
			}
			if c.lost {
				if err := j.Look(); !errors.Is(err, ErrMoved) || !strings.Contains(j.Held(), "overwritten in place") || !strings.Contains(j.Held(), "--new") {
					t.Errorf("%v, held for %q", err, j.Held())
				}
				if err := j.Close(); !errors.Is(err, ErrMoved) {
					t.Errorf("closed as if all were well: %v", err)
				}
				return
			}
			if err := j.Look(); err != nil || !strings.Contains(j.Held(), "stands at the journal's name") {
				t.Fatalf("%v, held for %q", err, j.Held())
			}
			if err := decide(2); err != nil {
				t.Fatal(err)
			}
			conclude(2)
			if err := os.Remove(path); err != nil { // a person moves it away
				t.Fatal(err)
			}
			if err := j.Look(); err != nil || j.Held() != "" {
				t.Fatalf("%v, held for %q", err, j.Held())
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if st, err := r.Status(); err != nil || st.Concluded != 2 || r.Verify() != nil || r.Run().ID != run.ID {
				t.Errorf("%+v of %q, %v", st, r.Run().ID, err)
			}
		})
	}
}
