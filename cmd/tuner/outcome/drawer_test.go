package outcome

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/web"
)

func newTestDrawer(t *testing.T, path string) *Drawer {
	d := NewDrawer(t.Context(), &host.Env{Stderr: io.Discard, Now: time.Now, Lookup: func(string) (string, bool) { return "", false }, IsTerminal: func(io.Writer) bool { return false }}, path)
	t.Cleanup(d.Close)
	return d
}

// TestDrawerSurvives: what goes wrong with a figure, a journal that is gone or a panic, is an answer, and the next
// question is answered too; a drawer that is closed draws nothing.
func TestDrawerSurvives(t *testing.T) {
	d := newTestDrawer(t, filepath.Join(t.TempDir(), "gone.db"))
	for range 2 {
		if _, err := d.SVG(t.Context(), web.FigureQuery{Kind: "progress"}); err == nil || !strings.Contains(err.Error(), "gone.db") {
			t.Errorf("no journal: %v", err)
		}
	}
	d = newTestDrawer(t, "none")
	d.record = &Recorded{} // without a reader: whoever asks it panics
	for _, kind := range []string{"progress", "slices"} {
		if _, err := d.SVG(t.Context(), web.FigureQuery{Kind: kind}); err == nil || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("a panic: %v", err)
		}
	}
	d.record = nil
	d.Close()
	if _, err := d.SVG(t.Context(), web.FigureQuery{Kind: "risk"}); !errors.Is(err, web.ErrNoFigure) {
		t.Errorf("closed: %v", err)
	}
}
