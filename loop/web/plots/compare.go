package plots

import (
	"math"

	"github.com/labtuner/tuner/loop/web/figure"
)

// Compare draws the best so far of several runs over shared axes: measured, and by the pessimistic bound of each
// run's own model after all its steps. labels name the runs; over is "steps" or "cost". The runs have one objective's unit and
// sense, and over cost one unit of cost.
//
// Errors: [ErrNothing] where no run has a step that can be shown, and those of the models.
func Compare(labels []string, runs []Source, over string) (*figure.Figure, error) {
	over, err := chosen("over", over, "steps", "cost")
	if err != nil {
		return nil, err
	}
	axis := figure.Axis{Label: "step", Whole: true}
	if over == "cost" {
		axis = figure.Axis{Label: label("spent", runs[0].Document.Run.CostUnit)}
	}
	chart := figure.Chart{X: axis, Y: figure.Axis{Label: runs[0].objective("")}}
	furthest := 0.0
	for k := range runs {
		s := &runs[k]
		steps := s.valid()
		if len(steps) == 0 {
			continue
		}
		x := column(steps, stepOf)
		if over == "cost" {
			x = column(steps, spentOf)
		}
		furthest = max(furthest, x[len(x)-1])
		chart.Layers = append(chart.Layers, figure.Line{Name: labels[k], X: x, Y: s.running(column(steps, mean)), Colour: figure.Of(k), Stepped: true})
		if s.Model == nil {
			continue
		}
		seen, err := s.predictions(steps)
		if err != nil {
			return nil, err
		}
		bound := make([]float64, len(seen))
		for i := range seen {
			bound[i] = float64(seen[i].Bound)
		}
		chart.Layers = append(chart.Layers, figure.Line{X: x, Y: s.running(bound), Colour: figure.Of(k), Stepped: true, Dashed: true})
	}
	if len(chart.Layers) == 0 || over == "cost" && furthest == 0 {
		return nil, nothing("no step of these runs can be shown over %s", over)
	}
	return &figure.Figure{Title: "Best so far over " + over, Note: "Solid: best measured mean of a step. Dashed: best pessimistic bound, by the model after all steps.", Charts: []figure.Chart{chart}}, nil
}

// CompareBest draws what each run recommends: the model's mean with two standard deviations and its
// pessimistic bound, and of runs that charge for noise or know it the noise of a shot.
//
// Errors: [ErrNothing] where no run recommends anything.
func CompareBest(labels []string, runs []Source) (*figure.Figure, error) {
	best := figure.Chart{X: figure.Axis{Label: runs[0].objective("expected at the recommended setting")}}
	noise := figure.Chart{X: figure.Axis{Label: label("noise of a shot there, SD", runs[0].Document.Run.Unit)}}
	var bounds, rows []float64
	for k := range runs {
		row := float64(k)
		best.Y.Names, noise.Y.Names = append(best.Y.Names, labels[k]), append(noise.Y.Names, labels[k])
		b := runs[k].best()
		if b == nil {
			continue
		}
		best.Layers = append(best.Layers, figure.Points{X: []float64{float64(b.Mean)}, XError: []float64{2 * float64(b.SD)}, Y: []float64{row}, Colour: figure.Of(k), Large: true})
		bounds, rows = append(bounds, float64(b.Bound)), append(rows, row)
		if n := float64(b.NoiseSD); !math.IsNaN(n) {
			noise.Layers = append(noise.Layers, figure.Points{X: []float64{n}, Y: []float64{row}, Colour: figure.Of(k), Large: true})
		}
	}
	if len(best.Layers) == 0 {
		return nil, nothing("none of these runs recommends anything yet")
	}
	best.Layers = append(best.Layers, figure.Points{Name: "pessimistic bound", X: bounds, Y: rows, Colour: figure.Ink, Shape: figure.Cross})
	out := &figure.Figure{Title: "What each run recommends", Note: "By each run's own model, ± 2 SD of the mean.", Charts: []figure.Chart{best}}
	if len(noise.Layers) > 0 {
		out.Charts = append(out.Charts, noise)
	}
	return out, nil
}
