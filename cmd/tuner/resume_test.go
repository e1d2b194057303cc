package main

import (
	"testing"

	"github.com/labtuner/tuner/loop/journal"
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
