package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/web/webtest"
)

// The table of control sets says what a step cost, shots and all, not the set's own price; and
// where the run has said that it will compare nothing, the page does not promise it.
func TestPageTellsWhatIs(t *testing.T) {
	t.Parallel()
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	r, o := labJournal(t, 30), labOptions()
	o.Verify.Pairs, o.Verify.Why = 0, "stop.verify is 0"
	d, err := Collect(Source{Reader: r, Options: o, Risk: 0.5, Picture: labPicture()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Sets {
		d.Sets[i].Cost, d.Sets[i].Spent = 0, journal.Number(10*d.Sets[i].Steps)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(f, d); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b := webtest.Open(t, ctx, "file://"+file, webtest.Screens()[0])
	text := b.Text(t, "main")
	if !strings.Contains(text, "it will not be: stop.verify is 0") || strings.Contains(text, "Not verified yet") {
		t.Errorf("a comparison is promised that is not to be: %.1500q", text)
	}
	b.Unfold(t)
	awaitText(t, b, "Paid a step")
	row := webtest.Ask[string](t, b, `document.querySelector("[aria-labelledby=cost] tbody tr td:nth-of-type(2)").innerText`)
	if row != "10 min" {
		t.Errorf("a step that cost 10 min is said to cost %q", row)
	}
}
