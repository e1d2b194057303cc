package figure

import (
	"image/color"
	"io"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// canvas takes what is drawn, in points from the upper left corner. All colours are opaque or
// have an alpha; nothing is drawn outside the clip.
type canvas interface {
	// path strokes (width > 0) or fills (width 0) lines through points.
	path(points []point, ink pen)
	// boxes fills rectangles without a seam to their neighbours.
	boxes(fill color.NRGBA, of ...box)
	// circle fills or strokes a disc.
	circle(at point, radius float64, ink pen)
	text(at point, words string, t lettering)
	// clip bounds what follows to a rectangle; unclip ends that.
	clip(a, b point)
	unclip()
	write(w io.Writer, title string) error
}

type point struct{ x, y float64 }

// box is a rectangle by its upper left and lower right corner.
type box struct{ a, b point }

// pen is how a path is drawn: filled where its width is 0.
type pen struct {
	colour color.NRGBA
	width  float64
	dash   []float64
	// closed joins the last point with the first.
	closed bool
}

// lettering is how a text stands at its point.
type lettering struct {
	size   float64
	colour color.NRGBA
	// anchor is 0 where the text begins at its point, 0.5 where it is centred, 1 where it ends there.
	anchor float64
	// up turns it by 90 degrees to read from below.
	up   bool
	bold bool
}

// letters is the typeface that text is measured by, and drawn with in PDF and PNG. An SVG asks
// for Helvetica or what stands in for it, which is mostly as wide.
var letters = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic("figure: the embedded typeface cannot be read: " + err.Error())
	}
	return f
})

// face gives the typeface at a size in dots.
func face(size float64) font.Face {
	f, err := opentype.NewFace(letters(), &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic("figure: the embedded typeface cannot be drawn: " + err.Error())
	}
	return f
}

// measured is the face by which widths are taken, of 100 points.
var measured = sync.OnceValue(func() font.Face { return face(100) })

// measuring guards the face, which keeps glyphs.
var measuring sync.Mutex

// widthOf is how wide a text is at a size, in points.
func widthOf(words string, size float64) float64 {
	measuring.Lock()
	defer measuring.Unlock()
	var w fixed.Int26_6 = font.MeasureString(measured(), words)
	return float64(w) / 64 / 100 * size
}
