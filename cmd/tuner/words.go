package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// number writes x for people: five significant digits, no exponent where none is
// needed.
func number(x float64) string { return digits(x, 5) }

// digits writes x with n significant digits.
func digits(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return unknown
	case x == 0:
		return "0"
	}
	text := strconv.FormatFloat(x, 'g', n, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if size := math.Abs(x); err != nil || size < 1e-4 || size >= 1e9 {
		return text
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// percent is a part of a whole.
func percent(x float64) string { return number(100*x) + "%" }

// quantity writes a number with its unit.
func quantity(x float64, unit string) string { return withUnit(number(x), unit) }

func withUnit(number, unit string) string {
	if unit == "" || unit == "1" || number == unknown {
		return number
	}
	return number + " " + unit
}

// unknown stands for a number that there is not.
const unknown = "unknown"

// duration writes d for people: no more digits than one would say.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	case d < time.Hour:
		d = d.Round(time.Second)
	case d < 100*time.Hour:
		d = d.Round(time.Minute)
	default:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// count writes "1 step" or "3 steps".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stopWords says when the run ends.
func (w *wiring) stopWords() string {
	var ends []string
	stop := &w.opt.Stop
	if w.opt.Mode != plan.Shadow {
		if stop.Steps > 0 {
			ends = append(ends, "after "+count(stop.Steps, "step"))
		}
		if stop.Cost > 0 {
			ends = append(ends, "at a cost of "+quantity(stop.Cost, w.opt.Cost.Unit))
		}
	}
	if stop.Time > 0 {
		ends = append(ends, "after "+duration(stop.Time))
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
func (w *wiring) progressLine(p control.Progress, pace float64) string {
	parts := []string{"step " + strconv.Itoa(p.Step), p.Phase}
	if !math.IsNaN(p.LowerBound) && p.Step > 0 {
		side := "at least "
		if w.opt.Objective.Minimize {
			side = "at most "
		}
		parts = append(parts, "best "+side+withUnit(digits(p.LowerBound, 4), w.opt.Objective.Unit))
	}
	if unit := w.opt.Cost.Unit; unit != "" || p.Spent > 0 {
		parts = append(parts, "spent "+withUnit(digits(p.Spent, 4), unit))
	}
	if p.Left >= 0 {
		parts = append(parts, duration(time.Duration(pace*float64(p.Left)))+" left")
	}
	return strings.Join(parts, ", ")
}
