package web

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Dashboard is the page of a running tuner. It keeps the run's document in memory and up
// to date, so that what a browser asks for costs the loop nothing.
type Dashboard struct {
	o DashboardOptions

	mu        sync.Mutex
	doc       *Document
	collector *collector
	clients   map[*client]bool
}

// DashboardOptions say which run is shown.
type DashboardOptions struct {
	Panel *control.Panel
	// Identity says which run it is.
	Identity Identity
	// Open opens the run's journal for reading.
	Open func() (*journal.Reader, error)
	// Options are the run's, Risk its alpha.
	Options plan.Options
	Risk    float64
	// Devices are their names, in the order of the run's.
	Devices []string
	// Preview says what a command would do, or what it would be refused for.
	Preview func(control.Request) (control.Preview, error)
	// Drawer draws figures on demand, Runs lists the runs of this computer; nil: the page has none.
	Drawer Drawer
	Runs   func(context.Context) []RunHere
	// Archive has the runs of before, nil: none are listed. Key makes the addresses of their reports: random, this process's own.
	Archive Archive
	Key     []byte
	// Now gives the time.
	Now func() time.Time
	Log *slog.Logger
}

// newsRing is how many events and steps may wait for the dashboard before the oldest are
// dropped; then it reads the journal again.
const newsRing = 256

// commandWait bounds the wait for a command's answer.
const commandWait = 5 * time.Second

// NewDashboard returns a dashboard; Run keeps it up to date.
func NewDashboard(o DashboardOptions) *Dashboard {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Dashboard{o: o, clients: map[*client]bool{}}
}

// HasPage says where the page is, for whoever lists the runs. Call it before the page is served.
func (d *Dashboard) HasPage(address string) { d.o.Identity.Page = address }

// Mount puts the dashboard's pages on a server:
//
//	GET  /                      the page
//	GET  /page/FILE             its parts
//	GET  /api/access            who asks, and whether they may command (Visitor)
//	GET  /api/run               which run it is (Identity)
//	GET  /api/status            its status (control.Status)
//	GET  /api/document          the run, JSON (Document); with ?lines its steps follow it, some a line
//	GET  /api/stream            what is new, server-sent events
//	GET  /api/report            the run as one HTML file
//	GET  /api/figures           the kinds of figures (FigureKind)
//	GET  /api/figure            one of them as SVG, drawn on demand (FigureQuery)
//	GET  /api/runs              the runs of this computer (RunHere)
//	GET  /api/past              those of before (PastRun), for who may command
//	GET  /api/past/ID           the report of one, by the address on that list
//	POST /api/command/COMMAND   one of control.Commands; the body is empty or an Order
//	POST /api/preview/COMMAND   what that would do; nothing is done (Prospect)
func (d *Dashboard) Mount(s *Server) error {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return err
	}
	list, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	file := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) })
	}
	for _, f := range list { // each by its name: a folder would be listed
		s.Handle("GET /page/"+f.Name(), file(f.Name()))
	}
	s.Handle("GET /{$}", file("dashboard.html"))
	s.Handle("GET /favicon.ico", file("icon.svg"))
	s.Handle("GET /api/access", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.writeJSON(w, http.StatusOK, VisitorOf(r)) }))
	s.Handle("GET /api/run", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { d.writeJSON(w, http.StatusOK, d.o.Identity) }))
	s.Handle("GET /api/status", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { d.writeJSON(w, http.StatusOK, d.o.Panel.Status()) }))
	s.Handle("GET /api/document", http.HandlerFunc(d.serveDocument))
	s.Handle("GET /api/stream", http.HandlerFunc(d.serveStream))
	s.Handle("GET /api/report", http.HandlerFunc(d.serveReport))
	d.mountFigures(s)
	d.mountPast(s)
	for _, name := range control.Commands() {
		s.Handle("POST /api/command/"+name, d.command(name))
		s.Handle("POST /api/preview/"+name, d.preview(name))
	}
	return nil
}

// Run follows the run until it or ctx ends.
func (d *Dashboard) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news := d.o.Panel.Subscribe(newsRing)
	defer news.Close()
	go d.tick(ctx)
	for {
		n, err := news.Next(ctx)
		if err != nil {
			d.broadcast("status", d.o.Panel.Status())
			return
		}
		d.add(n)
	}
}

// tick sends the status every second, and pictures when they are new.
func (d *Dashboard) tick(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if d.watched() {
				d.o.Panel.Picture(d.o.Now()) // keeps pictures coming
				d.broadcast("status", d.o.Panel.Status())
			}
		case <-d.o.Panel.PictureRenewed():
			d.renewPicture()
		}
	}
}

