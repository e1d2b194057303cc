package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/labtuner/tuner/loop/web/webtest"
)

// What is of less interest than the first screen is folded and not made until someone opens it; the browser
// remembers what is open, and paper has all, after which it is folded again.
func TestFolds(t *testing.T) {
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	s := newScripted(t)
	d, now := bench.show(t)
	d.Status = &now
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	serve := func() {
		<-s.asked
		s.answer <- text
	}
	go serve()
	b := webtest.Open(t, browser, s.URL, webtest.Screens()[0])
	awaitText(t, b, d.Run.Name, "Why these points")
	const cells, made = `document.querySelectorAll("#fold-why td").length`, `document.querySelectorAll("#fold-why td, #fold-events td, #fold-slices figure").length`
	if n := webtest.Ask[int](t, b, made); n != 0 {
		t.Errorf("%d cells of what is folded are made", n)
	}
	b.Fits(t)
	b.Accessible(t)
	webtest.Ask[int](t, b, `document.querySelector("#fold-why summary").click(), 0`)
	awaitText(t, b, "As known when each was decided")

	go serve()
	b.Do(t, chromedp.Navigate(s.URL))
	awaitText(t, b, d.Run.Name, "As known when each was decided")
	if webtest.Ask[int](t, b, cells) == 0 {
		t.Error("what was open is forgotten")
	}
	if seen := webtest.Ask[string](t, b, `document.body.innerText`); strings.Contains(seen, "Events, newest first") || webtest.Ask[bool](t, b, `document.querySelector("#fold-events").open`) {
		t.Errorf("what was not open is: %.1000q", seen)
	}

	b.DrawAll(t)
	if n := webtest.Ask[int](t, b, `document.querySelectorAll("canvas").length`); n != 1+2*len(bench.names) {
		t.Errorf("paper has %d figures", n)
	}
	webtest.Ask[bool](t, b, `dispatchEvent(new Event("afterprint"))`)
	if open := webtest.Ask[string](t, b, `[...document.querySelectorAll("details.fold[open]")].map((d) => d.id).join()`); open != "fold-why" {
		t.Errorf("after printing these are open: %s", open)
	}
}

// Jobs keep the order of their last call, and one that fails keeps no other from being done.
func TestJobs(t *testing.T) {
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	b := webtest.Open(t, ctx, reportFile(t, labDocument(t, 5)), webtest.Screens()[0])
	got := webtest.Ask[string](t, b, `(() => {
		const done = [], jobs = new Jobs(() => {}), note = (word) => () => done.push(word);
		jobs.later("described", note("old"));
		jobs.later("laid", note("laid too early"));
		jobs.later("fails", () => { throw new Error("x"); });
		jobs.later("described", note("described"));
		jobs.later("laid", note("laid"));
		try { jobs.finish(); } catch (e) { done.push("failed"); }
		jobs.finish();
		return done.join();
	})()`)
	if got != "failed,described,laid" {
		t.Errorf("jobs were done as %s", got)
	}
}
