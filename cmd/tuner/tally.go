package main

import (
	"slices"

	"github.com/labtuner/tuner/loop/journal"
)

// tally counts what a report tells of the steps.
type tally struct {
	// firstStep is, per control set, the step that played it first; 0: none did.
	firstStep []int
	// failed counts steps without valid data; lastProblem is why the last of them
	// failed.
	failed      int
	lastProblem string
	clamped     []clamp
}

// clamp is what one safety rule did to one variable over the run.
type clamp struct {
	variable, rule string
	count          int
}

// add counts one step.
func (t *tally) add(d journal.Decision, o journal.Outcome) {
	if d.ControlSet >= 0 && d.ControlSet < len(t.firstStep) && t.firstStep[d.ControlSet] == 0 {
		t.firstStep[d.ControlSet] = d.Step
	}
	if !o.Valid {
		t.failed++
		t.lastProblem = o.Problem
	}
	for _, r := range d.Reasons {
		i := slices.IndexFunc(t.clamped, func(c clamp) bool { return c.variable == r.Variable && c.rule == r.Rule })
		if i < 0 {
			i = len(t.clamped)
			t.clamped = append(t.clamped, clamp{variable: r.Variable, rule: r.Rule})
		}
		t.clamped[i].count++
	}
}

// setsByFirstUse lists the control sets that were played, in the order of their
// first use.
func (t *tally) setsByFirstUse() []int {
	var sets []int
	for i, first := range t.firstStep {
		if first > 0 {
			sets = append(sets, i)
		}
	}
	slices.SortFunc(sets, func(a, b int) int { return t.firstStep[a] - t.firstStep[b] })
	return sets
}
