package web

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
)

// The first screen says how good, how sure, how far and how it stands; a run that was stopped is
// described in the past tense, and promises nothing.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	d := labDocument(t, 30)
	d.Run.Finished = false
	status := scriptedStatus()
	status.State, status.Reason = "ended", "interrupt"
	d.Status, d.Picture = status, labPicture()
	for _, screen := range webtest.Screens()[:2] {
		b := webtest.Open(t, ctx, reportFile(t, d), screen)
		text := b.Text(t, ".headline")
		for _, want := range []string{"Best found", "by the model", "How sure", "not verified", "it was stopped before", "Steps", "State", "ended"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q on the first screen: %q", want, text)
			}
		}
		if all := b.Text(t, "main"); strings.Contains(all, "Not verified yet") || strings.Contains(text, "Time left") || !strings.Contains(all, "the run was stopped before") {
			t.Errorf("a run that was stopped promises something: %.1500q", all)
		}
		if bottom := webtest.Ask[float64](t, b, `document.querySelector(".headline").getBoundingClientRect().bottom / innerHeight`); bottom > 1 {
			t.Errorf("the first screen is %.0f %% of a window high", 100*bottom)
		}
		b.Fits(t)
		b.Accessible(t)
	}
}

// TestPageBudget: all that a browser fetches but the data has 60 KB compressed.
func TestPageBudget(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	list, err := pageFiles.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		text, err := pageFiles.ReadFile("page/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() > 60_000 {
		t.Errorf("the page has %d bytes compressed, of 60,000", packed.Len())
	}
	t.Logf("%d bytes compressed", packed.Len())
}
