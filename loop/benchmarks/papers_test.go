package benchmarks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// PAPERS.md names files, what is declared in them, and experiments: all of them are there, and every
// experiment of a paper is named.
func TestPapersNameWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("PAPERS.md")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+\\.go): ([A-Za-z, ]+)`").FindAllStringSubmatch(string(page), -1) {
		files++
		source, err := os.ReadFile(filepath.Join("..", "..", m[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range strings.Split(m[2], ", ") {
			declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |\t)` + name + `(\(| struct| float64|\[|\s+= )`)
			if !declared.Match(source) {
				t.Errorf("%s declares no %s", m[1], name)
			}
		}
	}
	if files < 30 {
		t.Errorf("%d files are named", files)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:rahbo|cvs|irgp|priors|costids)/[a-z0-9.-]+)`").FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = true
		if _, err := Find(m[1]); err != nil {
			t.Error(err)
		}
	}
	for _, name := range Names() {
		if family, _, _ := strings.Cut(name, "/"); family == "risk-cvs" || family == "tracking" || family == "cvs" { // ours, or 36 of one kind
			continue
		}
		if !named[name] {
			t.Errorf("PAPERS.md does not name %s", name)
		}
	}
}

// FIGURES.md shows every figure that is there, and no other.
func TestFiguresAreThere(t *testing.T) {
	page, err := os.ReadFile("FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`\]\(figures/([a-z0-9-]+\.svg)\)`).FindAllStringSubmatch(string(page), -1) {
		shown[m[1]] = true
		if _, err := os.Stat(filepath.Join("figures", m[1])); err != nil {
			t.Error(err)
		}
	}
	there, err := os.ReadDir("figures")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !shown[f.Name()] {
			t.Errorf("FIGURES.md does not show %s", f.Name())
		}
	}
}
