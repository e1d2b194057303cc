package loop

import (
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Picture is what the model believes, as numbers that can be drawn: in the user's
// units and sense (Bound is the pessimistic one: an upper one where the user minimises).
type Picture struct {
	// Best is the recommended setting; nil before the first valid step.
	Best *PicturePoint `json:"best"`
	// Start describes the objective at the starting setting; nil if that is not known.
	Start *PictureEstimate `json:"start"`
	// Slices go through the recommended setting, one for each variable it sets.
	Slices []PictureSlice `json:"slices"`
	// Sets has, for each control set, the best of the settings that it has played, nil
	// where it has none.
	Sets []*PicturePoint `json:"sets"`
}

// PictureEstimate is what the model says of the objective at one setting.
type PictureEstimate struct {
	Mean journal.Number `json:"mean"`
	// SD is the standard deviation of Mean, NoiseSD that of one shot.
	SD      journal.Number `json:"sd"`
	NoiseSD journal.Number `json:"noise_sd"`
	// Bound is the pessimistic bound of the (mean-variance) objective.
	Bound journal.Number `json:"bound"`
	// Feasibility is the probability that every constraint holds; null without any.
	Feasibility journal.Number `json:"feasibility"`
}

// PicturePoint is a setting: null for variables that its control set leaves random.
type PicturePoint struct {
	ControlSet int              `json:"control_set"`
	X          []journal.Number `json:"x"`
	Feasible   bool             `json:"feasible"`
	PictureEstimate
}

// PictureSlice is the model along one variable, all others at the recommended setting.
type PictureSlice struct {
	// Variable indexes Options.Variables.
	Variable int              `json:"variable"`
	X        []journal.Number `json:"x"`
	Mean     []journal.Number `json:"mean"`
	SD       []journal.Number `json:"sd"`
	NoiseSD  []journal.Number `json:"noise_sd"`
}

// slicePoints is the number of points of a slice. Not fewer: a peak a twentieth of the
// range wide must show; not more: each is an expectation.
const slicePoints = 61

// Draw asks a policy what it believes. It changes no decision. A policy that has seen
// nothing valid, or that cannot be looked at, gives an empty picture.
func Draw(o *plan.Options, p policy.Policy) (Picture, error) {
	out := Picture{Slices: []PictureSlice{}, Sets: make([]*PicturePoint, len(o.ControlSets))}
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
	v, ok := p.(policy.Viewer)
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

// sliceOf looks along variable i through a recommended setting.
func sliceOf(o *plan.Options, v policy.Viewer, rec policy.Recommendation, i int) (PictureSlice, error) {
	low, high := o.Variables[i].Low, o.Variables[i].High
	s := PictureSlice{Variable: i}
	settings := make([][]float64, slicePoints)
	for k := range settings {
		settings[k] = slices.Clone(rec.X)
		settings[k][i] = low + (high-low)*float64(k)/(slicePoints-1)
		s.X = append(s.X, journal.Number(settings[k][i]))
	}
	seen, err := v.Look(rec.ControlSet, settings)
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
func pointOf(o *plan.Options, r policy.Recommendation) *PicturePoint {
	p := &PicturePoint{ControlSet: r.ControlSet, Feasible: r.Feasible, PictureEstimate: estimateOf(o, r.Estimate)}
	for _, x := range r.X {
		p.X = append(p.X, journal.Number(x))
	}
	return p
}

// estimateOf turns the sign back where the user minimises.
func estimateOf(o *plan.Options, e policy.Estimate) PictureEstimate {
	return PictureEstimate{Mean: journal.Number(o.Sense(e.Mean)), SD: journal.Number(e.SD), NoiseSD: journal.Number(e.NoiseSD),
		Bound: journal.Number(o.Sense(e.LowerBound)), Feasibility: journal.Number(e.Feasibility)}
}
