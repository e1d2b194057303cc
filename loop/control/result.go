package control

import (
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Result is the end of a run as one line of JSON: the last line of --json, and what the journal
// keeps and the page, the dump and the export give as it was recorded. The report in words is
// made from it, too. Values are in the user's units and
// sense; null is not known. It has no timings: the same seed gives the same line.
type Result struct {
	// Type is "result".
	Type   string         `json:"type"`
	Policy string         `json:"policy"`
	Steps  int            `json:"steps"`
	Spent  journal.Number `json:"spent"`
	// ControlSet names the variables that the recommendation sets, Recommended
	// their values; empty where there is no recommendation.
	ControlSet  []string                  `json:"control_set"`
	Recommended map[string]journal.Number `json:"recommended"`
	// Variables says what each variable does there, also those that are not set; Try which command
	// sets that again. Left out where there is no recommendation.
	Variables []SettingPart `json:"variables,omitempty"`
	Try       string        `json:"try,omitempty"`
	// Mean is the model's expectation there, NoiseSD the standard deviation of one
	// shot, LowerBound the pessimistic bound of the (mean-variance) objective: where
	// the user minimises it is an upper one.
	Mean       journal.Number `json:"mean"`
	NoiseSD    journal.Number `json:"noise_sd"`
	LowerBound journal.Number `json:"lower_bound"`
	// Constraints is left out where there is none.
	Constraints *ResultConstraints `json:"constraints,omitempty"`
	Baseline    ResultBaseline     `json:"baseline"`
	// Truth is what the simulated plant knows of itself.
	Truth *ResultTruth `json:"truth,omitempty"`
	// Verified is what measuring the recommended and the starting setting in turn came to;
	// left out where that was not done, and Unverified then says why.
	Verified   *ResultVerified `json:"verified,omitempty"`
	Unverified string          `json:"unverified,omitempty"`
	// Mode is "simulate", "shadow" or "run"; Reason says why the run ended.
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	// Actuators says where they were left, those that were driven.
	Actuators []ResultActuator `json:"actuators"`
	// Error says what ended the run, left out if nothing went wrong.
	Error string `json:"error,omitempty"`
}

// ResultConstraints tells how the constraints were kept.
type ResultConstraints struct {
	// Feasible says that the model's bound keeps each of them at the recommended setting,
	// Probability how probable all are kept there, at least.
	Feasible    bool           `json:"feasible"`
	Probability journal.Number `json:"probability"`
	// Broken counts the steps whose readings broke one.
	Broken int `json:"broken"`
}

// ResultVerified is a comparison, in words and in numbers.
type ResultVerified struct {
	Words string `json:"words"`
	*plan.Verification
}

// ResultBaseline describes the starting setting, by the same model.
type ResultBaseline struct {
	Mean journal.Number `json:"mean"`
}

// ResultTruth compares the recommendation with the plant's true optimum.
type ResultTruth struct {
	// Optimum holds the best control set's values.
	Optimum map[string]journal.Number `json:"optimum"`
	// Value is the user's objective at the optimum, mean-variance where there is
	// risk; Regret how much worse the recommendation is; Range the objective's span
	// over the domain.
	Value  journal.Number `json:"value"`
	Regret journal.Number `json:"regret"`
	Range  journal.Number `json:"range"`
}

// ResultActuator says where one actuator was left.
type ResultActuator struct {
	Variable string `json:"variable"`
	// State is "hold", "safe" or "off"; Value the safe value where it is "safe".
	State     string         `json:"state"`
	Value     journal.Number `json:"value"`
	Confirmed bool           `json:"confirmed"`
	// ByDevice: not held, but in its device's own safe state.
	ByDevice bool   `json:"by_device,omitempty"`
	Error    string `json:"error,omitempty"`
}
