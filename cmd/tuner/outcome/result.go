package outcome

import (
	"context"
	"errors"
	"math"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/drivers/sim/optimum"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Line is the end of a run as one line of JSON: the last line of --json,
// and the result that the journal keeps. Values are in the user's units and
// sense; null is not known. It has no timings: the same seed gives the same line.
type Line struct {
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
	Variables []control.SettingPart `json:"variables,omitempty"`
	Try       string                `json:"try,omitempty"`
	// Mean is the model's expectation there, NoiseSD the standard deviation of one
	// shot, LowerBound the pessimistic bound of the (mean-variance) objective: where
	// the user minimises it is an upper one.
	Mean       journal.Number `json:"mean"`
	NoiseSD    journal.Number `json:"noise_sd"`
	LowerBound journal.Number `json:"lower_bound"`
	// Constraints is left out where there is none.
	Constraints *constraintsLine `json:"constraints,omitempty"`
	Baseline    baselineLine     `json:"baseline"`
	// Truth is what the simulated plant knows of itself.
	Truth *truthLine `json:"truth,omitempty"`
	// Verified is what measuring the recommended and the starting setting in turn came to;
	// left out where that was not done, and Unverified then says why.
	Verified   *verifiedLine `json:"verified,omitempty"`
	Unverified string        `json:"unverified,omitempty"`
	// Mode is "simulate", "shadow" or "run"; Reason says why the run ended.
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	// Actuators says where they were left, those that were driven.
	Actuators []actuatorLine `json:"actuators"`
	// Error says what ended the run, left out if nothing went wrong.
	Error string `json:"error,omitempty"`
}

// constraintsLine tells how the constraints were kept.
type constraintsLine struct {
	// Feasible says that the model's bound keeps each of them at the recommended setting,
	// Probability how probable all are kept there, at least.
	Feasible    bool           `json:"feasible"`
	Probability journal.Number `json:"probability"`
	// Broken counts the steps whose readings broke one.
	Broken int `json:"broken"`
}

// verifiedLine is a comparison, in words and in numbers.
type verifiedLine struct {
	Words string `json:"words"`
	*plan.Verification
}

// baselineLine describes the starting setting, by the same model.
type baselineLine struct {
	Mean journal.Number `json:"mean"`
}

// truthLine compares the recommendation with the plant's true optimum.
type truthLine struct {
	// Optimum holds the best control set's values.
	Optimum map[string]journal.Number `json:"optimum"`
	// Value is the user's objective at the optimum, mean-variance where there is
	// risk; Regret how much worse the recommendation is; Range the objective's span
	// over the domain.
	Value  journal.Number `json:"value"`
	Regret journal.Number `json:"regret"`
	Range  journal.Number `json:"range"`
}

// actuatorLine says where one actuator was left.
type actuatorLine struct {
	Variable string `json:"variable"`
	// State is "hold", "safe" or "off"; Value the safe value where it is "safe".
	State     string         `json:"state"`
	Value     journal.Number `json:"value"`
	Confirmed bool           `json:"confirmed"`
	// ByDevice: not held, but in its device's own safe state.
	ByDevice bool   `json:"by_device,omitempty"`
	Error    string `json:"error,omitempty"`
}

// truth is the plant's own answer to what was sought.
type truth struct {
	optimum.Truth
	// value and Regret of the recommendation, in the user's sense; NaN without one.
	value, Regret float64
}

// AskPlant compares a result with the plant's truth.
func AskPlant(w *setup.Setup, plant *sim.Plant, r loop.Result) (*truth, error) {
	q := optimum.Query{Alpha: w.Spec.Risk, Minimize: w.Options.Objective.Minimize, Candidates: w.Spec.Candidates}
	for _, c := range w.Spec.Constraints {
		q.Bounds = append(q.Bounds, optimum.Bound{Sensor: c.Name, Low: c.Low, High: c.High})
	}
	for _, set := range w.Spec.ControlSets {
		q.ControlSets = append(q.ControlSets, set.Controlled)
	}
	if f := w.Options.Objective.Formula; f != nil {
		values := make([]float64, len(w.Options.Sensors))
		q.Formula = func(named map[string]float64) (float64, error) {
			for i, s := range w.Options.Sensors {
				v, ok := named[s.Name]
				if !ok {
					v = math.NaN()
				}
				values[i] = v
			}
			return f(values)
		}
	}
	t, err := plant.Truth(q)
	if err != nil {
		return nil, err
	}
	out := &truth{Truth: t, value: math.NaN(), Regret: math.NaN()}
	if r.HasFound {
		out.value = t.ValueOf(r.Found.ControlSet, r.Found.X)
		out.Regret = t.Value - out.value
		if q.Minimize {
			out.Regret = out.value - t.Value
		}
	}
	return out, nil
}

// NewLine makes the line of a result; t is nil where there is no plant.
func NewLine(w *setup.Setup, r loop.Result, t *truth, failure error) Line {
	line := Line{Type: "result", Policy: w.Config.Policy.Kind, Steps: r.Steps, Spent: journal.Number(r.Spent),
		ControlSet: []string{}, Recommended: map[string]journal.Number{},
		Mean: NaN(), NoiseSD: NaN(), LowerBound: NaN(), Baseline: baselineLine{NaN()},
		Mode: string(w.Options.Mode), Reason: r.Reason, Actuators: []actuatorLine{}}
	if r.HasFound {
		f := r.Found
		line.ControlSet = w.SetNames(f.ControlSet)
		line.Recommended = namedValues(w, f.X)
		line.Variables = control.SettingOf(&w.Options, f.X, f.Left)
		line.Try = control.TryLine(w.Config.Name, line.Variables)
		line.Mean, line.NoiseSD = journal.Number(f.Mean), journal.Number(f.NoiseSD)
		line.LowerBound = journal.Number(f.LowerBound)
		if len(w.Spec.Constraints) > 0 {
			line.Constraints = &constraintsLine{f.Feasible, journal.Number(f.Feasibility), r.Broken}
		}
		line.Baseline.Mean = journal.Number(f.Start.Mean)
		line.Unverified = r.Unverified
		if v := r.Verification; v != nil {
			line.Verified = &verifiedLine{v.Summary(w.Options.Objective.Unit), v}
		}
	}
	if t != nil {
		line.Truth = &truthLine{Optimum: namedValues(w, t.Optimum.X), Value: journal.Number(t.Value),
			Regret: journal.Number(t.Regret), Range: journal.Number(t.Range)}
	}
	for _, a := range r.Rest {
		out := actuatorLine{Variable: a.Variable, State: string(a.State), Value: NaN(), Confirmed: a.Err == nil, ByDevice: a.ByDevice}
		if a.State == plan.RestSafe {
			out.Value = journal.Number(a.Value)
		}
		if a.Err != nil {
			out.Error = a.Err.Error()
		}
		line.Actuators = append(line.Actuators, out)
	}
	if failure != nil && !errors.Is(failure, context.Canceled) {
		line.Error = failure.Error()
	}
	return line
}

// namedValues maps values to the variables' names, without those that are NaN.
func namedValues(w *setup.Setup, x []float64) map[string]journal.Number {
	out := map[string]journal.Number{}
	for i, v := range w.Options.Variables {
		if !math.IsNaN(x[i]) {
			out[v.Name] = journal.Number(x[i])
		}
	}
	return out
}

func NaN() journal.Number { return journal.Number(math.NaN()) }
