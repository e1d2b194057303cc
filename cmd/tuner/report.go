package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// writeReport tells in words what came of a session.
func (w *wiring) writeReport(out io.Writer, f finale, journalPath string) error {
	b := bufio.NewWriter(out)
	w.reportHead(b, f)
	w.reportFound(b, f)
	w.reportTruth(b, f)
	w.reportCourse(b, f)
	w.reportCost(b, f)
	w.reportTrouble(b, f)
	if w.opt.Mode != plan.Simulate {
		for _, line := range w.restLines(&f.result) {
			fmt.Fprintln(b, line)
		}
	}
	fmt.Fprintf(b, "journal: %s\n", journalPath)
	fmt.Fprintf(b, "next: %s\n", w.nextCommand(f, journalPath))
	return b.Flush()
}

// reportHead says what was done and why it ended.
func (w *wiring) reportHead(b io.Writer, f finale) {
	r := &f.result
	how := control.Endings()[r.Reason]
	if how == "" {
		how = "it did not begin"
	}
	elapsed := duration(r.Elapsed)
	if w.opt.Mode == plan.Simulate {
		elapsed = fmt.Sprintf("%s of simulated time, %s here", elapsed, duration(f.took))
	}
	fmt.Fprintf(b, "%s: %s by %s over %s in %s; %s\n", w.cfg.Name, modeWords(string(w.opt.Mode)),
		w.cfg.Policy.Kind, count(r.Steps, "step"), elapsed, how)
}

// reportFound describes the recommendation against the starting setting.
func (w *wiring) reportFound(b io.Writer, f finale) {
	r := &f.result
	if !r.HasFound {
		fmt.Fprintln(b, "\nno recommendation: no step gave valid data")
		return
	}
	o := &w.opt.Objective
	found := &r.Found
	fmt.Fprintln(b, "\nrecommended setting, the best that the model can defend:")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, v := range w.opt.Variables {
		value := "left alone, only measured"
		if !math.IsNaN(found.X[i]) {
			value = quantity(found.X[i], v.Unit)
		} else if v.Actuated {
			value = map[plan.ReleaseKind]string{plan.Release: "let go", plan.Park: "parked at " + quantity(v.Limits.Safe, v.Unit),
				plan.Hold: "held where it is"}[v.OnRelease]
		}
		fmt.Fprintf(t, "  %s\t%s\n", v.Name, value)
	}
	t.Flush()
	fmt.Fprintf(b, "\n%s there: %s expected", o.Name, quantity(found.Mean, o.Unit))
	if !math.IsNaN(found.NoiseSD) {
		fmt.Fprintf(b, ", one shot scatters by %s (sd, by the model)", quantity(found.NoiseSD, o.Unit))
	}
	fmt.Fprintln(b)
	fmt.Fprintf(b, "%s: %s\n", w.boundWords(), quantity(found.LowerBound, w.boundUnit()))
	w.reportConstraints(b, r)
	w.reportStart(b, f)
	w.reportVerification(b, r)
}

// reportConstraints says how the constraints were kept, and will be.
func (w *wiring) reportConstraints(b io.Writer, r *loop.Result) {
	if len(w.spec.Constraints) == 0 {
		return
	}
	broken := "no step broke a constraint"
	if r.Broken > 0 {
		broken = count(r.Broken, "step") + " broke a constraint"
	}
	switch found := &r.Found; {
	case math.IsNaN(found.Feasibility):
		fmt.Fprintln(b, "constraints: a sensor gave too few readings to learn from, so nothing is known of them")
	case found.Feasible:
		fmt.Fprintf(b, "constraints: kept there with a probability of %.3g or more; %s\n", min(math.Floor(1000*found.Feasibility)/1000, 0.999), broken)
	default:
		fmt.Fprintf(b, "constraints: NOT known to be kept there (probability %.2g): no setting that was tried is, and this one comes nearest; %s\n",
			found.Feasibility, broken)
	}
}

// boundWords names what the lower bound bounds, in the user's sense.
func (w *wiring) boundWords() string {
	side, sign := "at least", "minus"
	if w.opt.Objective.Minimize {
		side, sign = "at most", "plus"
	}
	if w.spec.Risk > 0 {
		return fmt.Sprintf("mean %s %s times the variance of a shot, by the model %s", sign, number(w.spec.Risk), side)
	}
	return "by the model's bound " + side
}

// boundUnit is the unit of the bound: a risk in 1/(the objective's unit) gives it
// the objective's.
func (w *wiring) boundUnit() string { return w.opt.Objective.Unit }

// reportStart compares with the starting setting, as far as that can be defended.
func (w *wiring) reportStart(b io.Writer, f finale) {
	o, found := &w.opt.Objective, &f.result.Found
	if math.IsNaN(found.Start.Mean) {
		fmt.Fprintln(b, "starting setting: not known, so there is no comparison with it")
		return
	}
	fmt.Fprintf(b, "starting setting: %s expected by the same model\n", quantity(found.Start.Mean, o.Unit))
	if w.opt.Mode == plan.Shadow {
		fmt.Fprintln(b, "nothing was written, so no gain is claimed")
		return
	}
	sign := 1.0
	if o.Minimize {
		sign = -1
	}
	start := sign * found.Start.Mean
	if w.spec.Risk > 0 && !math.IsNaN(found.Start.NoiseSD) {
		start -= w.spec.Risk * found.Start.NoiseSD * found.Start.NoiseSD
	}
	if gain := sign*found.LowerBound - start; gain > 0 {
		fmt.Fprintf(b, "the recommendation's bound is %s better than what is expected of the start\n", quantity(gain, w.boundUnit()))
	} else {
		fmt.Fprintln(b, "the bound does not exceed what is expected of the start: the gain, if any, is not proven")
	}
}

