package describe

import (
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
)

// DecisionTime is what a decision of a configuration costs on this computer.
type DecisionTime struct {
	// Observations are what the model held. Wanted is what it holds at the end of the run, or
	// full: where they are fewer, to bring it there would have taken too long.
	Observations, Wanted int
	// Took is the time of one decision of Units units of work. Where it is not Complete, it
	// was ended before it had done all of them.
	Took     time.Duration
	Units    int
	Complete bool
	// Deadline is the file's.
	Deadline time.Duration
}

// Cut says whether the deadline cuts such a decision.
func (d *DecisionTime) Cut() bool { return d.Took > d.Deadline }

// Text says what a decision takes.
func (d *DecisionTime) Text() string {
	took := "about " + show.Duration(Rounded(d.Took))
	if !d.Complete {
		took = "more than " + show.Duration(Rounded(d.Took))
	}
	text := fmt.Sprintf("%s on this computer with %s", took, show.Count(d.Observations, "observation"))
	if d.Observations < d.Wanted {
		text += fmt.Sprintf(" (of %d that the model comes to hold)", d.Wanted)
	}
	switch {
	case !d.Cut():
		return text + ", of the " + show.Duration(d.Deadline) + " that it may take"
	case d.Complete:
		text += fmt.Sprintf("; the deadline of %s will cut its search: with deadline = %q it is complete", show.Duration(d.Deadline), Rounded(2*d.Took))
	default:
		text += fmt.Sprintf("; the deadline of %s will cut its search: raise it", show.Duration(d.Deadline))
	}
	return text + ", or lower capacity in [model]"
}

// decisionLine is what a decision takes, in JSON.
type decisionLine struct {
	Seconds      float64 `json:"seconds"`
	Deadline     float64 `json:"deadline_s"`
	Observations int     `json:"observations"`
	Complete     bool    `json:"complete"`
	Cut          bool    `json:"cut"`
}

func (d *DecisionTime) line() decisionLine {
	return decisionLine{d.Took.Seconds(), d.Deadline.Seconds(), d.Observations, d.Complete, d.Cut()}
}

// Rounded is a time to two digits.
func Rounded(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-1))
	return d.Round(max(unit, 1))
}
