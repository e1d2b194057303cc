package control

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
)

// Step is a decided and concluded step, wherever it is shown: as it stands it is a line of the
// command's --json, of the export and of the dump. Values are in the units that [Run] gives; null
// is no data.
type Step struct {
	// Type is "step", or "verify" where the step re-measured the recommended or the
	// starting setting.
	Type string `json:"type"`
	// N is the step's number, from 1.
	N int `json:"n"`
	// ControlSet names the variables that the step controlled.
	ControlSet []string `json:"control_set"`
	// Requested is what the policy wanted of each controlled variable, Applied
	// what the safety layer made of it; both leave out the random variables.
	Requested map[string]journal.Number `json:"requested"`
	Applied   map[string]journal.Number `json:"applied"`
	// X is every variable as achieved, or as measured where it was random.
	X map[string]journal.Number `json:"x"`
	// Mean is the objective's statistic over the shots, Variance the unbiased one of a
	// single shot, StandardError that of Mean; both null at one shot.
	Mean          journal.Number `json:"mean"`
	Variance      journal.Number `json:"variance"`
	StandardError journal.Number `json:"standard_error"`
	// Shots is the number of shots behind them.
	Shots int `json:"shots"`
	// Cost is the step's, Spent the run's so far.
	Cost  journal.Number `json:"cost"`
	Spent journal.Number `json:"spent"`
	// Valid is false for a step that taught the model nothing but that it failed.
	Valid bool `json:"valid"`
	// Clamped names the variables that a safety rule changed.
	Clamped []string `json:"clamped"`
	// DecisionMS is how long the decision took, in milliseconds.
	DecisionMS journal.Number `json:"decision_ms"`
	// Reason says why the setting was decided, by what was known then.
	Reason string `json:"reason,omitempty"`
	// Problem says why the step is not valid; left out where it is.
	Problem string `json:"problem,omitempty"`
	// By is "person" where a person has decided the step; left out where the policy has.
	By string `json:"by,omitempty"`
	// Struck says who has struck the step, which the model then does not know of, and why;
	// left out of steps that count.
	Struck string `json:"struck,omitempty"`
	// Side of a step that re-measured is "recommended" or "start", Pair the number of its
	// pair, from 1; both left out of others.
	Side journal.Side `json:"side,omitempty"`
	Pair int          `json:"pair,omitempty"`
}

// Marked is the step with whether it is struck.
func (s Step) Marked(struck map[int]journal.Struck) Step {
	if by, ok := struck[s.N]; ok {
		s.Struck = by.String()
	}
	return s
}

// StepOf is a recorded step of run as it is shown.
func StepOf(run journal.Run, d journal.Decision, o journal.Outcome) Step {
	s := Step{
		Type: "step", N: d.Step, ControlSet: Controlled(run, d),
		Requested: map[string]journal.Number{}, Applied: map[string]journal.Number{}, X: map[string]journal.Number{},
		Mean: journal.Number(o.Mean), Variance: journal.Number(o.Variance), StandardError: journal.Number(o.StandardError), Shots: o.Shots,
		Cost: journal.Number(o.Cost), Spent: journal.Number(o.Spent), Valid: o.Valid, Clamped: Clamped(run, d),
		DecisionMS: journal.Number(float64(d.Took) / 1e6), Reason: Because(&d), Problem: o.Problem,
		Side: d.Compared.Side, Pair: d.Compared.Pair,
	}
	if d.Compared.Comparison > 0 {
		s.Type = "verify"
	}
	if by, ok := d.Person(); ok {
		s.By = by.Origin
	}
	for i, v := range run.Variables {
		s.X[v.Name] = journal.Number(at(o.X, i))
		if slices.Contains(s.ControlSet, v.Name) {
			s.Requested[v.Name] = journal.Number(at(d.Requested, i))
			s.Applied[v.Name] = journal.Number(at(d.Applied, i))
		}
	}
	return s
}

// Controlled names the variables of the decision's control set.
func Controlled(run journal.Run, d journal.Decision) []string {
	if d.ControlSet < 0 || d.ControlSet >= len(run.ControlSets) {
		return []string{}
	}
	return append([]string{}, run.ControlSets[d.ControlSet].Variables...)
}

// Clamped names the variables that a rule touched, in the run's order.
func Clamped(run journal.Run, d journal.Decision) []string {
	touched := map[string]bool{}
	for _, r := range d.Reasons {
		touched[r.Variable] = true
	}
	names := []string{}
	for _, v := range run.Variables {
		if touched[v.Name] {
			names = append(names, v.Name)
		}
	}
	return names
}

// at gives element i, NaN where a step has none.
func at(x []float64, i int) float64 {
	if i >= len(x) {
		return math.NaN()
	}
	return x[i]
}
