package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/loop/web/figure"
)

// style is what a drawing looks like.
type style struct {
	title, x, y string
	log         bool
}

// least bounds a logarithmic axis from below: a regret of zero has no logarithm.
const least = 1e-9

// floor is the low end of a logarithmic axis: below every mean that is above least. A band that
// reaches zero is cut there.
func (s style) floor(curves []curve) float64 {
	if !s.log {
		return math.Inf(-1)
	}
	floor := math.Inf(1)
	for _, c := range curves {
		for _, v := range c.mean {
			if v > least {
				floor = math.Min(floor, v)
			}
		}
	}
	if math.IsInf(floor, 1) {
		return least
	}
	return math.Pow(10, math.Floor(math.Log10(floor/1.5)))
}

// draw writes the picture: of each curve its line and band, as steps.
func (s style) draw(curves []curve, path string) error {
	chart := figure.Chart{X: figure.Axis{Label: s.x}, Y: figure.Axis{Label: s.y, Log: s.log}}
	floor := s.floor(curves)
	for i, c := range curves {
		colour := figure.Of(i)
		if c.seeds > 1 {
			x, low := c.steps(floor, -2)
			_, high := c.steps(floor, 2)
			chart.Layers = append(chart.Layers, figure.Band{X: x, Low: low, High: high, Colour: colour})
		}
		x, mean := c.steps(floor, 0)
		again := figure.ShapeOf(i) != figure.Disc // the colours have come round
		chart.Layers = append(chart.Layers, figure.Line{Name: fmt.Sprintf("%s (%d)", c.name, c.seeds), X: x, Y: mean, Colour: colour, Dashed: again})
	}
	return write(&figure.Figure{Title: s.title, Charts: []figure.Chart{chart}}, path)
}

// write writes a figure in the format that the ending of the file's name says.
func write(out *figure.Figure, path string) error {
	var text bytes.Buffer
	if err := out.Write(&text, strings.TrimPrefix(filepath.Ext(path), "."), figure.Page); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o666)
}

// steps are the corners of a step function, the mean and so many standard errors, not below floor.
func (c curve) steps(floor, errors float64) (x, y []float64) {
	for i := range c.x {
		v := math.Max(c.mean[i]+errors*c.standardError[i], floor)
		if i > 0 { // the value before holds until here
			x, y = append(x, c.x[i]), append(y, y[len(y)-1])
		}
		x, y = append(x, c.x[i]), append(y, v)
	}
	return x, y
}
