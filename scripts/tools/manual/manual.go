package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// manual is a manual that is being made.
type manual struct {
	root, out, version string
	anchors            map[string]map[string]bool // of each page, by its path in the repository
	links              []link
	done               map[string]bool
	copied             int
}

// link is a link from a page to an anchor of a page.
type link struct{ from, to, anchor string }

func newManual(root, out, version string) *manual {
	return &manual{root: root, out: out, version: version, anchors: map[string]map[string]bool{}, done: map[string]bool{}}
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// follow makes what stands at a path of the repository, once, and what it links to. Go's sources
// become pages: as files they would be packages of the module in which the manual is made.
func (m *manual) follow(name string) error {
	if m.done[name] {
		return nil
	}
	m.done[name] = true
	info, err := os.Stat(m.in(name))
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return m.folder(name)
	case path.Ext(name) == ".md":
		return m.page(name)
	}
	content, err := os.ReadFile(m.in(name))
	if err != nil {
		return err
	}
	if path.Ext(name) == ".go" {
		return m.frame(name, name, fmt.Sprintf("<h1>%s</h1>\n<pre><code>%s</code></pre>\n", html(name), html(string(content))))
	}
	m.copied++
	return m.write(name, content)
}

func html(text string) string { return template.HTMLEscapeString(text) }

func (m *manual) in(name string) string { return filepath.Join(m.root, filepath.FromSlash(name)) }

func (m *manual) write(name string, content []byte) error {
	file := filepath.Join(m.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

func (m *manual) page(name string) error {
	source, err := os.ReadFile(m.in(name))
	if err != nil {
		return err
	}
	names := &headings{used: map[string]bool{}}
	document := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(names))))
	m.anchors[name] = names.used
	dropComments(document)
	err = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var problem error
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				n.Destination, problem = m.link(name, string(n.Destination))
			}
		case *ast.Image:
			if entering {
				n.Destination, problem = m.link(name, string(n.Destination))
			}
		}
		return ast.WalkContinue, problem
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return m.frame(name, titleOf(document, source), body.String())
}

// dropComments takes HTML comments out of a page: they are for its test.
func dropComments(document ast.Node) {
	var comments []ast.Node
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if b, ok := n.(*ast.HTMLBlock); ok && entering && b.HTMLBlockType == ast.HTMLBlockType2 {
			comments = append(comments, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range comments {
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// link makes what a link of a page leads to, and returns the link as the manual has it.
func (m *manual) link(from, target string) ([]byte, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" {
		return []byte(target), err
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if strings.HasPrefix(to, "..") {
		return nil, fmt.Errorf("link to %s: outside the repository", target)
	}
	if info, err := os.Stat(m.in(to)); err == nil && info.IsDir() {
		if _, err := os.Stat(m.in(path.Join(to, "README.md"))); err == nil {
			to = path.Join(to, "README.md")
		}
	}
	if err := m.follow(to); err != nil {
		return nil, fmt.Errorf("link to %s: %w", target, err)
	}
	m.links = append(m.links, link{from, to, u.Fragment})
	u.Path = relative(from, m.outputOf(to))
	return []byte(u.String()), nil
}

// outputOf is where the manual has what stands at a path of the repository.
func (m *manual) outputOf(name string) string {
	if page, ok := strings.CutSuffix(name, ".md"); ok {
		return page + ".html"
	}
	if path.Ext(name) == ".go" {
		return name + ".html"
	}
	if info, err := os.Stat(m.in(name)); err == nil && info.IsDir() {
		return path.Join(name, "index.html")
	}
	return name
}

// relative is the way from a page to a file, both seen from the top.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// check says which links lead to an anchor that there is not.
func (m *manual) check() error {
	for _, l := range m.links {
		if l.anchor != "" && !m.anchors[l.to][l.anchor] {
			return fmt.Errorf("%s: %s has no heading #%s", l.from, l.to, l.anchor)
		}
	}
	return nil
}

// folder makes a list of a folder's files, and copies them.
func (m *manual) folder(name string) error {
	entries, err := fs.ReadDir(os.DirFS(m.root), name)
	if err != nil {
		return err
	}
	var list strings.Builder
	fmt.Fprintf(&list, "<h1>%s</h1>\n<ul>\n", html(name))
	for _, e := range entries {
		if !e.Type().IsRegular() || slices.Contains([]string{".go", ".pyc"}, path.Ext(e.Name())) {
			continue
		}
		if err := m.follow(path.Join(name, e.Name())); err != nil {
			return err
		}
		to := path.Base(m.outputOf(path.Join(name, e.Name())))
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a></li>\n", html(to), html(e.Name()))
	}
	list.WriteString("</ul>\n")
	return m.frame(path.Join(name, "index.md"), name, list.String())
}

//go:embed page.html
var pageTemplate string

//go:embed manual.css
var sheet []byte

var page = template.Must(template.New("page").Parse(pageTemplate))

// frame writes a page around its body.
func (m *manual) frame(name, title, body string) error {
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"Title": title, "Body": template.HTML(body), // of this repository
		"Sheet": relative(name, "manual.css"), "Start": relative(name, "docs/README.html"), "Version": m.version,
	})
	if err != nil {
		return err
	}
	return m.write(m.outputOf(name), wrapTables(b.Bytes()))
}

// wrapTables lets a wide table scroll by itself, so that the page does not.
func wrapTables(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("<table>"), []byte(`<div class="wide"><table>`))
	return bytes.ReplaceAll(text, []byte("</table>"), []byte("</table></div>"))
}

// style writes the style sheet, and a first page that leads to the start.
func (m *manual) style() error {
	if err := m.write("manual.css", sheet); err != nil {
		return err
	}
	return m.write("index.html", []byte(`<!doctype html><meta charset="utf-8"><title>tuner</title><meta http-equiv="refresh" content="0; url=docs/README.html"><a href="docs/README.html">The manual of tuner</a>`+"\n"))
}
