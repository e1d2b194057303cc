package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// pencil draws after it was asked twice; of kind "none" there is no figure, and "broken" fails.
type pencil struct{ asked atomic.Int32 }

func (*pencil) Kinds() []FigureKind {
	return []FigureKind{{Name: "progress", About: "the best so far", Of: []string{}, Over: []string{"steps", "cost"}}, {Name: "contour", About: "the model over two variables", Pair: true, Of: []string{"mean", "sd"}, Over: []string{}},
		{Name: "none", About: "nothing", Of: []string{}, Over: []string{}}}
}

func (p *pencil) SVG(_ context.Context, q FigureQuery) ([]byte, error) {
	switch {
	case q.Kind == "none":
		return nil, fmt.Errorf("%w: the run has no <model> yet", ErrNoFigure)
	case q.Kind == "broken":
		return nil, errors.New("no disk")
	case p.asked.Add(1)%2 == 1:
		return nil, ErrDrawing
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 330" role="img"><text x="8" y="40">%s of %s x %s y %s over %s</text></svg>`, q.Kind, q.Of, q.X, q.Y, q.Over), nil
}

// TestFigureAnswers: a figure, one that is being drawn, one that there is not, and a failure have answers of their own.
func TestFigureAnswers(t *testing.T) {
	d, base := shownRun(t, 30)
	answer := func(query string) (int, string, string) {
		a, err := http.Get(base + "/api/figure?" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, a.Header.Get("Content-Type"), string(text)
	}
	if code, _, _ := answer("kind=progress"); code != http.StatusNotFound {
		t.Errorf("without a drawer: %d", code)
	}
	d.o.Drawer = &pencil{}
	if code, _, _ := answer("kind=progress&over=cost"); code != http.StatusAccepted {
		t.Errorf("while it is drawn: %d", code)
	}
	if code, kind, text := answer("kind=progress&over=cost"); code != http.StatusOK || kind != "image/svg+xml" || !strings.Contains(text, "over cost") {
		t.Errorf("%d %s %s", code, kind, text)
	}
	if code, _, text := answer("kind=none"); code != http.StatusNotFound || !strings.Contains(text, "no <model> yet") {
		t.Errorf("%d %s", code, text)
	}
	if code, _, text := answer("kind=broken"); code != http.StatusInternalServerError || !strings.Contains(text, "no disk") {
		t.Errorf("%d %s", code, text)
	}
}

// TestFiguresOnThePage: the folded sections ask when they are opened, wait for what is being drawn, show what may be
// chosen, and say why there is no figure; and the list of runs has a link to the page of another run.
func TestFiguresOnThePage(t *testing.T) {
	t.Parallel()
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	for _, s := range webtest.Screens()[2:testsize.Of(4, 6)] {
		d := NewDashboard(DashboardOptions{Drawer: &pencil{}, Runs: func(context.Context) []RunHere {
			return []RunHere{{Name: "laser", Mode: "run", Own: true, Status: []byte(`{"state":"running","step":3,"step_limit":50,"recommended":{"mean":4.5},"objective":{"unit":"mJ"}}`)},
				{Name: "nutrient", Mode: "run", Page: "http://127.0.0.1:9/", Status: []byte(`{"state":"held","paused":true,"step":7,"recommended":null}`)}, {Name: "stuck <b>", Error: "does not answer"}}
		}})
		own, page := NewServer(ServerOptions{}), newScripted(t)
		d.mountFigures(own)
		d.mountPast(own)
		for _, path := range []string{"GET /api/figures", "GET /api/figure", "GET /api/runs", "GET /api/past"} {
			page.mux.Handle(path, own.mux)
		}
		shown := *labDocument(t, 30)
		now := scriptedStatus()
		shown.Status = &now
		text, err := json.Marshal(&shown)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-page.asked
			page.answer <- text
		}()
		b := webtest.Open(t, browser, page.URL, s)
		awaitText(t, b, "Figures of the model, drawn now")
		webtest.Ask[int](t, b, `document.getElementById("drawings").open = document.getElementById("runs").open = true, 0`)
		awaitText(t, b, "progress of x y over steps", "laser (this page)", "3 of 50", "4.5 mJ", "paused", "stuck <b>", "does not answer")
		if href := webtest.Ask[string](t, b, `document.querySelector("#runs a").href`); href != "http://127.0.0.1:9/" {
			t.Errorf("the other run's page is %s", href)
		}
		choose := `((name, value) => { const l = [...document.querySelectorAll(".choices label")].find((l) => l.textContent.startsWith(name)).firstElementChild; l.value = value; l.dispatchEvent(new Event("change")); return 0; })`
		webtest.Ask[int](t, b, choose+`("Figure", "contour")`)
		webtest.Ask[int](t, b, choose+`("of", "sd")`)
		webtest.Ask[int](t, b, choose+`("upward", "pump")`)
		awaitText(t, b, "contour of sd x y pump over")
		b.Fits(t)
		b.Accessible(t)
		b.Shoot(t, "figures-"+s.Name)
		webtest.Ask[int](t, b, choose+`("Figure", "none")`)
		awaitText(t, b, "no figure: the run has no <model> yet")
	}
}
