package advisor

import (
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// slicePoints is the number of points of a slice. Not fewer: a peak a twentieth of the
// range wide must show; not more: each is an expectation.
const slicePoints = 61

// Picture asks a policy what it believes. It changes no decision. A policy that has seen
// nothing valid, or that cannot be looked at, gives an empty picture.
func Picture(o *plan.Options, p policy.Policy) (control.Picture, error) {
	out := control.Picture{Slices: []control.PictureSlice{}, Sets: make([]*control.PicturePoint, len(o.ControlSets))}
	rec, err := p.Recommend()
	if errors.Is(err, policy.ErrNoData) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Best = pointOf(o, rec)
	if !math.IsNaN(rec.Start.Mean) {
		start := estimateOf(o, rec.Start)
		out.Start = &start
	}
	v, ok := p.(policy.Predictor)
	if !ok {
		return out, nil
	}
	for set := range o.ControlSets {
		best, ok, err := v.BestOf(set)
		if err != nil {
			return out, err
		}
		if ok {
			out.Sets[set] = pointOf(o, best)
		}
	}
	for i := range o.Variables {
		if math.IsNaN(rec.X[i]) {
			continue
		}
		s, err := sliceOf(o, v, rec, i)
		if err != nil {
			return out, err
		}
		out.Slices = append(out.Slices, s)
	}
	return out, nil
}

// Model is what a policy's model says, in the user's units and sense.
type Model struct {
	Options *plan.Options
	Policy  policy.Predictor
}

// Predict describes the objective at settings of a control set, one value per variable each; what
// the set does not hold is not read. It changes no decision.
func (m Model) Predict(set int, x [][]float64) ([]control.PictureEstimate, error) {
	seen, err := m.Policy.Predict(set, x)
	if err != nil {
		return nil, err
	}
	out := make([]control.PictureEstimate, len(seen))
	for i := range seen {
		out[i] = estimateOf(m.Options, seen[i])
	}
	return out, nil
}

// sliceOf looks along variable i through a recommended setting.
func sliceOf(o *plan.Options, v policy.Predictor, rec policy.Recommendation, i int) (control.PictureSlice, error) {
	low, high := o.Variables[i].Low, o.Variables[i].High
	s := control.PictureSlice{Variable: i}
	settings := make([][]float64, slicePoints)
	for k := range settings {
		settings[k] = slices.Clone(rec.X)
		settings[k][i] = low + (high-low)*float64(k)/(slicePoints-1)
		s.X = append(s.X, journal.Number(settings[k][i]))
	}
	seen, err := v.Predict(rec.ControlSet, settings)
	if err != nil {
		return s, err
	}
	for _, e := range seen {
		p := estimateOf(o, e)
		s.Mean, s.SD, s.NoiseSD = append(s.Mean, p.Mean), append(s.SD, p.SD), append(s.NoiseSD, p.NoiseSD)
	}
	return s, nil
}

// pointOf is a recommendation in the user's sense.
func pointOf(o *plan.Options, r policy.Recommendation) *control.PicturePoint {
	parts := control.SettingOf(o, r.X, r.Left)
	p := &control.PicturePoint{ControlSet: r.ControlSet, Feasible: r.Feasible, Variables: parts, Try: control.TryLine(o.Run.Name, parts),
		TryAll: control.TryAllLine(o, o.Run.Name, parts), PictureEstimate: estimateOf(o, r.Estimate)}
	for _, x := range r.X {
		p.X = append(p.X, journal.Number(x))
	}
	return p
}

// estimateOf turns the sign back where the user minimises.
func estimateOf(o *plan.Options, e policy.Estimate) control.PictureEstimate {
	return control.PictureEstimate{Mean: journal.Number(o.Sense(e.Mean)), SD: journal.Number(e.SD), NoiseSD: journal.Number(e.NoiseSD),
		Bound: journal.Number(o.Sense(e.LowerBound)), Feasibility: journal.Number(e.Feasibility)}
}
