package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"strings"
)

// pageFiles hold the renderer: our own style, markup and script, and uPlot 1.6.32 (MIT, see
// page/uplot.LICENSE).
//
//go:embed page
var pageFiles embed.FS

// scripts are the renderer's, in the order of their use.
var scripts = [...]string{"uplot.js", "dom.js", "chart.js", "sections.js", "pictures.js", "headline.js", "fold.js", "app.js"}

// styles likewise.
var styles = [...]string{"uplot.css", "style.css"}

// WriteReport writes a document as one HTML file that needs nothing else: no network, no
// server, no other file. The same document gives the same bytes.
//
// Errors: w's.
func WriteReport(w io.Writer, d *Document) error {
	text, err := json.Marshal(d) // escapes <, > and &, so that no text can end the element
	if err != nil {
		return err
	}
	style, err := joined(styles[:])
	if err != nil {
		return err
	}
	script, err := joined(scripts[:])
	if err != nil {
		return err
	}
	markup, err := pageFiles.ReadFile("page/report.html")
	if err != nil {
		return err
	}
	t, err := template.New("report").Parse(string(markup))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, map[string]any{"Title": d.Run.Name + " · tuner report", "Style": template.CSS(style), "Script": template.JS(script), "Document": template.JS(text)}); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// joined is the text of files of the page, one after the other.
func joined(names []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		text, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			return "", err
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.String(), nil
}
