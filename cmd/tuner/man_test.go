package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/labtuner/tuner/configs"
)

// TestManual: every command that help lists has a page with every flag that it takes, and
// the schema's page has every key; nothing but requests of man(7) begins a line with a
// full stop.
func TestManual(t *testing.T) {
	folder := t.TempDir()
	e, out, errOut, _ := testEnv("man", folder)
	e.lookup = func(name string) (string, bool) { return "1795288651", name == "SOURCE_DATE_EPOCH" }
	if code := execute(t.Context(), e); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	requests := regexp.MustCompile(`^\.(TH|SH|TP|B|PP|nf|fi|RS|RE)( |$)`)
	for name := range strings.Lines(out.String()) {
		page := read(t, filepath.Join(folder, strings.TrimSpace(name)))
		if !strings.HasPrefix(page, ".TH ") || !strings.Contains(strings.SplitN(page, "\n", 2)[0], `"2026-11-21"`) {
			t.Errorf("%s begins with %.60q", name, page)
		}
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !requests.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s has the line %q", name, line)
			}
		}
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		page := read(t, filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("%s: no flag --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range listed(c) {
			visit(sub)
		}
	}
	visit(newRootCommand(e))
	page := read(t, filepath.Join(folder, "tuner.toml.5"))
	for _, d := range configs.Reference() {
		if !strings.Contains(page, roff(d.Key+" = ")) {
			t.Errorf("no key %s %s", d.Section, d.Key)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRoff(t *testing.T) {
	p := &manPage{}
	p.paragraphs("One --flag.\n.hidden\n\n  a\\b\n  'c\n\nEnd.")
	want := "One \\-\\-flag.\n\\&.hidden\n.PP\n.nf\n.RS\na\\eb\n\\&'c\n.RE\n.fi\n.PP\nEnd.\n"
	if p.String() != want {
		t.Errorf("got\n%swant\n%s", p.String(), want)
	}
}
