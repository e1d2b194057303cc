package web

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web/webtest"
)

// scripted is a server of the page whose stream says what a test wants.
type scripted struct {
	*httptest.Server
	mux    *http.ServeMux
	stream chan string
	// asked gets a value when the document is asked for, and answer is then sent.
	asked  chan bool
	answer chan []byte
	// posted has what commands and previews were posted, as "PATH BODY"; reply gives their answers.
	posted chan string
	reply  func(path string) (status int, body string)
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{stream: make(chan string), asked: make(chan bool), answer: make(chan []byte), posted: make(chan string, 100)}
	s.reply = func(string) (int, string) {
		return http.StatusConflict, `{"ok": false, "code": "conditions", "message": "` + strings.Repeat("the interlock of the door is open, and what it asks for stands in the file; ", 3) + `"}`
	}
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s.mux = mux
	mux.Handle("/page/", http.StripPrefix("/page/", http.FileServerFS(files)))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "dashboard.html") })
	mux.HandleFunc("GET /api/access", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"commands": true}`) })
	mux.HandleFunc("GET /api/document", func(w http.ResponseWriter, r *http.Request) {
		s.asked <- true
		w.Write(<-s.answer)
	})
	mux.HandleFunc("POST /api/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.posted <- strings.TrimPrefix(r.URL.Path, "/api/") + " " + string(body)
		status, text := s.reply(r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})
	mux.HandleFunc("GET /api/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for text := "event: hello\ndata: {}\n\n"; ; {
			fmt.Fprint(w, text)
			http.NewResponseController(w).Flush()
			select {
			case text = <-s.stream:
			case <-r.Context().Done():
				return
			}
		}
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.CloseClientConnections)
	return s
}

// say sends an event.
func (s *scripted) say(t *testing.T, kind string, data any) {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	s.stream <- fmt.Sprintf("event: %s\ndata: %s\n\n", kind, text)
}

// scriptedStatus is a run in its 30th step.
func scriptedStatus() control.Status {
	return control.Status{State: "running", Phase: "measuring", Step: 31, Steps: 30, StepLimit: 50, CostUnit: "min", Causes: []control.Cause{}, FirstOut: []control.Cause{},
		Variables: []control.VariableStatus{{Name: "mirror", Unit: "mrad", Wanted: 0.1, Setpoint: 0.1, Readback: 0.11, Driven: true}},
		Sensors:   []control.SensorStatus{{Name: "energy", Unit: "mJ", Value: 4, Age: 90}}, Constraints: []control.ConstraintStatus{}, Doses: []control.DoseStatus{},
		Devices: []control.DeviceStatus{{Name: "bench", Retries: 3, Window: 30}}, Disk: control.DiskStatus{Free: 1e9, Least: 5e7}}
}

// The page loses no step between the document and the stream, and says in words how a run
// stands: verifying, without a device, without a disk, dry, waiting, over.
func TestLivePage(t *testing.T) {
	t.Parallel()
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	s := newScripted(t)
	d := labDocument(t, 30)
	d.Picture = nil
	status := scriptedStatus()
	d.Status = &status
	document, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // the document is as of step 30; step 31 comes while it is under way
		<-s.asked
		c := newCollector(d, labRun())
		step := c.part(journalStep(31))
		late := update{Step: &step, Total: 31, Stride: 1, Sets: d.Sets, Rules: d.Rules, Health: d.Health}
		s.say(t, "step", late)
		s.say(t, "step", late) // twice: it is shown once
		s.answer <- document
	}()
	b := webtest.Open(t, browser, s.URL, webtest.Screens()[2])
	wait := func(what string, words ...string) {
		t.Helper()
		t.Log(what)
		awaitText(t, b, words...)
	}
	wait("a step that came with the document", "31 steps", "31 steps, 1 without valid data", "The model is not there yet.", "no: too old", "mirror (mrad)")
	// A keyboard user's place in the page survives what comes every second.
	webtest.Ask[int](t, b, `document.querySelector("[aria-label='Variables now (table)']").focus(), 0`)

	status.Comparison = &control.ComparisonStatus{Running: true, Pair: 3, Pairs: 8, Setting: "start"}
	picture := labPicture()
	s.say(t, "picture", update{Total: 31, Stride: 1, Sets: d.Sets, Rules: d.Rules, Health: d.Health, Picture: picture})
	s.say(t, "status", status)
	wait("while it verifies", "verifying", "Pair 3 of 8: now the starting setting", "Being verified")
	status.Comparison = nil
	status.Devices[0] = control.DeviceStatus{Name: "bench", Out: true, OutFor: 12, Held: true, Failures: 3, Retries: 3, Window: 30, Trouble: "no answer within 2s"}
	status.Disk = control.DiskStatus{Held: true, Problem: "no space left on device", Due: 4}
	status.State = "held"
	s.say(t, "status", status)
	wait("in trouble", "held", "Device bench fails", "no answer within 2s", "for 12 s", "The record cannot be kept", "no space left on device", "Not verified yet")
	if got := webtest.Ask[string](t, b, `document.getElementById("alarm").textContent`); got != "Device bench fails; The record cannot be kept" {
		t.Errorf("a screen reader hears %q", got)
	}
	if !webtest.Ask[bool](t, b, `document.activeElement.getAttribute("aria-label") === "Variables now (table)"`) {
		t.Error("the focus is lost")
	}
	b.Accessible(t)
	b.Fits(t)
	b.Shoot(t, "live-in-trouble")
	waiting := scriptedStatus()
	waiting.State, waiting.Phase, waiting.DryRun = "disarmed", "waiting for resume", true
	s.say(t, "status", waiting)
	wait("waiting", "waiting for Resume, dry run", "nothing is written to the instrument")
	ended := scriptedStatus()
	ended.State, ended.Reason, ended.Comparison = "ended", "steps", &control.ComparisonStatus{Pair: 8, Pairs: 8, Verdict: plan.VerdictBetter, Words: "better by 3 mJ"}
	s.say(t, "status", ended)
	wait("at the end", "ended: all steps are done", "Verified by re-measuring: better by 3 mJ.")
	b.Quiet(t, s.URL)
	s.CloseClientConnections()
	s.Listener.Close()
	wait("after the tuner has exited", "ended: all steps are done", "The tuner has exited", "Verified by re-measuring: better by 3 mJ.")
}
