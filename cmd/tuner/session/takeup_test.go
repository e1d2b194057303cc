package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// What a run cannot go on with is told so that the two differ in the words, too.
func TestSameShapeNamesTheDifference(t *testing.T) {
	old := journal.Run{Mode: "run", Objective: journal.Column{Name: "y", Unit: "W"}}
	for want, change := range map[string]func(*journal.Run){
		"the goal maximize, not minimize": func(r *journal.Run) { r.Minimize = true },
		"the objective {y W}, not {y mW}": func(r *journal.Run) { r.Objective.Unit = "mW" },
		"mode run, not shadow":            func(r *journal.Run) { r.Mode = "shadow" },
		"the variables [], not [{a V}]":   func(r *journal.Run) { r.Variables = []journal.Column{{Name: "a", Unit: "V"}} },
	} {
		now := old
		change(&now)
		if err := sameShape(old, now); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := sameShape(old, old); err != nil {
		t.Error(err)
	}
}

// A journal that another process writes is not gone on with.
func TestTakeUpRefusesAJournalInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oven.db")
	j := begun(t, path)
	s := session{Start: Start{Path: path}}
	if err := s.takeUp(context.Background(), &loop.Deps{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second process goes on: %v, want locked", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// begun makes a journal with one step, and leaves it open.
func begun(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(path, journal.Run{ID: "x", Name: "oven", Mode: "run", Policy: "random",
		Variables:   []journal.Column{{Name: "power", Unit: "W"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"power"}}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Decide(journal.Decision{Step: 1, Requested: []float64{1}, Applied: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	return j
}
