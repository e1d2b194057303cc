package webtest

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// Drawing is what a browser's main thread had to do until a page was drawn.
type Drawing struct {
	// First is when the first screen of the run was painted, counted from the navigation.
	First time.Duration
	// Busy is the processor time of all tasks since the run's data came, Longest that of the longest of
	// them: another program beside the browser changes neither.
	Busy, Longest time.Duration
}

// observer notes when an element of the selector is there and painted.
const observer = `new MutationObserver((_, o) => {
	if (!document.querySelector(%SELECTOR%)) return;
	o.disconnect();
	requestAnimationFrame(() => setTimeout(() => { window.firstScreen = performance.now(); }));
}).observe(document, {childList: true, subtree: true});`

// Draw opens a page and measures how it is drawn: first finds what the first screen has, data is the
// path of the run's data, and drawn is true in the page when all is drawn.
func Draw(t testing.TB, browser context.Context, url string, s Screen, first, data, drawn string) Drawing {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute) // it only keeps a failing benchmark from hanging
	defer cancel()
	var mu sync.Mutex
	var events []traced
	complete := make(chan struct{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(chromedp.Do(ctx, chromedp.EmulateViewport(s.Width, s.Height)))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.Scheme}}})
	must(err)
	must(chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range e.Value {
				var x traced
				if json.Unmarshal(v, &x) == nil {
					events = append(events, x)
				}
			}
		case *tracing.EventTracingComplete:
			close(complete)
		}
	}))
	_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: strings.Replace(observer, "%SELECTOR%", strconv.Quote(first), 1)})
	must(err)
	_, err = chromedp.Call(ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing"}}})
	must(err)
	must(chromedp.Do(ctx, chromedp.Navigate(url)))
	for { // drawn, and quiet after it
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(window.firstScreen && `+drawn+`)`))
		must(err)
		if ok {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, err = chromedp.Run(ctx, chromedp.Evaluate[int](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { performance.mark("all-drawn"); done(0); }))))`, chromedp.EvalAwaitPromise))
	must(err)
	at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](`[performance.getEntriesByType("resource").find((e) => e.name.includes(`+strconv.Quote(data)+`)).responseEnd, window.firstScreen, performance.getEntriesByName("all-drawn")[0].startTime]`))
	must(err)
	_, err = chromedp.Call(ctx, tracing.End, cdp.Empty{})
	must(err)
	select {
	case <-complete:
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	mu.Lock()
	defer mu.Unlock()
	d := busy(events, at[0], at[2])
	d.First = time.Duration(at[1] * float64(time.Millisecond))
	return d
}

// traced is an event of a trace, in microseconds.
type traced struct {
	Name, Ph string
	PID, TID int
	TS, Dur  float64
	// TDur is the processor time of the thread.
	TDur float64
}

// busy sums the processor time of the tasks of the thread that has marked the end of the drawing, between two times of the
// page in milliseconds, the later of which is the mark's.
func busy(events []traced, from, to float64) (d Drawing) {
	var mark traced
	for _, e := range events {
		if e.Name == "all-drawn" {
			mark = e
		}
	}
	begin := mark.TS - 1000*(to-from)
	for _, e := range events {
		if e.PID != mark.PID || e.TID != mark.TID || e.Ph != "X" || e.Name != "RunTask" || e.TS < begin || e.TS > mark.TS {
			continue
		}
		took := time.Duration(e.TDur * float64(time.Microsecond))
		d.Busy += took
		d.Longest = max(d.Longest, took)
	}
	return d
}
