package figure

import (
	"image/color"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

// pdf draws on one page of a PDF file; the letters that it uses are embedded.
type pdf struct{ doc *fpdf.Fpdf }

func newPDF(s Size) canvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: s.Width, Ht: s.Height}})
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	// The same figure is the same file.
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetCatalogSort(true)
	doc.AddUTF8FontFromBytes("Go", "", goregular.TTF)
	doc.AddUTF8FontFromBytes("Go", "B", gobold.TTF)
	doc.AddPage()
	return &pdf{doc}
}

// begin sets colours and line of what follows; the style is F for filled, D for drawn.
func (p *pdf) begin(ink pen) (style string) {
	p.doc.SetAlpha(float64(ink.colour.A)/255, "Normal")
	if ink.width == 0 {
		p.doc.SetFillColor(int(ink.colour.R), int(ink.colour.G), int(ink.colour.B))
		return "F"
	}
	p.doc.SetDrawColor(int(ink.colour.R), int(ink.colour.G), int(ink.colour.B))
	p.doc.SetLineWidth(ink.width)
	p.doc.SetDashPattern(ink.dash, 0)
	return "D"
}

func (p *pdf) path(points []point, ink pen) {
	style := p.begin(ink)
	for i, q := range points {
		if i == 0 {
			p.doc.MoveTo(q.x, q.y)
		} else {
			p.doc.LineTo(q.x, q.y)
		}
	}
	if ink.closed {
		p.doc.ClosePath()
	}
	p.doc.DrawPath(style)
}

func (p *pdf) boxes(fill color.NRGBA, of ...box) {
	style := p.begin(pen{colour: fill})
	for _, r := range of {
		p.doc.Rect(r.a.x, r.a.y, r.b.x-r.a.x, r.b.y-r.a.y, style)
	}
}

func (p *pdf) circle(at point, radius float64, ink pen) {
	style := p.begin(ink)
	p.doc.Circle(at.x, at.y, radius, style)
}

func (p *pdf) text(at point, words string, t lettering) {
	if words == "" {
		return
	}
	p.doc.SetAlpha(float64(t.colour.A)/255, "Normal")
	p.doc.SetTextColor(int(t.colour.R), int(t.colour.G), int(t.colour.B))
	style := ""
	if t.bold {
		style = "B"
	}
	p.doc.SetFont("Go", style, t.size)
	back := t.anchor * p.doc.GetStringWidth(words)
	if t.up {
		p.doc.TransformBegin()
		p.doc.TransformRotate(90, at.x, at.y)
		defer p.doc.TransformEnd()
	}
	p.doc.Text(at.x-back, at.y, words)
}

func (p *pdf) clip(a, b point) { p.doc.ClipRect(a.x, a.y, b.x-a.x, b.y-a.y, false) }
func (p *pdf) unclip()         { p.doc.ClipEnd() }

func (p *pdf) write(w io.Writer, title string) error {
	p.doc.SetTitle(title, true)
	return p.doc.Output(w)
}
