package web

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// labComparison has texts that are no markup, long keys, and seven runs.
func labComparison() *Comparison {
	columns := []string{"", "a <b>", "b", "c", "d", "e", "f", "g"}
	row := func(name, cell string) []string {
		return append([]string{name}, strings.Split(strings.Repeat(cell+"|", 6)+cell, "|")...)
	}
	return &Comparison{Title: "a <b>, b: compared", Objective: "energy mJ, maximised; 7 runs", Remarks: []string{"the objectives differ: a x, b <script>alert(1)</script>."},
		Tables: []ComparedTable{
			{Heading: "At a glance", Columns: columns, Rows: [][]string{row("Best, by the model", "7.4988 mJ ± 0.03"), row("Re-measured", "better than the start: 7.4933 mJ against 4.7623 mJ")},
				Figures: []FigurePart{{Kind: "steps", Title: "Best so far", SVG: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 330"><path d="M0 0H500"/></svg>`}}},
			{Heading: "Differences of configuration", Note: "None.", Columns: columns, Rows: [][]string{row("safety.variable.pump_current_of_the_second_stage.readback", `["2s", "10s"]`)}}}}
}

// TestComparison: one file that needs nothing else, whole on every screen, without a word from axe-core, the same bytes each time.
func TestComparison(t *testing.T) {
	t.Parallel()
	var first, again bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &again} {
		if err := WriteComparison(out, labComparison()); err != nil {
			t.Fatal(err)
		}
	}
	if html := first.String(); html != again.String() || strings.Contains(html, "<script") || !strings.Contains(html, "&lt;script&gt;") || !strings.Contains(html, "</svg></figure>") {
		t.Errorf("a script, no drawing, or other bytes: %.3000s", html)
	}
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	file := filepath.Join(t.TempDir(), "comparison.html")
	if err := os.WriteFile(file, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, s := range webtest.Screens() {
		if i < len(webtest.Screens())-1 && !testsize.Whole() {
			continue
		}
		b := webtest.Open(t, ctx, "file://"+file, s)
		if got := b.Text(t, "h1"); got != "a <b>, b: compared" {
			t.Errorf("the heading is %q", got)
		}
		b.Fits(t)
		b.Accessible(t)
		b.Quiet(t, "file://"+file)
		b.Shoot(t, "comparison-"+s.Name)
	}
}
