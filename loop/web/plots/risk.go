package plots

import (
	"errors"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/web/figure"
)

// risk draws what would be recommended as the charge for noise grows: its mean, the noise of a shot there, and the
// setting itself.
func (s *Source) risk(Options) (*figure.Figure, error) {
	if s.Prices == nil {
		return nil, nothing("the run has no model yet")
	}
	prices, err := s.Prices()
	if errors.Is(err, policy.ErrNoNoise) || errors.Is(err, policy.ErrNoData) || errors.Is(err, front.ErrOneNoise) {
		return nil, nothing("%w", err)
	}
	if err != nil {
		return nil, err
	}
	d := s.Document
	var alpha, mean, meanLow, meanHigh, noise, noiseLow, noiseHigh []float64
	for i := range prices {
		p := &prices[i].Point
		alpha = append(alpha, prices[i].Risk)
		mean, meanLow, meanHigh = append(mean, float64(p.First.Value)), append(meanLow, float64(p.First.Value-2*p.First.SE)), append(meanHigh, float64(p.First.Value+2*p.First.SE))
		noise, noiseLow, noiseHigh = append(noise, float64(p.Second.Value)), append(noiseLow, float64(p.Second.Low)), append(noiseHigh, float64(p.Second.High))
	}
	per := ""
	if u := d.Run.Unit; u != "" && u != "1" {
		per = "1/" + u
	}
	x := figure.Axis{Label: label("risk alpha", per), Log: true, Tight: true}
	own := func(p *figure.Chart) {
		if r := float64(d.Run.Risk); r > 0 {
			p.Layers = append(p.Layers, figure.Rule{At: r, Vertical: true, Colour: figure.Ink, Dashed: true})
		}
	}
	charts := []figure.Chart{
		{X: x, Y: figure.Axis{Label: s.objective("mean")}, Layers: []figure.Layer{figure.Band{X: alpha, Low: meanLow, High: meanHigh, Colour: figure.First}, figure.Line{X: alpha, Y: mean, Colour: figure.First, Stepped: true}}},
		{X: x, Y: figure.Axis{Label: label("noise of a shot, SD", d.Run.Unit)}, Layers: []figure.Layer{figure.Band{X: alpha, Low: noiseLow, High: noiseHigh, Colour: figure.Second}, figure.Line{X: alpha, Y: noise, Colour: figure.Second, Stepped: true}}},
		{X: x, Y: figure.Axis{Label: "share of the range", Low: -0.03, High: 1.03}},
	}
	for i, v := range d.Run.Variables {
		var y []float64
		any := false
		for k := range prices {
			share := s.share(i, prices[k].Point.At(i))
			y, any = append(y, share), any || !math.IsNaN(share)
		}
		if any {
			charts[2].Layers = append(charts[2].Layers, figure.Line{Name: v.Name, X: alpha, Y: y, Colour: figure.Of(i), Stepped: true, Dashed: figure.ShapeOf(i) != figure.Disc})
		}
	}
	for i := range charts {
		own(&charts[i])
	}
	charts = append(charts, figure.Chart{X: figure.Axis{Label: label("noise of a shot, SD", d.Run.Unit)}, Y: figure.Axis{Label: s.objective("mean")},
		Layers: []figure.Layer{figure.Line{X: noise, Y: mean, Colour: figure.Soft, Thin: true}, figure.Points{Name: "recommended at some alpha", X: noise, Y: mean, Colour: figure.First}}})
	note := "What would be recommended, by the model after all steps, if alpha times the variance of a shot were charged. Bands are two standard deviations of the mean, and the model's bounds of the noise."
	if d.Run.Risk > 0 {
		note += fmt.Sprintf(" The run's own alpha is %.4g.", float64(d.Run.Risk))
	}
	return &figure.Figure{Title: d.Run.Name + ": the price of risk", Note: note, Charts: charts}, nil
}
