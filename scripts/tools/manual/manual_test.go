package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManualOfThisRepository makes the manual as the package has it, and looks at it as a
// browser would: every link of every page leads to a file that is there.
func TestManualOfThisRepository(t *testing.T) {
	out := t.TempDir()
	if err := run("../../..", out, "test"); err != nil {
		t.Fatal(err)
	}
	pages, links := 0, 0
	reference := regexp.MustCompile(`(?:href|src)="([^"#]*)(#[^"]*)?"`)
	err := filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if filepath.Ext(name) == ".go" {
			t.Errorf("%s: below dist/ it is a package of this module, for go build ./...", name)
		}
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		pages++
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "raw HTML omitted") || strings.Contains(string(text), "&lt;!--") {
			t.Errorf("%s: HTML of the source is shown, or left out", name)
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "" || strings.Contains(m[1], ":") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 40 || links < 200 {
		t.Errorf("%d pages with %d links", pages, links)
	}
	for _, name := range []string{"index.html", "docs/tutorials/simulate.html", "docs/tutorials/minimal-to-mine.html", "docs/reference/configuration.html", "drivers/exec/examples/lamp/main.go.html"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestBrokenLinks: a manual whose links lead nowhere is not made.
func TestBrokenLinks(t *testing.T) {
	for text, want := range map[string]string{
		"# A\n\n[b](b.md)\n":                "b.md",
		"# A\n\n[b](#nowhere)\n":            "no heading #nowhere",
		"# A\n\n[b](../../elsewhere.txt)\n": "outside",
		"# A\n\n![b](b.png)\n":              "b.png",
		"# A\n\n[b](#a)\n":                  "",
		"<!-- test: x -->\n# A `b`\n\n[b](#a-b), [c](README.md#a-b)\n": "",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "docs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "docs/README.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := run(root, t.TempDir(), "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