// reportTruth compares with what the simulated plant knows of itself.
func (w *wiring) reportTruth(b io.Writer, f finale) {
	t := f.truth
	if t == nil {
		return
	}
	o := &w.opt.Objective
	what := o.Name
	if w.spec.Risk > 0 {
		what += " (mean-variance)"
	}
	var at []string
	for i, v := range w.opt.Variables {
		if x := t.Optimum.X[i]; !math.IsNaN(x) {
			at = append(at, v.Name+" = "+quantity(x, v.Unit))
		}
	}
	if len(w.spec.Constraints) > 0 {
		what += " within the constraints"
	}
	fmt.Fprintf(b, "\ntruth: the plant's best %s is %s, at %s\n", what, quantity(t.Value, w.boundUnit()), strings.Join(at, ", "))
	if math.IsNaN(t.value) && len(w.spec.Constraints) > 0 && f.result.HasFound {
		fmt.Fprintln(b, "truth: the recommended setting breaks a constraint")
	}
	if !math.IsNaN(t.regret) {
		fmt.Fprintf(b, "truth: the recommended setting gives %s: regret %s, %.2g%% of the range of %s\n",
			quantity(t.value, w.boundUnit()), quantity(t.regret, w.boundUnit()), 100*t.regret/t.Range, quantity(t.Range, w.boundUnit()))
	}
}

// courseColumns is the width of the course in a report.
const courseColumns = 60

// reportCourse draws the objective over the steps, scaled to what was measured.
func (w *wiring) reportCourse(b io.Writer, f finale) {
	shown := columns(f.tally.course.means, courseColumns)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range shown {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if len(shown) < 2 || low > high {
		return
	}
	unit := w.opt.Objective.Unit
	fmt.Fprintf(b, "\nmeasured, first to last step (%s to %s):\n  %s\n", quantity(low, unit), quantity(high, unit), strings.TrimRight(sparkline(shown, f.levels), " "))
}

// reportCost says what was paid for what, in the order of first use.
func (w *wiring) reportCost(b io.Writer, f finale) {
	r := &f.result
	if w.opt.Mode == plan.Shadow || r.Steps == 0 {
		return
	}
	unit := w.opt.Cost.Unit
	fmt.Fprint(b, "\ncost")
	if r.Spent > 0 {
		fmt.Fprintf(b, ": %s", quantity(r.Spent, unit))
	}
	fmt.Fprintln(b, ", by control set in order of first use:")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  first step\tsteps\tcost\tshare\tcontrol set")
	for _, i := range f.tally.setsByFirstUse() {
		share := "-"
		if r.Spent > 0 {
			share = fmt.Sprintf("%.0f%%", 100*r.SpentBySet[i]/r.Spent)
		}
		fmt.Fprintf(t, "  %d\t%d\t%s\t%s\t%s\n", f.tally.firstStep[i], r.PlaysBySet[i],
			quantity(r.SpentBySet[i], unit), share, strings.Join(w.setNames(i), ", "))
	}
	t.Flush()
}

// reportTrouble tells of failed steps and of what the safety layer changed.
func (w *wiring) reportTrouble(b io.Writer, f finale) {
	fmt.Fprintln(b)
	if t := f.tally; t.failed > 0 {
		fmt.Fprintf(b, "without valid data: %s, most often because: %s\n", count(t.failed, "step"), t.mainProblem())
	}
	if len(f.tally.clamped) == 0 {
		fmt.Fprintln(b, "safety: no proposal was changed")
	}
	for _, c := range f.tally.clamped {
		fmt.Fprintf(b, "safety: rule %s changed %s in %s\n", c.rule, c.variable, count(c.count, "proposal"))
	}
}

// restLines says where the actuators were left, one line each.
func (w *wiring) restLines(result *loop.Result) []string {
	switch rest := len(result.Rest) > 0; {
	case !rest && w.opt.Mode == plan.Live && result.Steps > 0: // a session before did
		return []string{"actuators: nothing was written to them by this process: they are where the one before it left them; tuner make-safe brings them to their fault states"}
	case !rest:
		return []string{"actuators: nothing was written to them"}
	}
	var lines []string
	for _, r := range result.Rest {
		state := map[plan.RestState]string{plan.RestHold: "left as it is", plan.RestOff: "let go",
			plan.RestSafe: "at its safe value, " + quantity(r.Value, r.Unit)}[r.State]
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
func (w *wiring) nextCommand(f finale, journalPath string) string {
	switch {
	case f.result.Steps == 0:
		return "tuner check --probe " + w.cfg.File
	case w.opt.Mode == plan.Shadow && f.err == nil:
		return "tuner run " + w.cfg.File
	}
	return "tuner report " + journalPath
}
