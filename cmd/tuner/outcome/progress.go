package outcome

import (
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
)

// Progress is what a terminal shows while the loop runs. pace is how much of
// this machine's time passes with one unit of the loop's.
func Progress(w *setup.Setup, p *control.Status, pace float64) string {
	parts := []string{"step " + strconv.Itoa(p.Step), p.Phase}
	if r := p.Recommended; r != nil && r.Bound.Known() {
		side := "at least "
		if w.Options.Objective.Minimize {
			side = "at most "
		}
		parts = append(parts, "best "+side+show.WithUnit(show.Digits(float64(r.Bound), 4), w.Options.Objective.Unit))
	}
	if unit := w.Options.Cost.Unit; unit != "" || p.Spent > 0 {
		parts = append(parts, "spent "+show.WithUnit(show.Digits(float64(p.Spent), 4), unit))
	}
	if p.Left.Known() {
		parts = append(parts, show.Duration(time.Duration(pace*float64(p.Left)*float64(time.Second)))+" left")
	}
	return strings.Join(parts, ", ")
}
