package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// style is what a drawing looks like.
type style struct {
	title, x, y string
	log         bool
	floor       float64 // of a logarithmic axis
}

// palette is Okabe and Ito's, which people with colour blindness can distinguish.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255}, {150, 140, 40, 255},
}

// least bounds a logarithmic axis from below: a regret of zero has no logarithm.
const least = 1e-9

// floorOf is the low end of a logarithmic axis: below every mean that is above least. A
// band that reaches zero is cut there.
func floorOf(curves []curve) float64 {
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

// draw writes the picture.
func (s style) draw(curves []curve, path string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = s.title, s.x, s.y
	p.Legend.Top = true
	if s.log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 1}
		s.floor = floorOf(curves)
	}
	p.Add(plotter.NewGrid())
	for i, c := range curves {
		if err := s.add(p, c, i); err != nil {
			return fmt.Errorf("policy %q: %w", c.name, err)
		}
	}
	return p.Save(18*vg.Centimeter, 12*vg.Centimeter, path)
}

// add draws a curve's band and line, as steps.
func (s style) add(p *plot.Plot, c curve, number int) error {
	ink := palette[number%len(palette)]
	var line, upper, lower plotter.XYs
	for i, x := range c.x {
		if i > 0 { // the value before holds until here
			line = append(line, plotter.XY{X: x, Y: s.visible(c.mean[i-1])})
			upper = append(upper, plotter.XY{X: x, Y: s.visible(c.mean[i-1] + 2*c.standardError[i-1])})
			lower = append(lower, plotter.XY{X: x, Y: s.visible(c.mean[i-1] - 2*c.standardError[i-1])})
		}
		line = append(line, plotter.XY{X: x, Y: s.visible(c.mean[i])})
		upper = append(upper, plotter.XY{X: x, Y: s.visible(c.mean[i] + 2*c.standardError[i])})
		lower = append(lower, plotter.XY{X: x, Y: s.visible(c.mean[i] - 2*c.standardError[i])})
	}
	if c.seeds > 1 {
		ring := append(plotter.XYs{}, upper...)
		for i := len(lower) - 1; i >= 0; i-- {
			ring = append(ring, lower[i])
		}
		band, err := plotter.NewPolygon(ring)
		if err != nil {
			return err
		}
		faint := ink
		faint.A = 50
		band.Color, band.LineStyle.Width = faint, 0
		p.Add(band)
	}
	l, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	l.Color, l.Width = ink, vg.Points(1.5)
	if number >= len(palette) {
		l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(l)
	p.Legend.Add(fmt.Sprintf("%s (%d)", c.name, c.seeds), l)
	return nil
}

// visible keeps a value on the axis.
func (s style) visible(v float64) float64 {
	if s.log {
		return math.Max(v, s.floor)
	}
	return v
}
