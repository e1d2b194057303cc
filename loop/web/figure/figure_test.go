package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// sample is a figure with everything in it.
func sample() *Figure {
	var x, y, low, high, z []float64
	for i := range 60 {
		v := float64(i) / 10
		x, y = append(x, v), append(y, math.Sin(v))
		low, high, z = append(low, math.Sin(v)-0.3), append(high, math.Sin(v)+0.3), append(z, v)
	}
	y[20] = math.NaN()
	grid := make([][]float64, 30)
	for j := range grid {
		grid[j] = make([]float64, 60)
		for i := range grid[j] {
			grid[j][i] = math.Hypot(x[i]-3, float64(j)/5-3)
		}
	}
	scale := ScaleOf("distance (mm)", 0, 4.2)
	return &Figure{Title: "Everything <& once>", Note: "bars are two standard errors, µ ± 2σ", Charts: []Chart{
		{Title: "lines", X: Axis{Label: "time (s)"}, Y: Axis{Label: "height (mm)"}, Layers: []Layer{
			Band{Name: "95 %", X: x, Low: low, High: high, Colour: First}, Line{Name: "mean", X: x, Y: y, Colour: First},
			Line{Name: "best", X: x, Y: low, Colour: Second, Dashed: true, Stepped: true}, Rule{Name: "limit", At: 0.5, Colour: Third, Dashed: true}}},
		{Title: "points", X: Axis{Label: "shots", Log: true}, Y: Axis{Label: "mean"}, Scale: scale, Layers: []Layer{
			Points{Name: "tried", X: []float64{1, 10, 100, -1}, Y: []float64{1, 2, 3, 4}, YError: []float64{.1, .2, math.NaN(), 1}, Worth: []float64{0, 2, 4, math.NaN()}, Scale: scale},
			Points{Name: "start", X: []float64{5}, Y: []float64{2}, Shape: Cross, Colour: Second, Large: true}, Points{X: []float64{50}, Y: []float64{2}, Shape: Diamond, Large: true},
			Points{Name: "circle", X: []float64{20}, Y: []float64{1.5}, Shape: Circle}}},
		{Title: "map", X: Axis{Label: "x", Tight: true}, Y: Axis{Label: "y", Tight: true}, Scale: scale, Layers: []Layer{Map{X: x, Y: z[:30], Z: grid, Scale: scale, Levels: scale.Levels(5)}}},
		{Title: "bars", X: Axis{Label: "share"}, Y: Axis{Names: []string{"mirror", "a knob with a very long name indeed"}}, Layers: []Layer{
			Bars{Name: "alone", Value: []float64{.2, .7}, Error: []float64{.1, .05}, Colour: First, Rows: 2}, Bars{Name: "all", Value: []float64{.3, .9}, Colour: Second, Row: 1, Rows: 2}}},
	}}
}

func write(t *testing.T, f *Figure, format string, s Size) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f.Write(&out, format, s); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.Bytes()
}

