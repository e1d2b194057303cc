package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// PastRun is a run of this computer that no process drives now, by its journal.
type PastRun struct {
	Name string `json:"name"`
	Site string `json:"site"`
	Mode string `json:"mode"`
	// State says why it ended, or that it has not.
	State string `json:"state"`
	Steps int    `json:"steps"`
	// Best is what the model expected at the recommended setting, in Unit; null where it is not on record.
	Best journal.Number `json:"best"`
	Unit string         `json:"unit"`
	// At is when it ended, or was written last, in milliseconds since 1970.
	At journal.Number `json:"at_ms"`
	// Journal is its path, Report the address of its report, which ends with this process.
	Journal string `json:"journal"`
	Report  string `json:"report"`
	// Error says why nothing is known of it, "" where something is.
	Error string `json:"error"`
}

// Archive gives the runs of before.
type Archive interface {
	// List gives those of this process's user, the newest first.
	List(ctx context.Context) []PastRun
	// Document reads a run and makes its model, until ctx ends.
	Document(ctx context.Context, journal string) (*Document, error)
}

// reportWait bounds the making of a report of before: beside a run, and within what the server waits for an answer.
const reportWait = 25 * time.Second

// past serves the runs of before: the list to those who may command, as journals are private to their user, and a
// report to whoever has its address, which nobody can guess.
type past struct {
	archive Archive
	key     []byte
	// making holds one who makes a report: a model takes a processor.
	making chan struct{}
}

// address is where the report of a journal is.
func (p *past) address(path string) string {
	sum := hmac.New(sha256.New, p.key)
	sum.Write([]byte(path))
	return "api/past/" + hex.EncodeToString(sum.Sum(nil)[:16])
}

func (d *Dashboard) mountPast(s *Server) {
	p := &past{archive: d.o.Archive, key: d.o.Key, making: make(chan struct{}, 1)}
	s.Handle("GET /api/past", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !VisitorOf(r).Commands {
			http.Error(w, "ended runs are listed for those who may send commands: open the link that tuner run printed", http.StatusForbidden)
			return
		}
		d.writeJSON(w, http.StatusOK, p.list(r.Context()))
	}))
	s.Handle("GET /api/past/{id}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.servePast(w, r, p) }))
}

func (p *past) list(ctx context.Context) []PastRun {
	out := []PastRun{}
	if p.archive == nil {
		return out
	}
	for _, run := range p.archive.List(ctx) {
		if run.Error == "" {
			run.Report = p.address(run.Journal)
		}
		out = append(out, run)
	}
	return out
}

// find gives the journal whose report has an address; only those on the list have one.
func (p *past) find(ctx context.Context, address string) string {
	for _, run := range p.list(ctx) {
		if run.Report != "" && hmac.Equal([]byte(run.Report), []byte(address)) {
			return run.Journal
		}
	}
	return ""
}

// servePast makes the report of a run of before, one at a time.
func (d *Dashboard) servePast(w http.ResponseWriter, r *http.Request, p *past) {
	path := p.find(r.Context(), "api/past/"+r.PathValue("id"))
	if path == "" {
		http.Error(w, "there is no such report: list the runs again", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), reportWait)
	defer cancel()
	select {
	case p.making <- struct{}{}:
		defer func() { <-p.making }()
	case <-ctx.Done():
		d.noPast(w, path, errors.New("another report is being made"))
		return
	}
	doc, err := p.archive.Document(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("it takes longer than a page waits")
		}
		d.noPast(w, path, err)
		return
	}
	d.writeReport(w, doc)
}

// noPast says why there is no report, and the command that makes it.
func (d *Dashboard) noPast(w http.ResponseWriter, path string, err error) {
	d.o.Log.Warn("a report was not made", "journal", path, "error", err)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	d.write(w, []byte("<!doctype html><html lang=en><title>tuner</title><h1>No report</h1><p>"+template.HTMLEscapeString(err.Error())+". In a shell: <code>tuner report "+template.HTMLEscapeString(path)+"</code></p></html>"))
}
