package outcome

import (
	"fmt"
	"io"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// reportVerification tells how sure the improvement is.
func reportVerification(w *setup.Setup, b io.Writer, r *control.Result) {
	v := r.Verified
	switch {
	case w.Options.Mode == plan.Shadow:
		return
	case v == nil && r.Unverified != "":
		fmt.Fprintf(b, "not measured against the starting setting: %s\n", r.Unverified)
		return
	case v == nil:
		return
	}
	o := &w.Options.Objective
	fmt.Fprintf(b, "verified: %s\n", v.Words)
	if v.Pairs == 0 {
		return
	}
	fmt.Fprintf(b, "  measured in turn: %s recommended, %s at the start\n",
		show.Quantity(float64(v.Recommended.Mean), o.Unit), show.Quantity(float64(v.Start.Mean), o.Unit))
	if v.SD != nil {
		fmt.Fprintf(b, "  %s\n", steadiness(v.Verification, o.Unit))
	}
	cost := ""
	if v.Spent > 0 {
		cost = " and " + show.Quantity(float64(v.Spent), w.Options.Cost.Unit)
	}
	fmt.Fprintf(b, "  it took %s%s beside the search", show.Count(v.Steps, "step"), cost)
	if v.Dropped > 0 {
		fmt.Fprintf(b, "; %s gave no data on one side", show.Count(v.Dropped, "pair"))
	}
	fmt.Fprintln(b)
}

// steadiness tells how the scatter of a shot changed.
func steadiness(v *plan.Verification, unit string) string {
	text := fmt.Sprintf("one shot scatters by %s (sd) there, and by %s at the start: ",
		show.Quantity(float64(v.Recommended.SD), unit), show.Quantity(float64(v.Start.SD), unit))
	p := func(which string, p float64) string {
		return fmt.Sprintf("%s, p = %.2g, two-sided %.2g", which, p, float64(v.SD.PTwoSided))
	}
	switch {
	case float64(v.SD.P) <= plan.VerifyLevel:
		return text + p("steadier", float64(v.SD.P))
	case float64(v.SD.PLess) <= plan.VerifyLevel:
		return text + p("less steady", float64(v.SD.PLess))
	}
	return text + p("no change shown", float64(min(v.SD.P, v.SD.PLess)))
}
