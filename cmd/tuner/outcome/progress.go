package outcome

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
)

// Progress is what a terminal shows while the loop runs. pace is how much of
// this machine's time passes with one unit of the loop's.
func Progress(w *setup.Setup, p control.Progress, pace float64) string {
	parts := []string{"step " + strconv.Itoa(p.Step), p.Phase}
	if !math.IsNaN(p.LowerBound) && p.Step > 0 {
		side := "at least "
		if w.Options.Objective.Minimize {
			side = "at most "
		}
		parts = append(parts, "best "+side+show.WithUnit(show.Digits(p.LowerBound, 4), w.Options.Objective.Unit))
	}
	if unit := w.Options.Cost.Unit; unit != "" || p.Spent > 0 {
		parts = append(parts, "spent "+show.WithUnit(show.Digits(p.Spent, 4), unit))
	}
	if p.Left >= 0 {
		parts = append(parts, show.Duration(time.Duration(pace*float64(p.Left)))+" left")
	}
	return strings.Join(parts, ", ")
}
