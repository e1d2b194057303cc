package plots

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
)

// progress draws each step's mean, the best of them so far, and the best pessimistic bound that the
// model, as it is now, gives any setting tried so far.
func (s *Source) progress(o Options) (*figure.Figure, error) {
	over, err := chosen("over", o.Over, "steps", "cost")
	if err != nil {
		return nil, err
	}
	steps := s.valid()
	if len(steps) == 0 {
		return nil, nothing("no step gave valid data")
	}
	x, axis := column(steps, stepOf), figure.Axis{Label: "step", Whole: true}
	if over == "cost" {
		x, axis = column(steps, spentOf), figure.Axis{Label: label("spent", s.Document.Run.CostUnit)}
		if x[len(x)-1] == 0 {
			return nil, nothing("no step of this run has a price")
		}
	}
	y := column(steps, mean)
	chart := figure.Chart{X: axis, Y: figure.Axis{Label: s.objective("")}, Layers: []figure.Layer{
		figure.Points{Name: "a step's mean ± 2 SE", X: x, Y: y, YError: column(steps, errorOf), Colour: figure.Soft},
		figure.Line{Name: "best measured so far", X: x, Y: s.running(y), Colour: figure.First, Stepped: true},
	}}
	note := ""
	if seen, err := s.predictions(steps); err == nil {
		bound := make([]float64, len(seen))
		for i := range seen {
			bound[i] = float64(seen[i].Bound)
		}
		chart.Layers = append(chart.Layers, figure.Line{Name: "best pessimistic bound so far", X: x, Y: s.running(bound), Colour: figure.Second, Stepped: true, Dashed: true})
		note = "The bound is that of the model after all steps."
	}
	if p := s.Document.Picture; p != nil && p.Start != nil {
		chart.Layers = append(chart.Layers, figure.Rule{Name: "starting setting, by the model", At: float64(p.Start.Mean), Colour: figure.Ink, Dashed: true})
	}
	return &figure.Figure{Title: s.Document.Run.Name + ": progress over " + over, Note: note, Charts: []figure.Chart{chart}}, nil
}

// running is the best value so far.
func (s *Source) running(y []float64) []float64 {
	out, best := make([]float64, len(y)), math.NaN()
	for i, v := range y {
		if !math.IsNaN(v) && (math.IsNaN(best) || s.worse(best, v)) {
			best = v
		}
		out[i] = best
	}
	return out
}

// predicted draws what was expected when a step was decided against what it gave.
func (s *Source) predicted(Options) (*figure.Figure, error) {
	var x, y, dx, dy, n []float64
	whole := true // every variable is set in every step, so that nothing else moves its mean
	for _, p := range s.valid() {
		if math.IsNaN(float64(p.Predicted)) {
			continue
		}
		whole = whole && p.Set >= 0 && len(s.Document.Sets[p.Set].Variables) == len(s.Document.Run.Variables) && !math.IsNaN(float64(p.SE))
		x, y, n = append(x, float64(p.Predicted)), append(y, float64(p.Mean)), append(n, float64(p.N))
		dx, dy = append(dx, 2*float64(p.PredictedSD)), append(dy, errorOf(p))
	}
	if len(x) == 0 {
		return nil, nothing("no step was decided by a model's prediction")
	}
	scale := figure.ScaleOf("step", n...)
	note := "Bars are two standard deviations of the predicted mean and two standard errors of the measured one."
	if whole {
		inside := 0
		for i := range x {
			if math.Abs(x[i]-y[i]) <= math.Hypot(dx[i], dy[i]) {
				inside++
			}
		}
		note += fmt.Sprintf(" %d of %d steps measured within both.", inside, len(x))
	} else {
		note += " What a step leaves alone moves its mean as well."
	}
	ends := figure.ScaleOf("", append(append([]float64{}, x...), y...)...)
	return &figure.Figure{Title: s.Document.Run.Name + ": predicted against measured",
		Note: note,
		Charts: []figure.Chart{{X: figure.Axis{Label: s.objective("predicted")}, Y: figure.Axis{Label: s.objective("measured")}, Scale: scale, Layers: []figure.Layer{
			figure.Line{Name: "as predicted", X: []float64{ends.Low, ends.High}, Y: []float64{ends.Low, ends.High}, Colour: figure.Ink, Dashed: true},
			figure.Points{Name: "a step", X: x, Y: y, XError: dx, YError: dy, Worth: n, Scale: scale},
		}}}}, nil
}

// tradeoff draws mean against the noise of a shot, by the model, for every setting tried: the front
// has what no other setting beats in both.
func (s *Source) tradeoff(Options) (*figure.Figure, error) {
	steps := s.valid()
	if len(steps) == 0 {
		return nil, nothing("no step gave valid data")
	}
	note := "By the model after all steps: every setting tried, its mean with two standard deviations of uncertainty."
	x, y, dy := column(steps, func(p web.StepPart) float64 { return float64(p.SD) }), column(steps, mean), column(steps, errorOf)
	if seen, err := s.predictions(steps); err == nil && !math.IsNaN(float64(seen[0].NoiseSD)) {
		for i := range seen {
			x[i], y[i], dy[i] = float64(seen[i].NoiseSD), float64(seen[i].Mean), 2*float64(seen[i].SD)
		}
	} else {
		note = "As measured: the standard deviation of a step's shots, and their mean with two standard errors. The model has no noise of its own for each setting."
	}
	if figure.ScaleOf("", x...).High <= 0 {
		return nil, nothing("a step of this run has one shot, which shows no noise")
	}
	fx, fy := s.front(x, y)
	chart := figure.Chart{X: figure.Axis{Label: label("noise of a shot, standard deviation", s.Document.Run.Unit)}, Y: figure.Axis{Label: s.objective("mean")}, Layers: []figure.Layer{
		figure.Points{Name: "setting tried", X: x, Y: y, YError: dy, Colour: figure.Soft},
		figure.Line{Name: "front", X: fx, Y: fy, Colour: figure.First, Stepped: true},
		figure.Points{X: fx, Y: fy, Colour: figure.First},
	}}
	if b := s.best(); b != nil && !math.IsNaN(float64(b.NoiseSD)) {
		chart.Layers = append(chart.Layers, recommended([]float64{float64(b.NoiseSD)}, []float64{float64(b.Mean)}))
	}
	if p := s.Document.Picture; p != nil && p.Start != nil && !math.IsNaN(float64(p.Start.NoiseSD)) {
		chart.Layers = append(chart.Layers, start([]float64{float64(p.Start.NoiseSD)}, []float64{float64(p.Start.Mean)}))
	}
	return &figure.Figure{Title: s.Document.Run.Name + ": mean against noise", Note: note, Charts: []figure.Chart{chart}}, nil
}
