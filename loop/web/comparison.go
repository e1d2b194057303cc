package web

import (
	"bytes"
	"html/template"
	"io"
)

// Comparison is two or more runs beside each other, in words and drawings.
type Comparison struct {
	// Title names the runs, Objective what all of them tune.
	Title, Objective string
	// Remarks say what makes the runs hard to compare.
	Remarks []string
	Tables  []ComparedTable
}

// ComparedTable is a table of a comparison, with the figures that follow it.
type ComparedTable struct {
	Heading, Note string
	Columns       []string
	Rows          [][]string
	Figures       []FigurePart
}

// WriteComparison writes a comparison as one HTML file that needs nothing else, and no
// JavaScript. The same comparison gives the same bytes.
//
// Errors: w's.
func WriteComparison(w io.Writer, c *Comparison) error {
	style, err := joined([]string{"style.css"})
	if err != nil {
		return err
	}
	markup, err := pageFiles.ReadFile("page/compare.html")
	if err != nil {
		return err
	}
	drawing := func(f FigurePart) template.HTML { return template.HTML(f.SVG) } // our own, no text from elsewhere
	t, err := template.New("comparison").Funcs(template.FuncMap{"drawing": drawing}).Parse(string(markup))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct {
		*Comparison
		Style template.CSS
	}{c, template.CSS(style)}); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}
