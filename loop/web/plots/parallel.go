package plots

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
)

// parallel draws each setting as a line across all variables, each over its own range, the best on top.
func (s *Source) parallel(Options) (*figure.Figure, error) {
	steps := s.valid()
	if len(steps) == 0 {
		return nil, nothing("no step gave valid data")
	}
	slices.SortStableFunc(steps, func(a, b web.StepPart) int {
		switch {
		case s.worse(mean(a), mean(b)):
			return -1
		case s.worse(mean(b), mean(a)):
			return 1
		}
		return 0
	})
	scale := figure.ScaleOf(s.objective(""), column(steps, mean)...)
	chart := figure.Chart{Y: figure.Axis{Label: "share of the range", Low: 0, High: 1}, Scale: scale}
	for _, v := range s.Document.Run.Variables {
		chart.X.Names = append(chart.X.Names, v.Name)
	}
	line := func(x func(i int) float64) (at, shares []float64) {
		for i := range s.Document.Run.Variables {
			at, shares = append(at, float64(i)), append(shares, s.share(i, x(i)))
		}
		return at, shares
	}
	for _, p := range steps {
		x, y := line(func(i int) float64 { return at(p, i) })
		chart.Layers = append(chart.Layers, figure.Line{X: x, Y: y, Thin: len(steps) > 30, Scale: scale, Worth: mean(p)})
	}
	if b := s.best(); b != nil {
		x, y := line(func(i int) float64 { return float64(b.X[i]) })
		chart.Layers = append(chart.Layers, figure.Line{Name: "recommended", X: x, Y: y, Colour: figure.Second})
		chart.Layers = append(chart.Layers, figure.Points{X: x, Y: y, Colour: figure.Second, Shape: figure.Diamond, Large: true})
	}
	return &figure.Figure{Title: s.Document.Run.Name + ": every setting tried", Note: "A line is a step; each axis is a variable's range, from its low end to its high end.", Charts: []figure.Chart{chart}}, nil
}

// share is where a value lies in its variable's range, or among what was measured of it.
func (s *Source) share(i int, v float64) float64 {
	low, high := float64(s.Document.Run.Variables[i].Low), float64(s.Document.Run.Variables[i].High)
	if !(high > low) {
		seen := figure.ScaleOf("", column(s.valid(), func(p web.StepPart) float64 { return at(p, i) })...)
		low, high = seen.Low, seen.High
	}
	if i < len(s.Log) && s.Log[i] {
		return math.Log(v/low) / math.Log(high/low)
	}
	return (v - low) / (high - low)
}

// sensors draws each sensor over the steps, with the limits that constraints set.
func (s *Source) sensors(Options) (*figure.Figure, error) {
	if s.Sensors == nil || len(s.Document.Run.Sensors) == 0 {
		return nil, nothing("no sensor is on record")
	}
	var n []float64
	values := make([][]float64, len(s.Document.Run.Sensors))
	for _, p := range s.Document.Steps {
		row, err := s.Sensors(p.N)
		if err != nil {
			return nil, err
		}
		n = append(n, float64(p.N))
		for i := range values {
			v := math.NaN()
			if i < len(row) {
				v = row[i]
			}
			values[i] = append(values[i], v)
		}
	}
	if len(n) == 0 {
		return nil, nothing("no step is on record")
	}
	out := &figure.Figure{Title: s.Document.Run.Name + ": sensors over the steps", Note: "A dot is a sensor's mean over a step's shots; dashed lines are the limits of constraints."}
	for i, sensor := range s.Document.Run.Sensors {
		chart := figure.Chart{X: figure.Axis{Label: "step", Whole: true}, Y: figure.Axis{Label: label(sensor.Name, sensor.Unit)},
			Layers: []figure.Layer{figure.Points{X: n, Y: values[i], Colour: figure.First}}}
		for _, c := range s.Document.Run.Constraints {
			for _, limit := range []float64{float64(c.Low), float64(c.High)} {
				if c.Sensor == i && !math.IsNaN(limit) && !math.IsInf(limit, 0) {
					chart.Layers = append(chart.Layers, figure.Rule{At: limit, Colour: figure.Second, Dashed: true})
				}
			}
		}
		out.Charts = append(out.Charts, chart)
	}
	return out, nil
}
