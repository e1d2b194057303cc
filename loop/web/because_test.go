package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web/webtest"
)

// What is said of a step is the same whatever came later and whatever is recommended now.
func TestReasonsStay(t *testing.T) {
	early, err := Collect(Source{Reader: labJournal(t, 12), Options: labOptions(), Risk: 0.5, Picture: labPicture()})
	if err != nil {
		t.Fatal(err)
	}
	picture := labPicture()
	picture.Best.Mean, picture.Best.Bound = 400, 399
	late, err := Collect(Source{Reader: labJournal(t, 30), Options: labOptions(), Risk: 0.5, Picture: picture})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for i, s := range early.Steps {
		if s.Because != late.Steps[i].Because || s.BestThen.Known() && s.BestThen != late.Steps[i].BestThen {
			t.Errorf("step %d: %q, later %q", s.N, s.Because, late.Steps[i].Because)
		}
		d, _ := labStep(s.N)
		if want := control.Because(&d); s.Because != want {
			t.Errorf("step %d: %q, the decision says %q", s.N, s.Because, want)
		}
		word, _, _ := strings.Cut(s.Because, ":")
		kinds[word] = true
	}
	if len(kinds) != 3 { // initial, explore, exploit
		t.Errorf("the reasons are %v", kinds)
	}
}

// Neighbouring steps of one reason share a row, in which the range of their numbers stands.
func TestAlikeStepsShareARow(t *testing.T) {
	t.Parallel()
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	d := labDocument(t, 30)
	for i := range d.Steps {
		d.Steps[i].Set = 1
	}
	d.Steps[29].Struck = "anna"
	b := webtest.Open(t, ctx, reportFile(t, d), webtest.Screens()[0])
	b.Unfold(t)
	awaitText(t, b, "Predicted")
	rows := webtest.Ask[[][]string](t, b, `[...document.querySelectorAll("[aria-labelledby=why] tbody tr")].map((r) => [...r.cells].map((c) => c.innerText))`)
	first := rows[len(rows)-1]
	if first[0] != "1 to 5" || !strings.HasPrefix(first[2], "initial design") || first[5] != "2 to 4.4" || first[6] != "1 to 3" {
		t.Errorf("the steps of the design are told as %q", first)
	}
	if last := rows[0]; last[0] != "30" || !strings.Contains(last[2], "Struck since by anna") {
		t.Errorf("a struck step is told as %q", last)
	}
	for i := range rows[1:] {
		if rows[i][1] == rows[i+1][1] && rows[i][2] == rows[i+1][2] && !strings.Contains(rows[i][5]+rows[i+1][5], "no data") {
			t.Errorf("two rows of one reason: %q, %q", rows[i], rows[i+1])
		}
	}
	if len(rows) < 5 || len(rows) > 25 {
		t.Errorf("%d rows for 30 steps", len(rows))
	}
}

// A step that is struck while the page is open is shown as struck, and says still why it was decided.
func TestDocumentFollowsStrikes(t *testing.T) {
	d := labDocument(t, 12)
	was := d.Steps[5].Because
	event := func(c plan.Change) journal.Event {
		facts, err := c.Facts()
		if err != nil {
			t.Fatal(err)
		}
		return journal.Event{Kind: journal.EventChanged, Facts: facts}
	}
	d.changed(event(plan.Change{From: 13, Who: "anna", Why: "lamp", Strike: []int{6, 8}}))
	if d.Steps[5].Struck != `anna ("lamp")` || d.Steps[7].Struck == "" || d.Steps[6].Struck != "" || d.Steps[5].Because != was {
		t.Errorf("struck: %+v", d.Steps[5])
	}
	d.changed(event(plan.Change{From: 14, Unstrike: []int{6}}))
	if d.Steps[5].Struck != "" || d.Steps[7].Struck == "" {
		t.Errorf("counted again: %+v", d.Steps[5])
	}
	d.changed(journal.Event{Kind: journal.EventChanged, Facts: journal.Facts{Changed: json.RawMessage("{}")}}) // marks nothing
}
