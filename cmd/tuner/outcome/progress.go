package outcome

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// Progress is what a terminal shows while the loop runs. pace is how much of
// this machine's time passes with one unit of the loop's.
func Progress(w *setup.Setup, p *control.Status, pace float64) show.Progress {
	line := show.Progress{Head: stepOf(p), Done: done(p)}
	phase := p.Phase
	if c := p.Comparison; c != nil && c.Running {
		phase = fmt.Sprintf("verifying, pair %d of %d", c.Pair, c.Pairs)
	}
	line.Parts = append(line.Parts, show.Part{Text: phase, Rank: 3})
	if r := p.Recommended; r != nil && r.Bound.Known() {
		line.Parts = append(line.Parts, show.Part{Text: bestWords(w, r), Rank: 1})
	}
	if unit := w.Options.Cost.Unit; unit != "" || p.Spent > 0 {
		line.Parts = append(line.Parts, show.Part{Text: "spent " + show.WithUnit(show.Digits(float64(p.Spent), 4), unit), Rank: 4})
	}
	if p.Left.Known() {
		line.Parts = append(line.Parts, show.Part{Text: show.Duration(time.Duration(pace*float64(p.Left)*float64(time.Second))) + " left", Rank: 2})
	}
	return line
}

// stepOf is the step, of as many as there are to be.
func stepOf(p *control.Status) string {
	if p.StepLimit > 0 {
		return fmt.Sprintf("step %d/%d", min(p.Step, p.StepLimit), p.StepLimit)
	}
	return fmt.Sprintf("step %d", p.Step)
}

// done is how much of the search is done, by the stop condition that is nearest; NaN where none
// counts.
func done(p *control.Status) float64 {
	part := math.NaN()
	nearest := func(have, limit float64) {
		if limit > 0 && !(have/limit <= part) {
			part = have / limit
		}
	}
	nearest(float64(p.Steps), float64(p.StepLimit))
	nearest(float64(p.Spent), float64(p.Budget))
	nearest(float64(p.Elapsed), float64(p.TimeLimit))
	return part
}

// bestWords are the value that is expected of the recommended setting, and its pessimistic bound.
func bestWords(w *setup.Setup, r *control.RecommendedStatus) string {
	o := &w.Options.Objective
	side := "at least"
	if o.Minimize {
		side = "at most"
	}
	bound := show.WithUnit(show.Digits(float64(r.Bound), 4), o.Unit)
	if !r.Mean.Known() {
		return fmt.Sprintf("best %s %s", side, bound)
	}
	return fmt.Sprintf("best %s (%s %s)", show.Digits(float64(r.Mean), 4), side, bound)
}

// StepLine tells a concluded step in a line, for a log: what was measured, with its standard error (se), at which setting, and
// the best so far by the newest status, nil before there is one.
func StepLine(w *setup.Setup, d journal.Decision, o journal.Outcome, p *control.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tuner: step %d", d.Step)
	if n := w.Options.Stop.Steps; n > 0 && d.Step <= n {
		fmt.Fprintf(&b, "/%d", n)
	}
	if c := d.Compared; c.Comparison > 0 {
		fmt.Fprintf(&b, " (verifying, pair %d, %s)", c.Pair, c.Side)
	}
	unit := w.Options.Objective.Unit
	if o.Valid {
		fmt.Fprintf(&b, ": %s", show.Quantity(o.Mean, unit))
		if o.StandardError > 0 {
			fmt.Fprintf(&b, " (se %s)", show.Digits(o.StandardError, 2))
		}
	} else {
		fmt.Fprintf(&b, ": no valid data: %s", o.Problem)
	}
	var at []string
	for i, v := range w.Options.Variables {
		if i < len(o.X) && !math.IsNaN(o.X[i]) {
			at = append(at, v.Name+"="+show.Number(o.X[i]))
		}
	}
	if len(at) > 0 {
		fmt.Fprintf(&b, " at %s", strings.Join(at, ","))
	}
	if p != nil && p.Recommended != nil && p.Recommended.Bound.Known() {
		fmt.Fprintf(&b, "; %s", bestWords(w, p.Recommended))
	}
	return b.String()
}
