package figure

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster draws dots, as many to a point as [resolution].
type raster struct {
	img   *image.RGBA
	clips image.Rectangle
	faces map[float64]font.Face
}

func newPNG(s Size) canvas {
	all := image.Rect(0, 0, int(math.Ceil(s.Width*resolution)), int(math.Ceil(s.Height*resolution)))
	return &raster{image.NewRGBA(all), all, map[float64]font.Face{}}
}

// fill paints an outline of closed rings, by the nonzero rule.
func (r *raster) fill(c color.NRGBA, rings ...[]point) {
	b := boxOf(rings).Intersect(r.clips)
	if b.Empty() {
		return
	}
	v := vector.NewRasterizer(b.Dx(), b.Dy())
	to := func(q point) (x, y float32) {
		return float32(q.x*resolution - float64(b.Min.X)), float32(q.y*resolution - float64(b.Min.Y))
	}
	for _, ring := range rings {
		for i, q := range ring {
			x, y := to(q)
			if i == 0 {
				v.MoveTo(x, y)
			} else {
				v.LineTo(x, y)
			}
		}
		v.ClosePath()
	}
	v.Draw(r.img, b, image.NewUniform(c), image.Point{})
}

// boxOf are the dots that outlines may touch.
func boxOf(rings [][]point) image.Rectangle {
	x, y := noLimits(), noLimits()
	for _, ring := range rings {
		for _, q := range ring {
			x, y = x.with(q.x), y.with(q.y)
		}
	}
	if math.IsNaN(x.low) {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(x.low*resolution)), int(math.Floor(y.low*resolution)), int(math.Ceil(x.high*resolution))+1, int(math.Ceil(y.high*resolution))+1)
}

func (r *raster) path(points []point, ink pen) {
	if ink.width == 0 {
		r.fill(ink.colour, points)
		return
	}
	if ink.closed {
		points = append(append([]point{}, points...), points[0])
	}
	var rings [][]point
	for _, run := range dashes(points, ink.dash) {
		for i := 1; i < len(run); i++ {
			rings = append(rings, thick(run[i-1], run[i], ink.width))
			if i > 1 {
				rings = append(rings, ring(run[i-1], ink.width/2))
			}
		}
	}
	if len(rings) > 0 {
		r.fill(ink.colour, rings...)
	}
}

// thick is the outline of a stroke, turning as all outlines do: what lies in two of them is painted once.
func thick(a, b point, width float64) []point {
	dx, dy := b.x-a.x, b.y-a.y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return nil
	}
	nx, ny := -dy/length*width/2, dx/length*width/2
	return []point{{a.x + nx, a.y + ny}, {a.x - nx, a.y - ny}, {b.x - nx, b.y - ny}, {b.x + nx, b.y + ny}}
}

// ring is a circle as a polygon, fine enough for the resolution, turning as thick does.
func ring(at point, radius float64) []point {
	n := max(8, int(4*math.Sqrt(radius*resolution)))
	out := make([]point, n)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		out[i] = point{at.x + radius*cos, at.y + radius*sin}
	}
	return out
}

// dashes cuts a path into those pieces that are drawn.
func dashes(points []point, lengths []float64) [][]point {
	if len(lengths) == 0 {
		return [][]point{points}
	}
	var out [][]point
	on, left, k := true, lengths[0], 0
	run := points[:1:1]
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		for length := math.Hypot(b.x-a.x, b.y-a.y); length > left; length = math.Hypot(b.x-a.x, b.y-a.y) {
			a = point{a.x + (b.x-a.x)*left/length, a.y + (b.y-a.y)*left/length}
			if run = append(run, a); on {
				out = append(out, run)
			}
			on, k, run = !on, (k+1)%len(lengths), []point{a}
			left = lengths[k]
		}
		left -= math.Hypot(b.x-a.x, b.y-a.y)
		run = append(run, b)
	}
	if on {
		out = append(out, run)
	}
	return out
}

func (r *raster) boxes(fill color.NRGBA, of ...box) {
	for _, q := range of { // whole dots: neighbours leave no seam
		dots := image.Rect(round(q.a.x), round(q.a.y), max(round(q.b.x), round(q.a.x)+1), max(round(q.b.y), round(q.a.y)+1)).Intersect(r.clips)
		draw.Draw(r.img, dots, image.NewUniform(fill), image.Point{}, draw.Over)
	}
}

func round(v float64) int { return int(math.Round(v * resolution)) }

func (r *raster) circle(at point, radius float64, ink pen) {
	if ink.width == 0 {
		r.fill(ink.colour, ring(at, radius))
		return
	}
	inner := ring(at, radius-ink.width/2)
	for i, j := 0, len(inner)-1; i < j; i, j = i+1, j-1 {
		inner[i], inner[j] = inner[j], inner[i]
	}
	r.fill(ink.colour, ring(at, radius+ink.width/2), inner)
}

func (r *raster) text(at point, words string, t lettering) {
	if words == "" {
		return
	}
	f := r.faces[t.size]
	if f == nil {
		f = face(t.size * resolution)
		r.faces[t.size] = f
	}
	width := font.MeasureString(f, words)
	back := t.anchor * float64(width) / 64
	if !t.up {
		r.letters(r.img, f, at.x*resolution-back, at.y*resolution, words, t)
		return
	}
	// Turned text is drawn lying, and its dots are turned.
	m := f.Metrics()
	lying := image.NewRGBA(image.Rect(0, 0, width.Ceil()+2, (m.Ascent+m.Descent).Ceil()+2))
	r.letters(lying, f, 1, float64(m.Ascent.Ceil()), words, t)
	turned := image.NewRGBA(image.Rect(0, 0, lying.Rect.Dy(), lying.Rect.Dx()))
	for y := range lying.Rect.Dy() {
		for x := range lying.Rect.Dx() {
			turned.SetRGBA(y, lying.Rect.Dx()-1-x, lying.RGBAAt(x, y))
		}
	}
	corner := image.Pt(int(at.x*resolution)-m.Ascent.Ceil(), int(at.y*resolution+back)-lying.Rect.Dx())
	draw.Draw(r.img, turned.Rect.Add(corner), turned, image.Point{}, draw.Over)
}

func (r *raster) letters(img *image.RGBA, f font.Face, x, y float64, words string, t lettering) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(t.colour), Face: f}
	bold := 0.0
	if t.bold {
		bold = t.size * resolution / 30 // drawn twice, a little apart
	}
	for _, shift := range []float64{0, bold}[:1+b2i(t.bold)] {
		d.Dot = fixed.Point26_6{X: fixed.Int26_6((x + shift) * 64), Y: fixed.Int26_6(y * 64)}
		d.DrawString(words)
	}
}

func (r *raster) clip(a, b point) {
	r.clips = image.Rect(round(a.x), round(a.y), round(b.x), round(b.y)).Intersect(r.img.Rect)
}
func (r *raster) unclip() { r.clips = r.img.Rect }

func (r *raster) write(w io.Writer, _ string) error { return png.Encode(w, r.img) }
