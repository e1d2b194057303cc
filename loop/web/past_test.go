package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
)

// shelf is an archive of two runs, one of which cannot be read.
type shelf struct{ doc *Document }

func (s *shelf) List(context.Context) []PastRun {
	return []PastRun{{Name: "laser </script><b>", Mode: "run", State: "all steps are done", Steps: 50, Best: 4.5, Unit: "mJ", At: 1.7e12, Journal: "/lab/laser.db"},
		{Journal: "/lab/broken <i>.db", Best: none, At: 1.6e12, Error: "the file is damaged"}}
}

func (s *shelf) Document(ctx context.Context, path string) (*Document, error) {
	if s.doc == nil {
		return nil, errors.New("no model <b>")
	}
	return s.doc, ctx.Err()
}

// pastServer is a server of a shelf on which those with the token command, and everybody reads.
func pastServer(t *testing.T, s *shelf) *httptest.Server {
	d, server := NewDashboard(DashboardOptions{Archive: s, Key: []byte("key")}), NewServer(ServerOptions{Token: "0123456789abcdef", ReadByAll: true})
	d.mountPast(server)
	h := httptest.NewServer(server.guarded())
	t.Cleanup(h.Close)
	return h
}

func askPast(t *testing.T, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// TestPastRunsAreForWhoCommands: journals are private to their user, so that who may only read sees no list of them; a
// report has an address that is on the list alone.
func TestPastRunsAreForWhoCommands(t *testing.T) {
	s := &shelf{doc: labDocument(t, 8)}
	h := pastServer(t, s)
	if code, text := askPast(t, h.URL+"/api/past", ""); code != http.StatusForbidden || strings.Contains(text, "/lab/") {
		t.Errorf("without the token: %d %s", code, text)
	}
	if code, text := askPast(t, h.URL+"/api/past", "0123456789abcdef"); code != http.StatusOK || !strings.Contains(text, "/lab/laser.db") || strings.Count(text, `"report":"api/past/`) != 1 {
		t.Errorf("with it: %d %s", code, text)
	}
	address := (&past{key: []byte("key")}).address("/lab/laser.db")
	if code, text := askPast(t, h.URL+"/"+address, ""); code != http.StatusOK || !strings.Contains(text, "tuner report") {
		t.Errorf("the report: %d %.200s", code, text)
	}
	for _, other := range []string{(&past{key: []byte("another")}).address("/lab/laser.db"), (&past{key: []byte("key")}).address("/lab/broken <i>.db"), (&past{key: []byte("key")}).address("/etc/passwd")} {
		if code, text := askPast(t, h.URL+"/"+other, "0123456789abcdef"); code != http.StatusNotFound {
			t.Errorf("%s: %d %.200s", other, code, text)
		}
	}
	s.doc = nil
	if code, text := askPast(t, h.URL+"/"+address, ""); code != http.StatusServiceUnavailable || !strings.Contains(text, "no model &lt;b&gt;") || !strings.Contains(text, "tuner report /lab/laser.db") {
		t.Errorf("without a model: %d %s", code, text)
	}
}

// TestPastRunsOnThePage: the list has runs of before with a link to their report, and says which cannot be read.
func TestPastRunsOnThePage(t *testing.T) {
	t.Parallel()
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	page := newScripted(t)
	own := NewServer(ServerOptions{Token: "0123456789abcdef", ReadByAll: true})
	d := NewDashboard(DashboardOptions{Archive: &shelf{}, Key: []byte("key"), Runs: func(context.Context) []RunHere { return []RunHere{} }})
	d.mountFigures(own)
	d.mountPast(own)
	for _, path := range []string{"GET /api/figures", "GET /api/runs", "GET /api/past"} {
		page.mux.Handle(path, own.guarded())
	}
	shown, now := *labDocument(t, 30), scriptedStatus()
	shown.Status = &now
	text, err := json.Marshal(&shown)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-page.asked
		page.answer <- text
	}()
	b := webtest.Open(t, browser, page.URL+"/#token=0123456789abcdef", webtest.Screens()[2])
	awaitText(t, b, "Runs of this computer")
	webtest.Ask[int](t, b, `document.getElementById("runs").open = true, 0`)
	awaitText(t, b, "laser </script><b>", "all steps are done", "4.5 mJ", "2023-11-14", "broken <i>.db", "cannot be read: the file is damaged")
	if href := webtest.Ask[string](t, b, `document.querySelector("#runs a").getAttribute("href")`); !strings.HasPrefix(href, "api/past/") {
		t.Errorf("the report is at %s", href)
	}
	b.Fits(t)
	b.Accessible(t)
	b.Shoot(t, "past-runs")
}
