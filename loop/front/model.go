package front

import (
	"fmt"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// OfModel weighs the expected value of the settings that may be recommended against the standard
// deviation of one shot there, as a model has both. beta is how many of the model's standard
// deviations Low and High are away.
//
// Errors: policy.ErrNoNoise and policy.ErrNoData.
func OfModel(o *plan.Options, w policy.Weigher, beta float64) (*Front, error) {
	all, err := w.Tradeoffs()
	if err != nil {
		return nil, err
	}
	within := fmt.Sprintf("; low and high are %.3g standard deviations of the model away", beta)
	f := &Front{First: Axis{Name: "mean", Unit: o.Objective.Unit, Maximize: !o.Objective.Minimize, Of: o.Objective.Name + ", expected by the model" + within},
		Second: Axis{Name: "shot sd", Unit: o.Objective.Unit, Of: "standard deviation of one shot, by the model" + within}}
	points := make([]Point, len(all))
	for i := range all {
		points[i] = pointOf(o, &all[i], beta)
	}
	f.setPoints(points)
	return f, nil
}

// pointOf is a setting in the user's sense.
func pointOf(o *plan.Options, t *policy.Tradeoff, beta float64) Point {
	parts := control.SettingOf(o, t.X, t.Left)
	mean := o.Sense(t.Mean)
	return Point{ControlSet: o.SetNames(t.ControlSet), Variables: parts, Try: control.TryLine(o.Run.Name, parts), Feasible: t.Feasible,
		First:  Value{Value: journal.Number(mean), SE: journal.Number(t.SD), Low: journal.Number(mean - beta*t.SD), High: journal.Number(mean + beta*t.SD)},
		Second: Value{Value: journal.Number(t.ShotSD), SE: none, Low: journal.Number(t.ShotLow), High: journal.Number(t.ShotHigh)}}
}
