// Package wizard shows in a browser what tuner init has found, and the file that it would write for
// what a person chooses. It only reads: it takes no command, writes no file and opens no device.
package wizard

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/web"
)

//go:embed wizard.html
var markup string

var page = template.Must(template.New("wizard").Parse(markup))

//go:embed wizard.css
var style []byte

//go:embed copy.js
var script []byte

// Wizard is what was found, and how a text is checked.
type Wizard struct {
	Found []examine.Instrumented
	// Purpose is what flags have said: the form begins with it.
	Purpose examine.Purpose
	// Check says what tuner check would say of a file's text, nil where it accepts it.
	Check func(name, text string) error
}

// channel is one that the form offers.
type channel struct {
	Name, Says       string
	Objective, Knob  bool
	Settable, Chosen bool
}

// shown is what the page is made of.
type shown struct {
	Purpose  examine.Purpose
	Devices  []device
	File     string
	Text     string
	Trouble  string
	Lines    int
	Channels []channel
}

// device is an instrument that answered.
type device struct {
	Name, Driver, Says string
}

// Serve shows the page at a listener until ctx ends.
//
// Errors: the listener's.
func (w *Wizard) Serve(ctx context.Context, l net.Listener) error {
	s := web.NewServer(web.ServerOptions{ReadByAll: true})
	s.Handle("GET /{$}", http.HandlerFunc(w.page))
	s.Handle("GET /wizard.css", file("text/css; charset=utf-8", style))
	s.Handle("GET /copy.js", file("text/javascript; charset=utf-8", script))
	return s.Serve(ctx, l)
}

// file serves a part of the page.
func file(kind string, text []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // that its reader has gone is no trouble of ours
	})
}

// page shows the form, and the file for what it says.
func (w *Wizard) page(out http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	if err := page.Execute(&b, w.show(r)); err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	// The form is sent to this page alone: it has the file made anew.
	out.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	file("text/html; charset=utf-8", b.Bytes()).ServeHTTP(out, r)
}

// show makes the page of what a form says, or of the flags where it says nothing yet.
func (w *Wizard) show(r *http.Request) shown {
	s := shown{Purpose: w.Purpose}
	if q := r.URL.Query(); q.Has("name") {
		s.Purpose = examine.Purpose{Name: strings.TrimSpace(q.Get("name")), Objective: q.Get("objective"), Minimize: q.Get("goal") == "minimize", Knobs: q["knob"]}
		steps, err := strconv.Atoi(q.Get("steps"))
		if s.Purpose.Steps = steps; err != nil || steps < 1 {
			s.Trouble = fmt.Sprintf("%q is no number of steps: write 1 or more", q.Get("steps"))
		}
	}
	for _, d := range w.Found {
		s.Devices = append(s.Devices, device{d.Name, d.Driver, d.Says})
		for _, c := range d.Channels {
			name := d.Name + "." + c.Name
			s.Channels = append(s.Channels, channel{Name: name, Says: says(c), Objective: name == s.Purpose.Objective || c.Name == s.Purpose.Objective,
				Settable: c.Access == drivers.ReadWrite && !c.Dose, Chosen: chosen(s.Purpose.Knobs, name, c.Name)})
		}
	}
	switch {
	case s.Trouble != "":
	case len(w.Found) == 0:
		s.Trouble = "nothing answered: end this and name where to look, as in tuner init --page --device exec=\"python3 oven.py\""
	case s.Purpose.Name == "":
		s.Trouble = "give the run a name"
	case s.Purpose.Objective == "":
		s.Trouble = "choose the channel that counts"
	case len(s.Purpose.Knobs) == 0:
		s.Trouble = "choose at least one channel that is set"
	default:
		s.write(w)
	}
	return s
}

// write makes the file, and has it checked.
func (s *shown) write(w *Wizard) {
	text, err := examine.FirstFile(w.Found, s.Purpose)
	if err == nil {
		s.Text, s.Lines, s.File = text, strings.Count(text, "\n")+1, s.Purpose.Name+".toml"
		err = w.Check(s.File, text)
	}
	if err != nil {
		s.Trouble = err.Error()
	}
}

// chosen says that a channel is among the knobs.
func chosen(knobs []string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(knobs, n) })
}

// says tells a channel in a few words.
func says(c drivers.DiscoveredChannel) string {
	words := "read only"
	if c.Access == drivers.ReadWrite {
		words = "can be set"
	}
	if c.Unit != "" && c.Unit != "1" {
		words += ", in " + c.Unit
	}
	if c.Min < c.Max {
		words += fmt.Sprintf(", %g to %g", c.Min, c.Max)
	}
	return words
}
