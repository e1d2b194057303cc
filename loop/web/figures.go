package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// FigureKind is a kind of figure that can be asked for, with what may be chosen of it.
type FigureKind struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Pair: two variables may be chosen, as x and y.
	Pair bool `json:"pair"`
	// Of and Over are the words that those may have; empty: there is nothing to choose.
	Of   []string `json:"of"`
	Over []string `json:"over"`
}

// FigureQuery asks for a figure; what is "" is chosen by the drawer.
type FigureQuery struct{ Kind, X, Y, Of, Over string }

// Drawer draws the run as tuner plot does.
type Drawer interface {
	Kinds() []FigureKind
	// SVG gives a figure. Errors: ErrDrawing, ErrNoFigure, and what kept it from being drawn.
	SVG(ctx context.Context, q FigureQuery) ([]byte, error)
}

// Errors of a Drawer.
var (
	// ErrDrawing: ask again in a moment.
	ErrDrawing = errors.New("the figure is being drawn")
	// ErrNoFigure: the run has nothing that such a figure could show, or there is no such figure.
	ErrNoFigure = errors.New("no figure")
)

// RunHere is a run of this computer, for the list of them.
type RunHere struct {
	Name string `json:"name"`
	Site string `json:"site"`
	Mode string `json:"mode"`
	// Status is its control.Status, null where nothing is known.
	Status json.RawMessage `json:"status"`
	// Page is where its page is, "" where it has none; Own says that it is the run of this page.
	Page string `json:"page"`
	Own  bool   `json:"own"`
	// Error says why nothing is known of it, "" where something is.
	Error string `json:"error"`
}

// mountFigures adds what is drawn on demand, and the list of runs.
func (d *Dashboard) mountFigures(s *Server) {
	s.Handle("GET /api/figures", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		kinds := []FigureKind{}
		if d.o.Drawer != nil {
			kinds = d.o.Drawer.Kinds()
		}
		d.writeJSON(w, http.StatusOK, kinds)
	}))
	s.Handle("GET /api/figure", http.HandlerFunc(d.serveFigure))
	s.Handle("GET /api/runs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runs := []RunHere{}
		if d.o.Runs != nil {
			runs = d.o.Runs(r.Context())
		}
		d.writeJSON(w, http.StatusOK, runs)
	}))
}

// serveFigure answers with the figure, with 202 while it is being drawn, which a browser takes for no error, and with 404
// and the reason where there is none.
func (d *Dashboard) serveFigure(w http.ResponseWriter, r *http.Request) {
	if d.o.Drawer == nil {
		http.Error(w, "this page draws no figures", http.StatusNotFound)
		return
	}
	v := r.URL.Query()
	text, err := d.o.Drawer.SVG(r.Context(), FigureQuery{Kind: v.Get("kind"), X: v.Get("x"), Y: v.Get("y"), Of: v.Get("of"), Over: v.Get("over")})
	switch {
	case errors.Is(err, ErrDrawing):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusAccepted)
	case errors.Is(err, ErrNoFigure):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		d.o.Log.Warn("a figure was not drawn", "kind", v.Get("kind"), "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "image/svg+xml")
		d.write(w, text)
	}
}
