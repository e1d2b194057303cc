package services

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// liveRun is a run with a dashboard in a process of its own.
type liveRun struct {
	dir, address string
	command      *exec.Cmd
	says         *hosttest.Buffer
}

// startLive starts a run that goes on for as long as one likes, in real time.
func startLive(t *testing.T) *liveRun {
	t.Helper()
	r := &liveRun{dir: t.TempDir(), address: trial.FreeAddress(t)}
	text := strings.Replace(serviceFile, "kind = \"random\"", "kind = \"rahbo\"\nrisk = 0.1\ninitial = { design = \"sobol\", steps = 8 }", 1)
	text += fmt.Sprintf("\n[web]\nlisten = %q\n", r.address)
	if err := os.WriteFile(filepath.Join(r.dir, "live.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	return r
}

func (r *liveRun) start(t *testing.T) {
	t.Helper()
	r.command = trial.Command(t, r.dir, "run", "--resume", "run", "live.toml")
	r.says = &hosttest.Buffer{}
	r.command.Stderr = r.says
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.command.Process.Kill() }) // only where the test failed before its end
	r.says.WaitFor(t, "dashboard at http://"+r.address)
}

// link is the address that takes commands.
func (r *liveRun) link(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(trial.ReadFile(t, filepath.Join(r.dir, "service.link")))
}

// stepsShown is how many steps the page's header tells of, 0 where it tells of none.
const stepsShown = `parseInt((/(\d+) steps?/.exec(document.querySelector("header").textContent) || [0, "0"])[1])`

// waitFor waits until an expression is true in the page.
func waitFor(t *testing.T, b *webtest.Tab, expression string) {
	t.Helper()
	waitUntil(t, func() bool { return webtest.Ask[bool](t, b, expression) })
}

