package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/labtuner/tuner/loop/web/webtest"
)

// before is the commit whose page this one is compared with.
const before = "5a9c202"

// pageOf reads the page of a commit, nil where this is no clone with it.
func pageOf(b *testing.B, commit string) fs.FS {
	b.Helper()
	list, err := exec.Command("git", "ls-tree", "--name-only", commit, "./page/").Output()
	if err != nil {
		return nil
	}
	files := fstest.MapFS{}
	for _, name := range strings.Fields(string(list)) {
		text, err := exec.Command("git", "show", commit+":./"+name).Output()
		if err != nil {
			b.Fatal(err)
		}
		files[strings.TrimPrefix(name, "page/")] = &fstest.MapFile{Data: text}
	}
	return files
}

// servePage serves the files of a page with one document.
func servePage(b *testing.B, files fs.FS, d *Document) string {
	b.Helper()
	document, err := json.Marshal(d)
	if err != nil {
		b.Fatal(err)
	}
	lines, err := d.lines()
	if err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /page/", http.StripPrefix("/page/", http.FileServerFS(files)))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "dashboard.html") })
	mux.HandleFunc("GET /api/access", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"commands": true}`) })
	mux.HandleFunc("GET /api/document", func(w http.ResponseWriter, r *http.Request) {
		text := document
		if r.URL.Query().Has("lines") {
			text = lines
		}
		http.ServeContent(w, r, "document.json", time.Time{}, bytes.NewReader(text))
	})
	mux.HandleFunc("GET /api/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: hello\ndata: {}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	b.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// BenchmarkDrawing draws a run of 10,000 steps by the page of before and by this one, in turn, and
// reports medians: when the first screen is painted, how long the main thread is busy with the data, and the
// longest task. docs/development/campaigns.md has the command.
func BenchmarkDrawing(b *testing.B) {
	browser := webtest.Browser(b)
	if browser == nil {
		b.Skip("there is no Chromium")
	}
	old := pageOf(b, before)
	if old == nil {
		b.Skipf("this is no clone that has %s", before)
	}
	now, err := fs.Sub(pageFiles, "page")
	if err != nil {
		b.Fatal(err)
	}
	g := bench
	g.steps = 10_000
	d, status := g.show(b)
	d.Status = &status
	pages := []struct {
		name, url, first, drawn string
		seen                    []webtest.Drawing
	}{{name: "before", url: servePage(b, old, d), first: "#best", drawn: fmt.Sprintf(`document.querySelectorAll("canvas").length === %d`, 1+2*len(g.names))},
		{name: "now", url: servePage(b, now, d), first: ".headline", drawn: `document.querySelector("canvas") && !document.querySelector("[aria-busy]")`}}
	for b.Loop() {
		for i := range pages {
			p := &pages[i]
			p.seen = append(p.seen, webtest.Draw(b, browser, p.url, webtest.Screens()[0], p.first, "api/document", p.drawn))
		}
	}
	median := func(i int, of func(webtest.Drawing) time.Duration) float64 {
		var all []time.Duration
		for _, d := range pages[i].seen {
			all = append(all, of(d))
		}
		slices.Sort(all)
		return float64(all[len(all)/2]) / 1e6
	}
	first, busy, longest := func(d webtest.Drawing) time.Duration { return d.First }, func(d webtest.Drawing) time.Duration { return d.Busy }, func(d webtest.Drawing) time.Duration { return d.Longest }
	for i, p := range pages {
		b.ReportMetric(median(i, first), p.name+"-first-ms")
		b.ReportMetric(median(i, busy), p.name+"-draw-ms")
		b.ReportMetric(median(i, longest), p.name+"-longest-ms")
	}
	b.ReportMetric(median(1, first)/median(0, first), "first-ratio")
	b.ReportMetric(median(1, busy)/median(0, busy), "draw-ratio")
	b.ReportMetric(median(1, longest)/median(1, busy), "longest/draw")
}
