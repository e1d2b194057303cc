// Package outcome tells what came of a run: as a report in words, and as the line of JSON that
// the journal keeps.
package outcome

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// WriteReport tells in words what came of a session.
func WriteReport(w *setup.Setup, out io.Writer, f Finale, journalPath string) error {
	b := bufio.NewWriter(out)
	reportHead(w, b, f)
	reportFound(w, b, f)
	reportTruth(w, b, f)
	reportCourse(w, b, f)
	reportCost(w, b, f)
	reportTrouble(w, b, f)
	if w.Options.Mode != plan.Simulate {
		for _, line := range RestLines(w, &f.Result) {
			fmt.Fprintln(b, line)
		}
	}
	fmt.Fprintf(b, "journal: %s\n", journalPath)
	fmt.Fprintf(b, "next: %s\n", nextCommand(w, f, journalPath))
	return b.Flush()
}

// reportHead says what was done and why it ended.
func reportHead(w *setup.Setup, b io.Writer, f Finale) {
	r := &f.Result
	how := control.Endings()[r.Reason]
	if how == "" {
		how = "it did not begin"
	}
	elapsed := show.Duration(r.Elapsed)
	if w.Options.Mode == plan.Simulate {
		elapsed = fmt.Sprintf("%s of simulated time, %s here", elapsed, show.Duration(f.Took))
	}
	fmt.Fprintf(b, "%s: %s by %s over %s in %s; %s\n", w.Config.Name, show.ModeWords(string(w.Options.Mode)),
		w.Config.Policy.Kind, show.Count(r.Steps, "step"), elapsed, how)
}

// reportFound describes the recommendation against the starting setting.
func reportFound(w *setup.Setup, b io.Writer, f Finale) {
	if !f.Result.HasFound {
		fmt.Fprintln(b, "\nno recommendation: no step gave valid data")
		return
	}
	o := &w.Options.Objective
	found := &f.Line
	fmt.Fprintln(b, "\nrecommended setting, the best by the model's pessimistic bound:")
	writeSetting(b, found.Variables)
	fmt.Fprintf(b, "\n%s there: %s expected", o.Name, show.Quantity(float64(found.Mean), o.Unit))
	if found.NoiseSD.Known() {
		fmt.Fprintf(b, ", one shot scatters by %s (sd, by the model)", show.Quantity(float64(found.NoiseSD), o.Unit))
	}
	fmt.Fprintln(b)
	fmt.Fprintf(b, "%s: %s\n", pessimisticWords(w), show.Quantity(float64(found.LowerBound), boundUnit(w)))
	if found.Try != "" {
		fmt.Fprintf(b, "to measure it again while it runs: %s\n", found.Try)
	}
	if found.Constraints != nil {
		reportConstraints(b, found.Constraints)
	}
	reportStart(w, b, f)
	reportVerification(w, b, found)
}

// reportConstraints says how the constraints were kept, and will be.
func reportConstraints(b io.Writer, c *control.ResultConstraints) {
	broken := "no step broke a constraint"
	if c.Broken > 0 {
		broken = show.Count(c.Broken, "step") + " broke a constraint"
	}
	switch p := float64(c.Probability); {
	case math.IsNaN(p):
		fmt.Fprintln(b, "constraints: a sensor gave too few readings to learn from, so nothing is known of them")
	case c.Feasible:
		fmt.Fprintf(b, "constraints: kept there with a probability of %.3g or more; %s\n", min(math.Floor(1000*p)/1000, 0.999), broken)
	default:
		fmt.Fprintf(b, "constraints: NOT known to be kept there (probability %.2g): no setting that was tried is, and this one comes nearest; %s\n",
			p, broken)
	}
}

// pessimisticWords names what the lower bound bounds, in the user's sense.
func pessimisticWords(w *setup.Setup) string {
	return boundWords(w.Spec.Risk, w.Options.Objective.Minimize)
}

// boundWords does so for a risk, NaN where that is not known.
func boundWords(risk float64, minimize bool) string {
	side, sign := "at least", "minus"
	if minimize {
		side, sign = "at most", "plus"
	}
	if risk > 0 {
		return fmt.Sprintf("mean %s %s times the variance of a shot, by the model %s", sign, show.Number(risk), side)
	}
	return "by the model's bound " + side
}

