package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// killedAt makes a journal whose writer is killed after ten records.
func killedAt(t *testing.T, path string) {
	t.Helper()
	cmd, lines := startChild(t, "hold "+path)
	for line := range lines {
		if line == "9" {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines { // until it is gone
	}
}

// The log of a process that was killed is missed: whoever reads or goes on is told, and it
// stands in the record. Where it is there, or the process ended in order, nobody is told.
func TestLostLog(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		told  bool
	}{
		"kept":    {func(string) error { return nil }, false},
		"removed": {func(path string) error { return os.Remove(path + "-wal") }, true},
		"empty":   {func(path string) error { return os.Truncate(path+"-wal", 0) }, true},
		"ended in order": {func(path string) error {
			j, err := Open(path, Options{})
			if err != nil {
				return err
			}
			return j.Close()
		}, false},
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		killedAt(t, path)
		if err := c.spoil(path); err != nil {
			t.Fatal(err)
		}
		if err := Unlocked(path); err != nil { // asking takes no trace away
			t.Errorf("%s: %v", name, err)
		}
		r := journaltest.MustRead(t, path)
		if told := len(r.Notices()) == 1 && strings.Contains(r.Notices()[0], path+"-wal is not there"); told != c.told || !told && len(r.Notices()) > 0 {
			t.Errorf("%s: a reader is told %q", name, r.Notices())
		}
		j, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Notices()) > 0 != c.told {
			t.Errorf("%s: a writer is told %q", name, j.Notices())
		}
		recorded := false
		for e, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			recorded = recorded || e.Kind == "journal" && strings.Contains(e.Message, "is not there")
		}
		if recorded != c.told {
			t.Errorf("%s: on record: %v", name, recorded)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if r := journaltest.MustRead(t, path); len(r.Notices()) > 0 {
			t.Errorf("%s: told again: %q", name, r.Notices())
		}
	}
}

// A file with two names is not written by either, until one of them is gone.
func TestTwoNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	killedAt(t, path)
	other := filepath.Join(filepath.Dir(path), "y.db")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		if _, err := Open(name, Options{}); !errors.Is(err, disk.ErrLinked) || !strings.Contains(err.Error(), "2 names") {
			t.Errorf("%s: %v", name, err)
		}
		if err := Unlocked(name); !errors.Is(err, disk.ErrLinked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A journal that was ended in order is read where nothing can be written, also one whose
// run has not finished. It needs the right to mount.
func TestReadOnlyPlace(t *testing.T) {
	path, j := journaltest.Demo(t, 10)
	dir := filepath.Dir(path)
	want := mustDump(t, path)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"-wal", "-shm"} { // of the reader above
		if err := disk.RemoveIfThere(path + left); err != nil {
			t.Fatal(err)
		}
	}
	err := syscall.Mount(dir, dir, "", syscall.MS_BIND, "")
	if err == nil {
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		err = syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	if err != nil {
		t.Logf("not shown here: mounting it read-only: %v", err)
		return
	}
	if got := mustDump(t, path); got != want {
		t.Errorf("it reads otherwise there: %s", journaltest.FirstDifference(got, want))
	}
	if _, err := Open(path, Options{}); !errors.Is(err, disk.ErrIO) {
		t.Errorf("writing there: %v", err)
	}
}

// TestKilledBesideAFoldedLog: a process that is killed before it has written, or after it has
// moved its log into the journal, leaves none, and nobody is told that one is missing; a
// log that is needed and was removed is told.
func TestKilledBesideAFoldedLog(t *testing.T) {
	for _, c := range []struct {
		name    string
		steps   int
		folds   bool
		removed bool
		told    bool
	}{
		{"before anything was written", 0, false, false, false},
		{"after the log was moved into the journal", 1, true, false, false},
		{"and its log was removed", 1, false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.db")
			run := Run{ID: "r", Name: "oven", Variables: []Column{{Name: "power"}}, ControlSets: []ControlSet{{Variables: []string{"power"}}}}
			j, err := Create(path, run, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for step := range c.steps {
				oneStep(t, j, step+1)
			}
			if c.folds {
				if err := j.FoldToClose(); err != nil {
					t.Fatal(err)
				}
			}
			// What a kill leaves is what stands on the disk now.
			left := filepath.Join(t.TempDir(), "run.db")
			for _, part := range []string{"", "-wal", ".lock"} {
				text, err := os.ReadFile(path + part)
				if err != nil {
					t.Fatal(err)
				}
				if part == "-wal" && c.removed {
					continue
				}
				if err := os.WriteFile(left+part, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j, err = Open(left, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if told := strings.Contains(strings.Join(j.Notices(), " "), "its log"); told != c.told {
				t.Errorf("told %v: %q", told, j.Notices())
			}
		})
	}
}