// document is the present one; the caller holds the lock.
func (d *Dashboard) document() (*Document, error) {
	if d.doc != nil {
		return d.doc, nil
	}
	doc, c, err := d.read()
	if err != nil {
		return nil, err
	}
	d.doc, d.collector = doc, c
	return doc, nil
}

// read makes a document of what the journal holds now.
func (d *Dashboard) read() (*Document, *collector, error) {
	r, err := d.o.Open()
	if err != nil {
		return nil, nil, err
	}
	doc, c, err := collect(Source{Reader: r, Options: d.o.Options, Devices: d.o.Devices, Risk: d.o.Risk, Picture: d.o.Panel.Picture(d.o.Now()), Concluded: true})
	return doc, c, errors.Join(err, r.Close())
}

// add puts news into the document and sends it to the clients.
func (d *Dashboard) add(n control.News) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.Lost > 0 {
		d.doc = nil // it is read again at the next request
		d.send("again", nil)
		return
	}
	if d.doc == nil {
		return
	}
	switch {
	case n.Event != nil && n.Event.Kind != journal.EventStart:
		e := eventPart(*n.Event)
		d.doc.addEvent(e)
		if n.Event.Kind == journal.EventChanged { // what is shown of earlier steps may be another now
			d.doc.changed(*n.Event)
			d.send("again", nil)
			return
		}
		d.send("story", e)
	case n.Outcome != nil && n.Decision.Compared.Comparison == 0 && n.Decision.Step > d.doc.last():
		d.collector.addStep(journal.Step{Decision: *n.Decision, Outcome: *n.Outcome, Concluded: true})
		d.collector.sum()
		d.doc.Health = examine(d.doc)
		d.send("step", update{Step: &d.doc.Steps[len(d.doc.Steps)-1], Total: d.doc.Total, Stride: d.doc.Stride, Sets: d.doc.Sets, Rules: d.doc.Rules, Health: d.doc.Health})
	}
}

// update is what a browser needs to bring its document up to date.
type update struct {
	Step    *StepPart        `json:"step,omitempty"`
	Total   int              `json:"total"`
	Stride  int              `json:"stride"`
	Sets    []SetPart        `json:"sets"`
	Rules   []RulePart       `json:"rules"`
	Health  []HealthPart     `json:"health"`
	Picture *control.Picture `json:"picture,omitempty"`
}

func (d *Dashboard) renewPicture() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doc == nil {
		return
	}
	d.doc.Picture = d.o.Panel.Picture(d.o.Now())
	d.doc.Health = examine(d.doc)
	d.send("picture", update{Total: d.doc.Total, Stride: d.doc.Stride, Sets: d.doc.Sets, Rules: d.doc.Rules, Health: d.doc.Health, Picture: d.doc.Picture})
}

// encoded is the document with the present status, as JSON, or as lines of it.
func (d *Dashboard) encoded(lines bool) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, err := d.document()
	if err != nil {
		return nil, err
	}
	shown := *doc
	shown.Status = d.o.Panel.Status()
	if lines {
		return shown.lines()
	}
	return json.Marshal(&shown)
}

func (d *Dashboard) serveDocument(w http.ResponseWriter, r *http.Request) {
	text, err := d.encoded(r.URL.Query().Has("lines"))
	if err != nil {
		d.o.Log.Warn("the dashboard cannot read the journal", "error", err)
		http.Error(w, "the journal cannot be read: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	d.write(w, text)
}

// serveReport reads the journal anew: what was sent to the instrument is kept up to date
// nowhere else.
func (d *Dashboard) serveReport(w http.ResponseWriter, _ *http.Request) {
	doc, _, err := d.read()
	if err != nil {
		d.o.Log.Warn("the report was not sent", "error", err)
		http.Error(w, "the report cannot be made: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	d.writeReport(w, doc)
}

// writeReport answers with a report, whose scripts are inside.
func (d *Dashboard) writeReport(w http.ResponseWriter, doc *Document) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:")
	if err := WriteReport(w, doc); err != nil {
		d.o.Log.Debug("a report was not sent", "error", err)
	}
}

// write sends an answer; that its reader has gone is no trouble of ours.
func (d *Dashboard) write(w http.ResponseWriter, text []byte) {
	if _, err := w.Write(text); err != nil {
		d.o.Log.Debug("an answer was not sent", "error", err)
	}
}

// writeJSON answers with v.
func (d *Dashboard) writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	d.write(w, text)
}
