package main

import (
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/web/figure"
)

// confusion is a chart of which prior decided (left to right) where which was true (bottom to top): the share
// of decisions, mean over the seeds with that prior; grey where no seed has it.
func confusion(r result) (figure.Chart, bool) {
	var sums [][]float64
	var seeds []float64
	for _, s := range r.Seeds {
		if s.Prior == nil || *s.Prior < 0 || *s.Prior >= len(s.Choices) {
			continue
		}
		for len(sums) < len(s.Choices) {
			sums, seeds = append(sums, make([]float64, len(s.Choices))), append(seeds, 0)
		}
		all := 0.0
		for _, n := range s.Choices {
			all += n
		}
		for i, n := range s.Choices {
			sums[*s.Prior][i] += n / all
		}
		seeds[*s.Prior]++
	}
	at, names := make([]float64, len(sums)), make([]string, len(sums))
	for i, row := range sums {
		at[i], names[i] = float64(i), fmt.Sprint(i+1)
		for j := range row {
			row[j] = row[j] / seeds[i] // none of that prior: NaN
		}
	}
	scale := &figure.Scale{Label: "share of decisions", Low: 0, High: 1}
	return figure.Chart{Title: fmt.Sprintf("%s (%d)", r.Policy, len(r.Seeds)), Scale: scale,
		X:      figure.Axis{Label: "prior that decided", Names: names, Low: -0.5, High: float64(len(at)) - 0.5, Tight: true},
		Y:      figure.Axis{Label: "true prior", Names: names, Low: -0.5, High: float64(len(at)) - 0.5, Tight: true},
		Layers: []figure.Layer{figure.Map{X: at, Y: at, Z: sums, Scale: scale, Whole: true}}}, len(at) > 0
}

// drawConfusion draws a chart for each policy whose decisions are each by one prior.
func (s style) drawConfusion(results []result, path string) error {
	out := figure.Figure{Title: s.title}
	for _, r := range results {
		if chart, ok := confusion(r); ok {
			out.Charts = append(out.Charts, chart)
		}
	}
	if len(out.Charts) == 0 {
		return errors.New("-y confusion: no policy of these results decides by one of several priors, one of which is true")
	}
	return write(&out, path)
}
