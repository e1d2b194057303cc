package control

import "github.com/labtuner/tuner/loop/journal"

// Run is what a run is, and the unit of each of its numbers, wherever it is shown. The lines of
// JSON and the dump have it as it stands; the page adds to it.
type Run struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Site   string `json:"site"`
	Mode   string `json:"mode"`
	Policy string `json:"policy"`
	Seed   uint64 `json:"seed"`
	// Objective is what is tuned; Minimize says its sense. CostUnit is the unit of every cost.
	Objective Scalar `json:"objective"`
	Minimize  bool   `json:"minimize"`
	CostUnit  string `json:"cost_unit"`
	// Variables and Sensors are in the order of the configuration, ControlSets what a step may set.
	Variables   []Scalar     `json:"variables"`
	Sensors     []Scalar     `json:"sensors"`
	ControlSets []ControlSet `json:"control_sets"`
}

// Scalar names a number and its unit.
type Scalar struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// ControlSet is a control set with the cost of a step.
type ControlSet struct {
	Variables []string       `json:"variables"`
	Cost      journal.Number `json:"cost"`
}

// RunOf is a recorded run as it is shown.
func RunOf(r journal.Run) Run {
	run := Run{ID: r.ID, Name: r.Name, Site: r.Site, Mode: r.Mode, Policy: r.Policy, Seed: r.Seed, Objective: Scalar(r.Objective), Minimize: r.Minimize,
		CostUnit: r.CostUnit, Variables: scalars(r.Variables), Sensors: scalars(r.Sensors), ControlSets: []ControlSet{}}
	for _, c := range r.ControlSets {
		run.ControlSets = append(run.ControlSets, ControlSet{c.Variables, journal.Number(c.Cost)})
	}
	return run
}

func scalars(columns []journal.Column) []Scalar {
	out := []Scalar{}
	for _, c := range columns {
		out = append(out, Scalar(c))
	}
	return out
}