// TestFormats: every format at every size is what its readers take, the same bytes twice, with
// every word of the figure in it.
func TestFormats(t *testing.T) {
	for name, s := range Sizes() {
		out := write(t, sample(), "svg", s)
		if !bytes.Equal(out, write(t, sample(), "svg", s)) {
			t.Errorf("%s: the same figure gave other bytes", name)
		}
		words := textOf(t, out)
		for _, want := range []string{"Everything <& once>", "µ ± 2σ", "time (s)", "mean", "distance (mm)"} {
			if !strings.Contains(words, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
		if bytes.Contains(out, []byte("NaN")) || bytes.Contains(out, []byte("Inf")) {
			t.Errorf("%s: a number that is none was drawn", name)
		}
		if s != Column {
			continue // the drawing is the same, and dots take time
		}
		img, err := png.Decode(bytes.NewReader(write(t, sample(), "png", s)))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Dx(); got != int(math.Ceil(3*s.Width)) {
			t.Errorf("%s: %d dots wide, not 3 to a point of %g", name, got, s.Width)
		}
		doc := write(t, sample(), "pdf", s)
		if !bytes.HasPrefix(doc, []byte("%PDF-")) || !bytes.Equal(doc, write(t, sample(), "pdf", s)) {
			t.Errorf("%s: no PDF, or another one the second time", name)
		}
	}
}

// textOf reads an SVG as XML and gives the text in it.
func textOf(t *testing.T, out []byte) string {
	t.Helper()
	d, words := xml.NewDecoder(bytes.NewReader(out)), ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("the SVG is no XML: %v", err)
		}
		if text, ok := token.(xml.CharData); ok {
			words += " " + string(text)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, f := range map[string]func() error{
		"nothing to draw": func() error { return (&Figure{}).Write(io.Discard, "svg", Slide) },
		`not as "gif"`:    func() error { return sample().Write(io.Discard, "gif", Slide) },
		"cannot be drawn": func() error { return sample().Write(io.Discard, "svg", Size{}) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// TestTicks are round numbers inside the axis, few enough to read.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		want      string
	}{
		{Axis{}, 0, 1, "[0 0.2 0.4 0.6 0.8 1.0]"},
		{Axis{}, -3e-5, 4e-5, "[-2e-05 0 2e-05 4e-05]"},
		{Axis{Whole: true}, 1, 3, "[1 2 3]"},
		{Axis{Log: true}, 1, 1000, "[1 10 100 1000]"},
		{Axis{Names: []string{"a", "b"}}, 0, 1, "[a b]"},
		{Axis{}, 5, 5, "[4.6 4.8 5.0 5.2 5.4]"},
		{Axis{}, math.NaN(), math.NaN(), "[0 0.2 0.4 0.6 0.8 1.0]"},
		{Axis{Low: 2, High: 4}, 0, 100, "[2.0 2.5 3.0 3.5 4.0]"},
	} {
		if !(c.axis.Low != 0 || c.axis.High != 0 || len(c.axis.Names) > 0 || c.low == c.high || math.IsNaN(c.low) || c.axis.Log) {
			c.axis.Low, c.axis.High = c.low, c.high
		}
		if c.axis.Log {
			c.low, c.high = c.low*1.1, c.high/1.1
		}
		var got []string
		for _, k := range c.axis.ticks(c.axis.spanOf(noLimits().with(c.low, c.high)), 5) {
			got = append(got, k.text)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%g to %g: %v, not %s", c.low, c.high, got, c.want)
		}
	}
}

// TestContour compares the length of a circle's contour with 2 pi r: the field is linear in each
// triangle, so on a grid of 0.1 the polygon is shorter by less than 1 in 1000.
func TestContour(t *testing.T) {
	var x []float64
	z := make([][]float64, 61)
	for i := range 61 {
		x = append(x, float64(i)/10-3)
	}
	for j := range z {
		for i := range x {
			z[j] = append(z[j], math.Hypot(x[i], x[j]))
		}
	}
	length := 0.0
	for _, s := range contour(x, x, z, 2.03) {
		length += math.Hypot(s[2]-s[0], s[3]-s[1])
	}
	if lines := chained(contour(x, x, z, 2.03)); len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Errorf("%d lines, not one that is closed", len(lines))
	}
	if off := length/(4.06*math.Pi) - 1; math.Abs(off) > 1e-3 {
		t.Errorf("the contour is %g long, not %g", length, 4.06*math.Pi)
	}
}

// TestDashes cuts a path of two pieces into dashes whose lengths add up to their share.
func TestDashes(t *testing.T) {
	total := 0.0
	for _, run := range dashes([]point{{0, 0}, {7, 0}, {7, 14}}, []float64{2, 1}) {
		for i := 1; i < len(run); i++ {
			total += math.Hypot(run[i].x-run[i-1].x, run[i].y-run[i-1].y)
		}
	}
	if total != 14 {
		t.Errorf("%g of 21 is drawn, not two thirds", total)
	}
}

// TestWholeCells: every cell has its value in the middle, the outer ones too.
func TestWholeCells(t *testing.T) {
	v := []float64{0, 1, 2}
	of := edges(v, false)
	if widen(of, v); !slices.Equal(of, []float64{-0.5, 0.5, 1.5, 2.5}) {
		t.Errorf("%v", of)
	}
	one := edges(v[:1], false)
	if widen(one, v[:1]); !slices.Equal(one, []float64{0, 0}) {
		t.Errorf("one value: %v", one)
	}
}
