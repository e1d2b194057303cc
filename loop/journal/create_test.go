package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

func TestBadRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	many := make([]Column, MaxVariables+1)
	for i := range many {
		many[i].Name = fmt.Sprint(i)
	}
	for want, run := range map[string]Run{
		"the run has 0 variables, a journal holds 1 to 500":    {},
		"the run has 501 variables":                            {Variables: many},
		`variable name "a" is empty, not text, or given twice`: {Variables: []Column{{"a", ""}, {"a", ""}}},
		`sensor name "" is empty`:                              {Variables: []Column{{"a", ""}}, Sensors: []Column{{"", ""}}},
		`control set 0 names "b", which is no variable`:        {Variables: []Column{{"a", ""}}, ControlSets: []ControlSet{{[]string{"b"}, 1}}},
	} {
		_, err := Create(path, run, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if left, _ := filepath.Glob(path + "*"); left != nil {
		t.Errorf("refused runs left %q", left)
	}
	if _, err := Create(path, Run{Variables: many[:MaxVariables]}, Options{}); err != nil {
		t.Errorf("the most variables that are allowed: %v", err)
	}
}

func TestExistsFinishedMissing(t *testing.T) {
	path, j := journaltest.Demo(t, 5)
	if _, err := Create(path, journaltest.DemoRun(), Options{}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "give another name") {
		t.Errorf("create again: %v", err)
	}
	if err := j.Finish("stop: 60 steps", []byte("{}"), Stamp{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{journaltest.Perform(j, 5), j.Finish("again", []byte("{}"), Stamp{})} {
		if !errors.Is(err, ErrFinished) {
			t.Errorf("a record after the end: %v", err)
		}
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := journaltest.Perform(j, 5); !errors.Is(err, ErrClosed) {
		t.Errorf("a record after Close: %v", err)
	}
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrFinished) || !strings.Contains(err.Error(), `1 steps, ended by "stop: 60 steps"; export it, or begin a new run with --new`) {
		t.Errorf("open a finished journal: %v", err)
	}
	if left, _ := filepath.Glob(path + "?*"); left != nil {
		t.Errorf("a closed journal left %q", left)
	}
	b, err := os.ReadFile(path)
	if err != nil || b[18] != 1 || b[19] != 1 {
		t.Errorf("a finished journal is no plain database: versions %d %d, want 1 1 (%v)", b[18], b[19], err)
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, err := Open(missing, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open a missing journal: %v", err)
	}
	if _, err := OpenReader(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read a missing journal: %v", err)
	}
	if _, err := Create(filepath.Join(missing, "x.db"), journaltest.DemoRun(), Options{}); !errors.Is(err, disk.ErrIO) {
		t.Errorf("create in a folder that is none: %v", err)
	}
}

// The log of a journal that was removed without it must not be played into a new
// one: SQLite would do just that.
func TestLeftOverLog(t *testing.T) {
	path, j := journaltest.Demo(t, 20)
	dir := t.TempDir()
	fresh := filepath.Join(dir, "laser.db")
	journaltest.CopyFile(t, path+"-wal", fresh+"-wal")
	if _, err := Create(fresh, journaltest.DemoRun(), Options{}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "left of another journal") {
		t.Errorf("got %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	// What a crash of Create leaves is no obstacle.
	for _, name := range []string{"y.db.new", "y.db.new-journal"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half a file"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Create(filepath.Join(dir, "y.db"), journaltest.DemoRun(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