// The dashboard of a real run in a real browser: to read only, then on four screens by the
// link, through a crash of the tuner, against another site, and stopped by the keyboard.
func TestDashboard(t *testing.T) {
	t.Parallel()
	chromium := webtest.Browser(t)
	if chromium == nil {
		return
	}
	run := startLive(t)
	origin := "http://" + run.address
	running := `document.getElementById("state").textContent === "running"`
	// In a test of its own, whose tabs are closed then: a browser has six connections to a server.
	t.Run("read-only", func(t *testing.T) { readsOnly(t, chromium, run, running) })
	for i, s := range webtest.Screens() {
		if i > 0 && !testsize.Whole() {
			continue // the narrow ones are tried with the gallery and the report
		}
		t.Run(s.Name, func(t *testing.T) {
			b := webtest.Open(t, chromium, run.link(t), s)
			waitFor(t, b, running)
			// The objective, four variables, a slice along each of them.
			waitFor(t, b, `dispatchEvent(new Event("beforeprint")) && document.querySelectorAll("canvas").length === 9`)
			before := webtest.Ask[int](t, b, stepsShown)
			waitFor(t, b, fmt.Sprintf("%s > %d", stepsShown, before))
			b.Shoot(t, "dashboard-"+s.Name)
			webtest.Ask[int](t, b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), 0`)
			b.Fits(t)
			b.Accessible(t)
			b.Quiet(t, origin)
		})
	}
	b := webtest.Open(t, chromium, origin+"/", webtest.Screens()[0]) // this browser has had the link
	waitFor(t, b, running)
	waitFor(t, b, mayCommand)
	outlivesACrash(t, b, run, running)
	refusesOtherSites(t, chromium, run)
	if !webtest.Ask[bool](t, b, running) {
		t.Error("the run does not go on")
	}
	actsByKeyboard(t, b, run)
	stopsByKeyboard(t, b, run)
}

// actsByKeyboard has a setting tried and a range narrowed by keys alone, each shown before it is
// sent; what is out of range is refused in the server's words.
func actsByKeyboard(t *testing.T, b *webtest.Tab, run *liveRun) {
	t.Helper()
	said := func(words string) string {
		return fmt.Sprintf(`document.getElementById("act-said").innerText.includes(%q)`, words)
	}
	waitFor(t, b, `!document.getElementById("button-act").disabled`)
	b.Keys(t, "a", chromedp.ModifierAlt)
	b.Keys(t, kb.Tab)
	best := webtest.Ask[string](t, b, `document.activeElement.placeholder.replace("recommended ", "")`)
	b.Keys(t, best+kb.Enter)
	waitFor(t, b, said(" → "))
	b.Keys(t, kb.Tab+kb.Tab+kb.Enter)
	waitFor(t, b, said("Done: "))
	b.Unfold(t)
	waitFor(t, b, `document.querySelector("[aria-labelledby=why]").innerText.includes("asked for by")`)
	webtest.Ask[int](t, b, `document.getElementById("act-what").focus(), 0`)
	b.Keys(t, "Fre"+kb.Tab+"1e9"+kb.Enter) // freeze
	waitFor(t, b, said("is outside its range"))
	if says := run.says.String(); !strings.Contains(says, "try asked for by") || strings.Contains(says, "freeze") {
		t.Errorf("it says %s", says)
	}
	b.Keys(t, kb.Escape)
	webtest.Ask[int](t, b, `document.querySelector("a.skip").focus(), 0`) // as one who has just come
}

// outlivesACrash kills the tuner: the page says that what it shows is old, and goes on by
// itself when the tuner is back.
func outlivesACrash(t *testing.T, b *webtest.Tab, run *liveRun, running string) {
	t.Helper()
	if err := run.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := run.command.Wait(); err == nil {
		t.Error("a killed process ended well")
	}
	waitFor(t, b, `document.getElementById("state").textContent.includes("connection lost")`)
	steps := webtest.Ask[int](t, b, stepsShown)
	run.start(t)
	waitFor(t, b, running)
	waitFor(t, b, fmt.Sprintf("%s > %d", stepsShown, steps))
	waitFor(t, b, mayCommand)
}

// mayCommand is that the page has its buttons, onlyReads that it has none and says so.
const (
	mayCommand = `document.getElementById("read-only")?.hidden && ["pause", "resume", "stop"].every((name) => !document.getElementById("button-" + name).hidden)`
	onlyReads  = `document.getElementById("read-only")?.innerText.includes("Read-only") && [...document.querySelectorAll("header button")].every((b) => b.closest("[hidden]"))`
)

// readsOnly opens the page without the link: it shows the run, says that it takes no commands,
// and takes none. The link lets the same page command, and leaves no token in its address.
func readsOnly(t *testing.T, chromium context.Context, run *liveRun, running string) {
	t.Helper()
	for _, s := range webtest.Screens()[1:testsize.Of(2, 3)] {
		b := webtest.Open(t, chromium, "http://"+run.address+"/", s)
		waitFor(t, b, running)
		waitFor(t, b, onlyReads)
		b.Fits(t)
		b.Accessible(t)
		b.Quiet(t, "http://"+run.address)
		b.Shoot(t, "dashboard-read-only-"+s.Name)
	}
	b := webtest.Open(t, chromium, "http://"+run.address+"/#token=00000000000000000000000000000000", webtest.Screens()[0])
	waitFor(t, b, onlyReads) // with a token of another time as well
	b.Do(t, chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierAlt)))
	if got := webtest.Ask[int](t, b, `fetch("api/command/stop", {method: "POST"}).then((r) => r.status)`); got != http.StatusUnauthorized {
		t.Errorf("a stop without the token: %d", got)
	}
	before := webtest.Ask[int](t, b, stepsShown)
	waitFor(t, b, fmt.Sprintf("%s > %d && %s", stepsShown, before, running))
	_, token, _ := strings.Cut(run.link(t), "#")
	webtest.Ask[int](t, b, fmt.Sprintf(`location.hash = %q, 0`, token))
	waitFor(t, b, mayCommand)
	if got := webtest.Ask[string](t, b, `location.href`); got != "http://"+run.address+"/" {
		t.Errorf("the address is %s", got)
	}
	if got := webtest.Ask[int](t, b, `document.getElementById("button-pause").click(), 0`); got != 0 {
		t.Error(got)
	}
	waitFor(t, b, `document.getElementById("state").textContent === "paused"`)
	webtest.Ask[int](t, b, `document.getElementById("button-resume").click(), 0`)
	waitFor(t, b, running)
	if says := run.says.String(); strings.Contains(says, token[len("token="):]) || !strings.Contains(says, `pause asked for by "127.0.0.1:`) {
		t.Errorf("it says %s", says)
	}
}

// refusesOtherSites opens a page of another origin, which tries to stop the run.
func refusesOtherSites(t *testing.T, chromium context.Context, run *liveRun) {
	t.Helper()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>other</title><main id="main"><canvas width="9" height="9"></canvas></main>
<form id="f" method="post" action="http://%s/api/command/stop" target="frame"></form><iframe name="frame"></iframe>`, run.address)
	}))
	defer evil.Close()
	b := webtest.Open(t, chromium, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1), webtest.Screens()[0])
	for _, mode := range []string{"cors", "no-cors"} {
		got := webtest.Ask[string](t, b, fmt.Sprintf(`fetch("http://%s/api/command/stop", {method: "POST", mode: %q}).then((r) => r.type + r.status, (e) => "refused")`, run.address, mode))
		if mode == "cors" && got != "refused" {
			t.Errorf("a page of another site got %q", got)
		}
	}
	webtest.Ask[int](t, b, `document.getElementById("f").submit(), 0`)
	webtest.Ask[int](t, b, `new Promise((done) => setTimeout(() => done(0), 500))`) // for the form to arrive
}

// stopsByKeyboard goes to the button by Tab alone, then uses its shortcut.
func stopsByKeyboard(t *testing.T, b *webtest.Tab, run *liveRun) {
	t.Helper()
	reached := false
	for range 20 {
		b.Do(t, chromedp.KeyEvent(kb.Tab))
		if reached = webtest.Ask[bool](t, b, `document.activeElement.id === "button-stop"`); reached {
			break
		}
	}
	if !reached {
		t.Error("the stop button cannot be reached by Tab")
	}
	b.Do(t, chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierAlt)))
	waitFor(t, b, `/stopped|ended|connection lost/.test(document.getElementById("state").textContent)`)
	err := run.command.Wait()
	if code := run.command.ProcessState.ExitCode(); code != 4 {
		t.Errorf("the run ended with %v (exit code %d), want 4: stopped by the safety layer, safe state reached\n%s", err, code, run.says.String())
	}
	if _, err := os.Lstat(filepath.Join(run.dir, "service.link")); err == nil {
		t.Error("the link outlives the run")
	}
	if !strings.Contains(run.says.String(), "stopped by the safety layer: stopped: stop") {
		t.Errorf("it says %s", run.says.String())
	}
}
