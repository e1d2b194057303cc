package describe

import (
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
)

// DecisionTime is what decisions of a configuration cost on this computer.
type DecisionTime struct {
	// Observations are what the model held. Wanted is what it holds at the end of the run, or
	// full: where they are fewer, to bring it there would have taken too long. Full says that
	// Wanted is what it can hold.
	Observations, Wanted int
	Full                 bool
	// Took is the time of the middle decision, which did Units units of work, Longest that of the
	// longest: a search that begins anew. Where they are not Complete, the longest one was ended
	// before it had done all. Waiting for a fit of hyperparameters does not count, as a deadline
	// does not count it.
	Took, Longest time.Duration
	Units         int
	Complete      bool
	// Early is the time of the first decision of a run.
	Early time.Duration
	// Deadline is the file's.
	Deadline time.Duration
}

// Cut says whether the deadline cuts such decisions, some at least: not those of a design, which search nothing.
func (d *DecisionTime) Cut() bool { return d.Longest > d.Deadline && !d.searchesNothing() }

// searchesNothing says that decisions are those of a design.
func (d *DecisionTime) searchesNothing() bool { return d.Units == 0 && d.Complete }

// Text says what decisions take.
func (d *DecisionTime) Text() string {
	about, longest := "about "+show.Duration(Rounded(d.Took)), show.Duration(Rounded(d.Longest))
	if !d.Complete && d.Longest == d.Took { // one was timed
		about = "more than " + longest
	}
	text := fmt.Sprintf("%s on this computer with %s", about, show.Count(d.Observations, "observation"))
	if d.Observations < d.Wanted {
		text += fmt.Sprintf(", longer with the %d that the model comes to hold", d.Wanted)
	}
	switch {
	case d.Longest == d.Took:
	case d.Complete:
		text += ", now and then " + longest
	default:
		text += ", now and then more than " + longest
	}
	switch {
	case d.searchesNothing():
		return text + "; it searches nothing, so no deadline cuts it"
	case d.Cut(), d.Deadline < Rounded(d.enough()):
		return text + d.advice()
	case d.Observations < d.Wanted:
		return text + ", of the " + show.Duration(d.Deadline) + " that it may take, which may not be enough then"
	}
	return text + ", of the " + show.Duration(d.Deadline) + " that it may take"
}

// enough is a deadline for the longest decision with room: in a run, which idles between two, they take longer than
// one after the other, and not always the same.
func (d *DecisionTime) enough() time.Duration { return 2 * d.Longest }

// advice is what to change where decisions are cut, or may be.
func (d *DecisionTime) advice() string {
	which := "may cut some searches"
	switch {
	case d.Took > d.Deadline:
		which = "will cut most searches"
	case d.Cut():
		which = "will cut some searches"
	}
	text := fmt.Sprintf("; the deadline of %s %s: ", show.Duration(d.Deadline), which)
	if d.Complete && d.Observations == d.Wanted {
		text += fmt.Sprintf("deadline = %q is enough on a quiet computer", show.Duration(Rounded(d.enough())))
	} else {
		text += "raise it, beyond " + show.Duration(Rounded(d.enough()))
	}
	if d.Full && d.Early <= d.Deadline { // fewer observations do help
		text += ", or lower capacity in [model]"
	}
	return text
}

// decisionLine is what decisions take, in JSON.
type decisionLine struct {
	Seconds      float64 `json:"seconds"`
	Longest      float64 `json:"longest_s"`
	Deadline     float64 `json:"deadline_s"`
	Observations int     `json:"observations"`
	Wanted       int     `json:"observations_in_run"`
	Complete     bool    `json:"complete"`
	Cut          bool    `json:"cut"`
}

func (d *DecisionTime) line() decisionLine {
	return decisionLine{d.Took.Seconds(), d.Longest.Seconds(), d.Deadline.Seconds(), d.Observations, d.Wanted, d.Complete, d.Cut()}
}

// Rounded is a time to two digits.
func Rounded(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-1))
	return d.Round(max(unit, 1))
}
