// Package webtest looks at pages with a real browser, Chromium, as people do: on a desktop
// and on a phone, in light and dark, with axe-core for those who cannot see them.
package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "embed"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe is axe-core 4.14.1 (MPL-2.0, see axe-core/LICENSE).
//
//go:embed axe-core/axe.min.js
var axe string

// Screen is what a page is looked at on.
type Screen struct {
	Name          string
	Width, Height int64
	// Scheme is "light" or "dark".
	Scheme string
}

// Screens are the combinations that the pages are tried on.
func Screens() []Screen {
	return []Screen{{"desktop-light", 1400, 900, "light"}, {"desktop-dark", 1400, 900, "dark"}, {"phone-light", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"},
		{"large-light", 1920, 1080, "light"}, {"large-dark", 1920, 1080, "dark"}}
}

// Tab is a page in a real browser, with what it did besides showing itself.
type Tab struct {
	ctx context.Context
	mu  sync.Mutex
	// requests are the addresses asked for, trouble what the console said of errors.
	requests, trouble []string
}

// shared is the browser of a package whose tests run under Main.
var shared struct {
	sync.Mutex
	wanted  bool
	browser context.Context
	end     func()
}

// Main runs the tests of a package with one browser for all of them, which the first that asks
// for it starts.
func Main(m *testing.M) int {
	shared.wanted = true
	code := m.Run()
	if shared.end != nil {
		shared.end()
	}
	return code
}

// Browser is Chromium, or nil where there is none: the one that all tests of the process share
// under Main, else one of the test's own.
func Browser(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Log("NOT RUN: there is no Chromium here (Debian's package chromium)")
		return nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.browser != nil {
		return shared.browser
	}
	under := t.Context()
	if shared.wanted {
		under = context.Background()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(under, options...)
	browser, leave := chromedp.NewContext(allocator)
	end := func() {
		leave()
		stop()
	}
	if err := chromedp.Do(browser); err != nil {
		end()
		t.Fatal(err)
	}
	if shared.wanted {
		shared.browser, shared.end = browser, end
	} else {
		t.Cleanup(end)
	}
	return browser
}

// Open shows an address on a screen and waits until it is drawn: until what seen selects is there, a
// figure where it is left out.
func Open(t *testing.T, browser context.Context, url string, s Screen, seen ...string) *Tab {
	t.Helper()
	if len(seen) == 0 {
		seen = []string{"canvas", "figure svg"}
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute) // it only keeps a failing test from hanging
	t.Cleanup(cancel)
	b := &Tab{ctx: ctx}
	scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.Scheme}}
	_, mediaErr := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme})
	_, networkErr := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, logErr := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	err := errors.Join(chromedp.Listen(ctx, b.listen), mediaErr, networkErr, logErr, chromedp.Do(ctx, chromedp.EmulateViewport(s.Width, s.Height),
		chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("#main")), chromedp.WaitVisible(chromedp.CSS(strings.Join(seen, ", ")))))
	if err != nil {
		t.Fatalf("%s on %s: %v", url, s.Name, err)
	}
	return b
}

func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.trouble = append(b.trouble, fmt.Sprintf("console %s: %s", e.Type, e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.trouble = append(b.trouble, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Do runs steps in the page.
func (b *Tab) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Ask gives what an expression or the promise of one has as its value in the page.
func Ask[T any](t *testing.T, b *Tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// Text is the visible text of the first element that a selector finds.
func (b *Tab) Text(t *testing.T, selector string) string {
	t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Quiet demands that nothing was asked of other places than origin, and that the console
// has nothing to report.
func (b *Tab) Quiet(t *testing.T, origin string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("the page asked for %s", url)
		}
	}
	for _, text := range b.trouble {
		t.Errorf("the page's console: %s", text)
	}
}

// Accessible demands that axe-core 4.14.1 finds no violation.
func (b *Tab) Accessible(t *testing.T) {
	t.Helper()
	Ask[int](t, b, axe+";0")
	found := Ask[string](t, b, `axe.run().then((r) => JSON.stringify([r.passes.length, ...r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html).slice(0, 3).join(" | "))]))`)
	var list []any
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatal(err)
	}
	if checks := list[0].(float64); checks < 20 { // a page with tables and images has more
		t.Errorf("axe-core has looked at %v rules only", checks)
	}
	for _, v := range list[1:] {
		t.Errorf("axe-core: %v", v)
	}
}

// Fits demands that the page does not scroll sideways.
func (b *Tab) Fits(t *testing.T) {
	t.Helper()
	if Ask[bool](t, b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		t.Error("the page is wider than the screen")
	}
}

// Keys presses keys, one after the other, with Alt or the like held.
func (b *Tab) Keys(t *testing.T, keys string, held ...chromedp.Modifier) {
	t.Helper()
	b.Do(t, chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...)))
}

// controls gives the place of everything on the page that can be pressed or typed into.
const controls = `[...document.querySelectorAll("button, a, input, select, summary, [tabindex]")].filter((e) => e.checkVisibility() && !e.classList.contains("skip")).map((e, i) => {
	const r = e.getBoundingClientRect();
	return [i, e.tagName, e.id || e.name || e.getAttribute("aria-label") || e.textContent.slice(0, 20), ...[r.left, r.top + scrollY, r.width, r.height].map(Math.round)].join(" ");
}).join("\n")`

// Controls lists everything that can be pressed or typed into, with its place, a line each.
func (b *Tab) Controls(t *testing.T) string { return Ask[string](t, b, controls) }

// Unfold opens all parts of the page, as a person would one after the other.
func (b *Tab) Unfold(t *testing.T) {
	t.Helper()
	Ask[int](t, b, `document.querySelectorAll("details.fold:not([open]) > summary").forEach((s) => s.click()), 0`)
}

// DrawAll has the page draw what is far from the window as well, as for paper.
func (b *Tab) DrawAll(t *testing.T) {
	t.Helper()
	Ask[bool](t, b, `dispatchEvent(new Event("beforeprint"))`)
}

// Shoot keeps a screenshot of the whole page among the test's artefacts, where -artifacts
// asks for them.
func (b *Tab) Shoot(t *testing.T, name string) {
	t.Helper()
	if f := flag.Lookup("test.artifacts"); f == nil || f.Value.String() != "true" {
		return
	}
	b.DrawAll(t)
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Print looks at the page as it goes to paper, from a screen of this scheme.
func (b *Tab) Print(t *testing.T, scheme string) {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: features}); err != nil {
		t.Fatal(err)
	}
	// The page hears of it with its next frame, and may have something to draw then.
	Ask[bool](t, b, `new Promise((done) => {
		const drawn = () => document.querySelector("[aria-busy]") ? requestAnimationFrame(drawn) : done(true);
		requestAnimationFrame(() => requestAnimationFrame(drawn));
	})`)
}
