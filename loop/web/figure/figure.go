package figure

import (
	"fmt"
	"io"
	"math"
)

// Figure is one or more charts under one title.
type Figure struct {
	Title string
	// Note is a line below the title, such as what a bar means.
	Note   string
	Charts []Chart
	// Columns is how many charts stand beside each other; 0: as suits their number.
	Columns int
	// OneKey is for charts of the same marks: the first one's names stand once, above all of them.
	OneKey bool
}

// Chart is one pair of axes with what is drawn in it.
type Chart struct {
	Title string
	X, Y  Axis
	// Layers are drawn in this order. Those with a name appear in the key.
	Layers []Layer
	// Scale explains the colours of a map, nil: none.
	Scale *Scale
	// keyless leaves the names out; scaled is the room of the widest scale of the figure.
	keyless bool
	scaled  float64
}

// Scale is a colour scale: what the darkest and the brightest colour stand for.
type Scale struct {
	Label     string
	Low, High float64
}

// Axis is one axis of a chart.
type Axis struct {
	// Label names the quantity and its unit.
	Label string
	// Low and High bound the axis, in the quantity's unit; both 0: as the data ask.
	Low, High float64
	// Log is for a logarithmic axis; what is not positive is not drawn on it.
	Log bool
	// Tight leaves no margin beside the data.
	Tight bool
	// Whole keeps ticks at whole numbers.
	Whole bool
	// Names stand in place of numbers at 0, 1, 2, ...
	Names []string
}

// Size is how large a figure is drawn.
type Size struct {
	// Width and Height are in points (1/72 inch), Font is the height of the text.
	Width, Height, Font float64
}

// Slide fills a slide of 16:9, Column is as wide as one column of a paper (89 mm), Page as wide as a page's text.
var (
	Slide  = Size{960, 540, 18}
	Column = Size{252, 200, 7.5}
	Page   = Size{500, 330, 10}
)

// Sizes are the sizes by name.
func Sizes() map[string]Size { return map[string]Size{"slide": Slide, "column": Column, "page": Page} }

// Formats are the formats that Write knows.
func Formats() []string { return []string{"svg", "pdf", "png"} }

// resolution is how many dots of a PNG stand on a point: 3 times a screen's.
const resolution = 3

// Write draws the figure in one of [Formats].
//
// Errors: a figure without a chart, a size that is not positive, an unknown format, and those of w.
func (f *Figure) Write(w io.Writer, format string, s Size) error {
	if len(f.Charts) == 0 {
		return fmt.Errorf("the figure %q has nothing to draw", f.Title)
	}
	if !(s.Width > 0 && s.Height > 0 && s.Font > 0) || math.IsInf(s.Width*s.Height*s.Font, 0) {
		return fmt.Errorf("a figure of %g x %g points with text of %g points cannot be drawn", s.Width, s.Height, s.Font)
	}
	var c canvas
	switch format {
	case "svg":
		c = newSVG(s)
	case "pdf":
		c = newPDF(s)
	case "png":
		c = newPNG(s)
	default:
		return fmt.Errorf("figures are written as svg, pdf or png, not as %q", format)
	}
	f.draw(c, s)
	return c.write(w, f.Title)
}