// boundUnit is the unit of the bound: a risk in 1/(the objective's unit) gives it
// the objective's.
func boundUnit(w *setup.Setup) string { return w.Options.Objective.Unit }

// reportStart compares with the starting setting, as far as that is proven.
func reportStart(w *setup.Setup, b io.Writer, f Finale) {
	o, found := &w.Options.Objective, &f.Result.Found
	if math.IsNaN(found.Start.Mean) {
		fmt.Fprintln(b, "starting setting: not known, so there is no comparison with it")
		return
	}
	fmt.Fprintf(b, "starting setting: %s expected by the same model\n", show.Quantity(found.Start.Mean, o.Unit))
	if w.Options.Mode == plan.Shadow {
		fmt.Fprintln(b, "nothing was written, so no gain is claimed")
		return
	}
	sign := 1.0
	if o.Minimize {
		sign = -1
	}
	start := sign * found.Start.Mean
	if w.Spec.Risk > 0 && !math.IsNaN(found.Start.NoiseSD) {
		start -= w.Spec.Risk * found.Start.NoiseSD * found.Start.NoiseSD
	}
	if gain := sign*found.LowerBound - start; gain > 0 {
		fmt.Fprintf(b, "the recommendation's bound is %s better than what is expected of the start\n", show.Quantity(gain, boundUnit(w)))
	} else {
		fmt.Fprintln(b, "the bound does not exceed what is expected of the start: the gain, if any, is not proven")
	}
}

// reportTruth compares with what the simulated plant knows of itself.
func reportTruth(w *setup.Setup, b io.Writer, f Finale) {
	t := f.Truth
	if f.NoTruth != nil {
		fmt.Fprintf(b, "\ntruth: %v\n", f.NoTruth)
	}
	if t == nil {
		return
	}
	o := &w.Options.Objective
	what := o.Name
	if w.Spec.Risk > 0 {
		what += " (mean-variance)"
	}
	var at []string
	for i, v := range w.Options.Variables {
		if x := t.Optimum.X[i]; !math.IsNaN(x) {
			at = append(at, v.Name+" = "+show.Quantity(x, v.Unit))
		}
	}
	if len(w.Spec.Constraints) > 0 {
		what += " within the constraints"
	}
	fmt.Fprintf(b, "\ntruth: the plant's best %s is %s, at %s\n", what, show.Quantity(t.Value, boundUnit(w)), strings.Join(at, ", "))
	switch {
	case !f.Result.HasFound || !math.IsNaN(t.value):
	case t.breaks:
		fmt.Fprintln(b, "truth: the recommended setting breaks a constraint")
	default:
		fmt.Fprintln(b, "truth: at the recommended setting not every shot has a value that can be learnt from")
	}
	if !math.IsNaN(t.Regret) {
		fmt.Fprintf(b, "truth: the recommended setting gives %s: regret %s, %.2g%% of the range of %s\n",
			show.Quantity(t.value, boundUnit(w)), show.Quantity(t.Regret, boundUnit(w)), 100*t.Regret/t.Range, show.Quantity(t.Range, boundUnit(w)))
	}
}

// courseColumns is the width of the course in a report.
const courseColumns = 60

