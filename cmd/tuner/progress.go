package main

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// stopWords says when the run ends.
func endWords(w *setup.Setup) string {
	var ends []string
	stop := &w.Options.Stop
	if w.Options.Mode != plan.Shadow {
		if stop.Steps > 0 {
			ends = append(ends, "after "+show.Count(stop.Steps, "step"))
		}
		if stop.Cost > 0 {
			ends = append(ends, "at a cost of "+show.Quantity(stop.Cost, w.Options.Cost.Unit))
		}
	}
	if stop.Time > 0 {
		ends = append(ends, "after "+show.Duration(stop.Time))
	}
	switch len(ends) {
	case 0:
		return "ends when it is interrupted, as nothing is written and stop.time is absent"
	case 1:
		return "ends " + ends[0]
	}
	return "ends " + strings.Join(ends, " or ") + ", whichever comes first"
}

// progressLine is what a terminal shows while the loop runs. pace is how much of
// this machine's time passes with one unit of the loop's.
func progressLine(w *setup.Setup, p control.Progress, pace float64) string {
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
