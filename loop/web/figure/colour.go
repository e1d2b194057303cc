package figure

import (
	"image/color"
	"math"
)

// Colour is an index into a palette of seven colours that people with any colour vision tell
// apart, also in grey: that of Okabe and Ito (2008), without its yellow, which is too light on white.
type Colour int

// The colours by their use: Ink for axes' and neutral marks, First and on for data.
const (
	Ink Colour = iota
	First
	Second
	Third
	Fourth
	Fifth
	Sixth
	Soft
)

var palette = [...]color.NRGBA{
	{0x16, 0x20, 0x2a, 0xff}, // ink
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x76, 0x82, 0x8e, 0xff}, // grey
}

func (c Colour) rgb() color.NRGBA { return palette[max(0, int(c))%len(palette)] }

// Of is the colour of the i-th of several data series.
func Of(i int) Colour { return First + Colour(i%int(Soft-First)) }

// ShapeOf is the mark of the i-th of several data series: another one where the colours begin anew.
func ShapeOf(i int) Shape { return []Shape{Disc, Circle, Diamond, Cross}[i/int(Soft-First)%4] }

var (
	white    = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	gridLine = color.NRGBA{0xdd, 0xe2, 0xe6, 0xff}
)

// faint is a colour with so much of its strength.
func faint(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(math.Round(255 * alpha))
	return c
}

// anchors are five colours of viridis (S. van der Walt, N. Smith, 2015, released as CC0), whose lightness
// grows evenly, at 0, 1/4, 1/2, 3/4 and 1.
var anchors = [...][3]float64{{0x44, 0x01, 0x54}, {0x3b, 0x52, 0x8b}, {0x21, 0x91, 0x8c}, {0x5e, 0xc9, 0x62}, {0xfd, 0xe7, 0x25}}

// shades is how many colours a scale has: more are not told apart.
const shades = 96

// shade is the colour of a share of a scale, 0 dark to 1 bright; what lies outside is taken at the end.
func shade(share float64) color.NRGBA {
	share = math.Round(min(max(share, 0), 1)*(shades-1)) / (shades - 1)
	t := share * float64(len(anchors)-1)
	i := min(int(t), len(anchors)-2)
	var c [3]uint8
	for k := range c {
		c[k] = uint8(math.Round(anchors[i][k] + (t-float64(i))*(anchors[i+1][k]-anchors[i][k])))
	}
	return color.NRGBA{c[0], c[1], c[2], 0xff}
}