// reportCourse draws the objective over the steps, scaled to what was measured.
func reportCourse(w *setup.Setup, b io.Writer, f Finale) {
	shown := columns(f.Tally.Course.means, courseColumns)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range shown {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if len(shown) < 2 || low > high {
		return
	}
	unit := w.Options.Objective.Unit
	of := ""
	if per := float64(f.Tally.Course.steps()) / float64(len(shown)); per > 1 {
		of = fmt.Sprintf(", each mark the mean of about %s steps", show.Digits(per, 2))
	}
	fmt.Fprintf(b, "\nmeasured, first to last step%s (lowest %s, highest %s):\n  %s\n", of, show.Quantity(low, unit), show.Quantity(high, unit), strings.TrimRight(show.Sparkline(shown, f.Levels), " "))
}

// reportCost says what was paid for what, in the order of first use.
func reportCost(w *setup.Setup, b io.Writer, f Finale) {
	r := &f.Result
	if w.Options.Mode == plan.Shadow || r.Steps == 0 {
		return
	}
	unit := w.Options.Cost.Unit
	fmt.Fprint(b, "\ncost")
	if r.Spent > 0 {
		fmt.Fprintf(b, ": %s", show.Quantity(r.Spent, unit))
	}
	fmt.Fprintln(b, ", by control set in order of first use:")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  first step\tsteps\tcost\tshare\tcontrol set")
	for _, i := range f.Tally.setsByFirstUse() {
		share := "-"
		if r.Spent > 0 {
			share = fmt.Sprintf("%.0f%%", 100*r.SpentBySet[i]/r.Spent)
		}
		fmt.Fprintf(t, "  %d\t%d\t%s\t%s\t%s\n", f.Tally.FirstStep[i], r.PlaysBySet[i],
			show.Quantity(r.SpentBySet[i], unit), share, strings.Join(w.SetNames(i), ", "))
	}
	t.Flush()
}

// reportTrouble tells of failed steps and of what the safety layer changed.
func reportTrouble(w *setup.Setup, b io.Writer, f Finale) {
	fmt.Fprintln(b)
	if t := f.Tally; t.failed > 0 {
		fmt.Fprintf(b, "without valid data: %s, most often because: %s\n", show.Count(t.failed, "step"), t.mainProblem())
	}
	if n := f.Tally.cut; n > 0 {
		fmt.Fprintf(b, "decisions: the deadline of %s cut %d of them: raise deadline in [policy] (tuner check says how far)\n", show.Duration(w.Options.Deadline), n)
	}
	if len(f.Tally.clamped) == 0 {
		fmt.Fprintln(b, "safety: no proposal was changed")
	}
	for _, c := range f.Tally.clamped {
		fmt.Fprintf(b, "safety: rule %s changed %s in %s\n", c.rule, c.variable, show.Count(c.count, "proposal"))
	}
}

// RestLines says where the actuators were left, one line each.
func RestLines(w *setup.Setup, result *loop.Result) []string {
	switch rest := len(result.Rest) > 0; {
	case !rest && w.Options.Mode == plan.Live && result.Left:
		return []string{"actuators: nothing was written to them by this process: they are where the one before it left them; tuner make-safe brings them to their fault states"}
	case !rest:
		return []string{"actuators: nothing was written to them"}
	}
	var lines []string
	for _, r := range result.Rest {
		state := map[plan.RestState]string{plan.RestHold: "left as it is", plan.RestOff: "let go",
			plan.RestSafe: "at its safe value, " + show.Quantity(r.Value, r.Unit)}[r.State]
		if r.Lowered {
			state = fmt.Sprintf("at %s, above which it may be for a time only", show.Quantity(r.Value, r.Unit))
		}
		if r.Dose {
			state = map[plan.RestState]string{plan.RestHold: "left to end what it gives", plan.RestOff: "gives nothing"}[r.State]
		}
		if r.ByDevice {
			state = "not held: its device brings it to its own safe state when tuner lets go of it"
		}
		if r.Err != nil {
			lines = append(lines, fmt.Sprintf("actuator %s: NOT CONFIRMED (%s): %v", r.Variable, state, r.Err))
			continue
		}
		lines = append(lines, fmt.Sprintf("actuator %s: %s", r.Variable, state))
	}
	return lines
}

// nextCommand is what one would type next.
func nextCommand(w *setup.Setup, f Finale, journalPath string) string {
	switch {
	case f.Result.Reason == control.ReasonInterrupted && w.Options.Mode == plan.Live:
		return "tuner run " + w.Config.File + " goes on"
	case f.Result.Steps == 0:
		return "tuner check --probe " + w.Config.File
	case w.Options.Mode == plan.Shadow && f.Err == nil:
		return "tuner run " + w.Config.File
	}
	return "tuner report " + journalPath
}

// Finale is what a session ends with.
type Finale struct {
	Result loop.Result
	// Line is the same as it is recorded and printed.
	Line control.Result
	// Err is what ended the run, nil at a stop condition.
	Err   error
	Truth *truth
	// NoTruth says why it is not known where there is a plant.
	NoTruth error
	Tally   *Tally
	// Levels are those of a sparkline that the terminal can show.
	Levels string
	// Took is the time by this machine's clock.
	Took time.Duration
}
