package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/loop/journal"
)

// Summary says what came of the comparison in one line; unit is the objective's.
func (v *Verification) Summary(unit string) string {
	g := v.Gain
	if g == nil {
		return fmt.Sprintf("no improvement shown: none of %d pairs of measurements gave data", v.Planned)
	}
	if unit == "1" {
		unit = ""
	}
	quantity := func(x journal.Number) string { return strings.TrimRight(fmt.Sprintf("%.4g %s", float64(x), unit), " ") }
	size := quantity(g.Value)
	if v.Risk > 0 {
		size += fmt.Sprintf(", counting %.4g times the variance of a shot", float64(v.Risk))
	}
	if !math.IsNaN(float64(g.Low)) {
		size += fmt.Sprintf(" (95 %% confidence: %.4g to %s)", float64(g.Low), quantity(g.High))
	}
	p := fmt.Sprintf("p = %.2g, two-sided %.2g, sign-flip test on %d pairs", float64(g.P), float64(g.PTwoSided), v.Pairs)
	switch v.Verdict {
	case VerdictBetter:
		return fmt.Sprintf("the recommended setting is better than the starting one by %s; %s", size, p)
	case VerdictWorse:
		return fmt.Sprintf("the starting setting is better: the recommended one gains %s; p = %.2g for a loss, two-sided %.2g, sign-flip test on %d pairs",
			size, float64(g.PLess), float64(g.PTwoSided), v.Pairs)
	}
	return fmt.Sprintf("no improvement shown: the recommended setting gains %s; %s", size, p)
}

// VerifyLevel is the significance at which a difference is reported: chance alone tells one in
// at most one of twenty runs.
const VerifyLevel = 0.05

// The verdicts of a comparison.
const (
	VerdictBetter = "better"  // the recommended setting is
	VerdictWorse  = "worse"   // the starting setting is better
	VerdictNone   = "none"    // no difference is shown
	VerdictNoData = "no data" // no pair gave data
)

// Verification is what a comparison came to. Differences are between pairs; those of the
// objective are positive where the recommended setting is better, whatever the user's
// sense.
type Verification struct {
	Verdict string `json:"verdict"`
	// Planned counts the pairs that were to be measured, Pairs those that both sides gave
	// data for, Dropped those that one side did not. Shots is for each step.
	Planned int `json:"planned"`
	Pairs   int `json:"pairs"`
	Dropped int `json:"dropped"`
	Shots   int `json:"shots"`
	// Recommended and Start describe the objective there, in the user's sense.
	Recommended Measured `json:"recommended"`
	Start       Measured `json:"start"`
	// Gain is of what is optimised: the objective, or with Risk greater than 0 the
	// objective less Risk times the variance of a shot; Mean is then of the objective alone,
	// and SD of the standard deviation of a shot (positive: the recommended setting is
	// steadier).
	Risk journal.Number    `json:"risk"`
	Gain *PairedDifference `json:"gain,omitempty"`
	Mean *PairedDifference `json:"mean,omitempty"`
	SD   *PairedDifference `json:"sd,omitempty"`
	// Steps counts the steps that it took, Spent their cost, which is no part of the
	// search's budget.
	Steps int            `json:"steps"`
	Spent journal.Number `json:"spent"`
	// Left is the side whose setting the instrument is left at, where it can hold one.
	Left journal.Side `json:"left"`
}

// Measured is one side of a comparison: the mean over its pairs, and the standard
// deviation of one shot, pooled over its steps; null at one shot.
type Measured struct {
	Mean journal.Number `json:"mean"`
	SD   journal.Number `json:"sd"`
}

func noMeasure() Measured {
	return Measured{Mean: journal.Number(math.NaN()), SD: journal.Number(math.NaN())}
}

// measured summarises one side.
func measured(side []journal.Outcome) Measured {
	sum, squares, freedom := 0.0, 0.0, 0
	for _, o := range side {
		sum += o.Mean
		if o.Shots > 1 {
			squares += float64(o.Shots-1) * o.Variance
			freedom += o.Shots - 1
		}
	}
	return Measured{Mean: journal.Number(sum / float64(len(side))), SD: journal.Number(math.Sqrt(squares / float64(freedom)))}
}

// ResultOf is a verification as the journal keeps it.
func ResultOf(number int, v *Verification) journal.ComparisonResult {
	nan := math.NaN()
	r := journal.ComparisonResult{Comparison: number, Verdict: v.Verdict, Pairs: v.Pairs, Gain: nan, Low: nan, High: nan, P: nan}
	if g := v.Gain; g != nil {
		r.Gain, r.Low, r.High, r.P = float64(g.Value), float64(g.Low), float64(g.High), float64(g.P)
	}
	r.Document, _ = json.Marshal(v) // of strings and Numbers, which always can be written
	return r
}
