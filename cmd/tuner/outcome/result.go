package outcome

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/drivers/sim/optimum"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// truth is the plant's own answer to what was sought.
type truth struct {
	optimum.Truth
	// value and Regret of the recommendation, in the user's sense; NaN without one. breaks says that it breaks a
	// constraint.
	value, Regret float64
	breaks        bool
}

// AskPlant compares a result with the plant's truth.
func AskPlant(ctx context.Context, w *setup.Setup, plant *sim.Plant, r loop.Result) (*truth, error) {
	q := optimum.Query{Alpha: w.Spec.Risk, Minimize: w.Options.Objective.Minimize, Candidates: w.Spec.Candidates}
	if w.Spec.RandomDraws == "step" {
		q.SpreadCounts = w.Options.Objective.Shots
	}
	for _, c := range w.Spec.Constraints {
		q.Bounds = append(q.Bounds, optimum.Bound{Sensor: c.Name, Low: c.Low, High: c.High})
	}
	for _, set := range w.Spec.ControlSets {
		q.ControlSets = append(q.ControlSets, chosen(w, set))
	}
	if o := &w.Options.Objective; o.Formula != nil {
		values := make([]float64, len(w.Options.Sensors))
		q.Formula = func(named map[string]float64) (float64, error) {
			for i, s := range w.Options.Sensors {
				v, ok := named[s.Name]
				if !ok {
					v = math.NaN()
				}
				values[i] = v
			}
			return o.Of(values)
		}
	}
	t, err := plant.Truth(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &truth{Truth: t, value: math.NaN(), Regret: math.NaN()}
	if r.HasFound {
		out.value = t.ValueOf(r.Found.ControlSet, withHeld(&r.Found))
		out.breaks = math.IsNaN(out.value) && !t.Keeps(r.Found.ControlSet, withHeld(&r.Found))
		out.Regret = t.Value - out.value
		if q.Minimize {
			out.Regret = out.value - t.Value
		}
	}
	return out, nil
}

// chosen says which variables stand at a chosen value in steps of a control set: those that it controls, and those
// that it leaves where steps of other sets put them.
func chosen(w *setup.Setup, set policy.ControlSet) []bool {
	out := slices.Clone(set.Controlled)
	for i := range out {
		held := w.Spec.Variables[i].Random.Kind == policy.Held
		out[i] = out[i] || held && slices.ContainsFunc(w.Spec.ControlSets, func(s policy.ControlSet) bool { return s.Controlled[i] })
	}
	return out
}

// withHeld is the recommended setting with the values at which variables are held.
func withHeld(r *policy.Recommendation) []float64 {
	out := slices.Clone(r.X)
	for i := range r.Left {
		if math.IsNaN(out[i]) && r.Left[i].Kind == policy.Held {
			out[i] = r.Left[i].Mean
		}
	}
	return out
}

// NewLine makes the line of a result; t is nil where there is no plant.
func NewLine(w *setup.Setup, r loop.Result, t *truth, failure error) control.Result {
	line := control.Result{Type: "result", Policy: w.Config.Policy.Kind, Steps: r.Steps, Spent: journal.Number(r.Spent),
		ControlSet: []string{}, Recommended: map[string]journal.Number{},
		Mean: NaN(), NoiseSD: NaN(), LowerBound: NaN(), Baseline: control.ResultBaseline{Mean: NaN()},
		Mode: string(w.Options.Mode), Reason: r.Reason, Actuators: []control.ResultActuator{}}
	if r.HasFound {
		f := r.Found
		line.ControlSet = w.SetNames(f.ControlSet)
		line.Recommended = namedValues(w, f.X)
		line.Variables = control.SettingOf(&w.Options, f.X, f.Left)
		line.Try = control.TryLine(w.Config.Name, line.Variables)
		line.Mean, line.NoiseSD = journal.Number(f.Mean), journal.Number(f.NoiseSD)
		line.LowerBound = journal.Number(f.LowerBound)
		if len(w.Spec.Constraints) > 0 {
			line.Constraints = &control.ResultConstraints{Feasible: f.Feasible, Probability: journal.Number(f.Feasibility), Broken: r.Broken}
		}
		line.Baseline.Mean = journal.Number(f.Start.Mean)
		line.Unverified = r.Unverified
		if v := r.Verification; v != nil {
			line.Verified = &control.ResultVerified{Words: v.Summary(w.Options.Objective.Unit), Verification: v}
		}
	}
	if t != nil {
		line.Truth = &control.ResultTruth{Optimum: namedValues(w, t.Optimum.X), Value: journal.Number(t.Value),
			Regret: journal.Number(t.Regret), Range: journal.Number(t.Range)}
	}
	for _, a := range r.Rest {
		out := control.ResultActuator{Variable: a.Variable, State: string(a.State), Value: NaN(), Confirmed: a.Err == nil, ByDevice: a.ByDevice}
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
