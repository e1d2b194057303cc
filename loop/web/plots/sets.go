package plots

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/web/figure"
)

// front are the pairs that no other beats in both: less x and a better y. They ascend in x.
func (s *Source) front(x, y []float64) (fx, fy []float64) {
	var order []int
	for i := range x {
		if !math.IsNaN(x[i]) && !math.IsNaN(y[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] != x[b]:
			return sign(x[a] - x[b])
		case s.worse(y[a], y[b]):
			return 1
		case s.worse(y[b], y[a]):
			return -1
		}
		return 0
	})
	for _, i := range order {
		if len(fy) == 0 || s.worse(fy[len(fy)-1], y[i]) {
			fx, fy = append(fx, x[i]), append(fy, y[i])
		}
	}
	return fx, fy
}

func sign(v float64) int {
	if v < 0 {
		return -1
	}
	return 1
}

// sets draws what each control set costs a step and the best that the model expects of it, and
// the steps in which it was chosen.
func (s *Source) sets(Options) (*figure.Figure, error) {
	d := s.Document
	if d.Picture == nil || d.Picture.Start == nil && d.Picture.Best == nil {
		return nil, nothing("the run has no model yet")
	}
	if len(d.Sets) < 2 {
		return nil, nothing("the run has one control set, so there is none to compare it with")
	}
	gain := figure.Chart{Title: "gain and cost", X: figure.Axis{Label: label("mean cost of a step", d.Run.CostUnit)}, Y: figure.Axis{Label: s.objective("expected at its best setting")}}
	chosen := figure.Chart{Title: "chosen in", X: figure.Axis{Label: "step", Whole: true}}
	var steps [][]float64
	for i := range d.Sets {
		chosen.Y.Names = append(chosen.Y.Names, s.setName(i))
		steps = append(steps, nil)
	}
	for _, p := range d.Steps {
		if p.Set >= 0 && p.Set < len(steps) {
			steps[p.Set] = append(steps[p.Set], float64(p.N))
		}
	}
	for i, set := range d.Sets {
		rows := make([]float64, len(steps[i]))
		for k := range rows {
			rows[k] = float64(i)
		}
		chosen.Layers = append(chosen.Layers, figure.Points{X: steps[i], Y: rows, Colour: figure.Of(i), Shape: figure.ShapeOf(i)})
		if best := d.Picture.Sets[i]; best != nil && set.Steps > 0 {
			gain.Layers = append(gain.Layers, figure.Points{Name: s.setName(i), X: []float64{float64(set.Spent) / float64(set.Steps)}, Y: []float64{float64(best.Mean)},
				YError: []float64{2 * float64(best.SD)}, Colour: figure.Of(i), Shape: figure.ShapeOf(i), Large: true})
		}
	}
	if len(gain.Layers) == 0 {
		return nil, nothing("no control set has a valid step yet")
	}
	if p := d.Picture.Start; p != nil {
		gain.Layers = append(gain.Layers, figure.Rule{Name: "start", At: float64(p.Mean), Colour: figure.Ink, Dashed: true})
	}
	return &figure.Figure{Title: d.Run.Name + ": what each control set costs and brings", Note: "Bars are two standard deviations of the model's uncertainty.",
		Charts: []figure.Chart{gain, chosen}}, nil
}
