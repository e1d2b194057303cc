package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

func newSafetyCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "safety",
		Short: "Say what the safety layer does",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplainCommand(e))
	return cmd
}

func newExplainCommand(e *env) *cobra.Command {
	var why, markdown bool
	cmd := &cobra.Command{
		Use:   "explain [CONFIG]",
		Short: "States, rules and transitions; or what they mean for a file",
		Long: `Say what the safety layer does: its states, how it goes from one to another, and
every rule with its reaction and how that is cleared. With a configuration, say what
that means for each actuator and sensor of the file.

With --why each rule says why its default is not smaller or larger, who taught it and
which test shows it.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneFile("at most a configuration file")(cmd, args)
		},
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(_ *cobra.Command, args []string) error {
			t := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			switch {
			case len(args) == 1:
				w, err := loadWiring(args[0], e.executable)
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%s: what the safety layer does\n", w.cfg.File)
				w.checkVariables(t)
				w.checkSafety(t)
			case markdown:
				explainMarkdown(e.stdout)
			default:
				explainStates(t)
				explainRules(t, why)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&why, "why", false, "say why each rule's default is what it is")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the rule table as the documentation has it")
	return cmd
}

// states says what each mode does and how it is left.
var states = []struct {
	mode             safety.Mode
	output, leavesBy string
}{
	{safety.Init, "nothing is written", "every actuator has been read: IDLE"},
	{safety.Idle, "nothing is written", "arm, where every interlock and permissive is healthy: ARMED"},
	{safety.Armed, "nothing is written", "start: RUN; 10 minutes or end: IDLE"},
	{safety.Run, "proposals, filtered", "a cause that holds, or pause: HOLD; one that falls back, or end: FALLBACK"},
	{safety.Hold, "what was acknowledged last, written again for leases", "all causes gone (or acknowledged): RUN; longer than hold_max: FALLBACK"},
	{safety.Fallback, "each actuator's on_fault state under slew (at the end of a run: shutdown)", "resume, when the causes have gone: ARMED"},
	{safety.Tripped, "each actuator's on_fault state at once", "reset, when the cause has gone: IDLE"},
	{safety.Stopped, "each actuator's on_fault state at once", "reset: IDLE"},
}

func explainStates(t *tabwriter.Writer) {
	fmt.Fprint(t, "state\twhat is written\thow it is left\n")
	for _, s := range states {
		fmt.Fprintf(t, "%v\t%s\t%s\n", s.mode, s.output, s.leavesBy)
	}
	fmt.Fprintln(t, "\nA stop leads to STOPPED from every state; a cause that trips leads to TRIPPED from every state that is armed.")
	fmt.Fprint(t, "Both outlive the process. tuner run typed by a person is arm and start.\n")
	fmt.Fprint(t, "This is no certified safety function: wire an emergency stop into the actuators' supply.\n\n")
	t.Flush()
}

func explainRules(t *tabwriter.Writer, why bool) {
	fmt.Fprint(t, "rule\tname\twhat it does\treaction\tcleared\thome\n")
	for _, r := range rulesInOrder() {
		i := safety.About(r)
		fmt.Fprintf(t, "%d\t%s\t%s\t%v\t%v\t%s\n", i.Number, i.Name, i.Does, i.Reaction, cleared(i), i.Home)
		if why {
			fmt.Fprintf(t, "\t\tdefault %s: %s\t\t\t\n\t\tlearnt from %s; shown by %s\t\t\t\n", i.Default, i.Why, i.Precedent, i.Test)
		}
	}
}

// rulesInOrder lists the rules by their numbers; the parts of one follow each other.
func rulesInOrder() (out []safety.Rule) {
	for n := 1; n <= 31; n++ {
		for r := range safety.RuleCount {
			if safety.About(r).Number == n {
				out = append(out, r)
			}
		}
	}
	return out
}

func cleared(i safety.Info) string {
	if i.Reaction == safety.ReactNot {
		return "-"
	}
	return i.Clear.String()
}

func explainMarkdown(out io.Writer) {
	fmt.Fprint(out, "| # | name | what it does | home | default | why not smaller or larger | reaction | cleared | learnt from | test |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rulesInOrder() {
		i := safety.About(r)
		cells := []string{fmt.Sprint(i.Number), i.Name, i.Does, i.Home, i.Default, i.Why, i.Reaction.String(), cleared(i), i.Precedent, i.Test}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}

// checkSafety prints what the safety layer does with this file.
func (w *wiring) checkSafety(t *tabwriter.Writer) {
	if slices.ContainsFunc(w.opt.Variables, func(v plan.Variable) bool { return v.Actuated && !v.Dose }) {
		fmt.Fprint(t, "\nactuator\tsafe value\ton a fault\tat the end\tdwell\tlease\twatched\n")
	}
	for i := range w.opt.Variables {
		v := &w.opt.Variables[i]
		if !v.Actuated || v.Dose {
			continue
		}
		lease := "-"
		if d := v.Limits.Lease; d > 0 {
			lease = fmt.Sprintf("%s, written again every %s", duration(d), duration(d/3))
		}
		dwell := "one tick"
		if v.Limits.Dwell > 0 {
			dwell = duration(v.Limits.Dwell)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, quantity(v.Limits.Safe, v.Unit), v.OnFault, v.Shutdown, dwell, lease, w.watchWords(i))
	}
	w.checkDoses(t)
	w.checkWaits(t)
	fmt.Fprint(t, "\ncondition\trule\treaction\tcleared\n")
	for _, line := range w.conditionLines() {
		i := safety.About(line.rule)
		reaction := i.Reaction
		if line.falls {
			reaction = safety.ReactFall
		}
		fmt.Fprintf(t, "%s\t%d %s\t%v\t%s\n", line.words, i.Number, i.Name, reaction, cleared(i))
	}
	t.Flush()
	fmt.Fprintf(t, "a hold longer than %s becomes a fallback; a stop acts at once\n", duration(w.opt.Safety.HoldMax))
	if w.cfg.MQTT == nil {
		fmt.Fprintln(t, "there is no [mqtt]: nobody can acknowledge, so a hold that asks for it falls back, and a trip ends the run")
	}
	now := time.Now()
	for _, b := range w.cfg.Safety.Bypasses {
		fmt.Fprintln(t, bypassWords(b, now))
	}
	t.Flush()
}

// watchWords says what is watched of one actuator.
func (w *wiring) watchWords(i int) string {
	v := &w.opt.Variables[i]
	var out []string
	if v.Tolerance > 0 {
		out = append(out, "readback")
	}
	if v.Limits.AboveTime > 0 {
		out = append(out, fmt.Sprintf("above %s for %s at most", quantity(v.Limits.Above, v.Unit), duration(v.Limits.AboveTime)))
	}
	for _, d := range w.opt.Safety.Duties {
		if d.Variable == i {
			out = append(out, dutyWords(d, v.Unit))
		}
	}
	for _, d := range w.opt.Safety.Doses {
		if d.Variable == i {
			out = append(out, "dose budget")
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

// dutyWords says how much of the time a variable may be above a value.
func dutyWords(d safety.DutyLimits, unit string) string {
	return fmt.Sprintf("above %s for %s of any %s at most", quantity(d.Above, unit), percent(d.Fraction), duration(d.Window))
}

// conditionLine is one thing that makes the safety layer react.
type conditionLine struct {
	words string
	rule  safety.Rule
	falls bool
}

// conditionLines lists everything that makes it react to this file's instrument.
func (w *wiring) conditionLines() (out []conditionLine) {
	s := &w.opt.Safety
	add := func(rule safety.Rule, format string, args ...any) {
		out = append(out, conditionLine{words: fmt.Sprintf(format, args...), rule: rule})
	}
	for _, c := range s.Interlocks {
		add(safety.RuleInterlock, "%s outside %s or silent", w.opt.Sensors[c.Sensor].Name, interval(c.Low, c.High))
	}
	for _, c := range s.Permissives {
		add(safety.RulePermissive, "%s outside %s or silent at the start", w.opt.Sensors[c.Sensor].Name, interval(c.Low, c.High))
	}
	for i := range w.opt.Sensors {
		w.sensorLines(i, add)
		if n := len(out); s.StaleFalls && n > 0 && out[n-1].rule == safety.RuleStale {
			out[n-1].falls = true
		}
	}
	for i := range w.opt.Variables {
		v := &w.opt.Variables[i]
		if v.Actuated && v.Tolerance > 0 {
			add(safety.RuleReadback, "%s does not come within %s in 4 tries of %s", v.Name, quantity(v.Tolerance, v.Unit), duration(v.Timeout))
			add(safety.RuleOverride, "%s is moved by somebody else", v.Name)
		}
		if v.Limits.AboveTime > 0 {
			add(safety.RuleExposure, "%s above %s for %s", v.Name, quantity(v.Limits.Above, v.Unit), duration(v.Limits.AboveTime))
		}
	}
	for _, d := range s.Duties {
		v := &w.opt.Variables[d.Variable]
		add(safety.RuleExposure, "%s above %s for more than %s of %s", v.Name, quantity(d.Above, v.Unit), percent(d.Fraction), duration(d.Window))
	}
	for _, r := range s.Responses {
		v := &w.opt.Variables[r.Variable]
		change := v.Name + " changes by " + quantity(r.Change, v.Unit)
		if v.Dose {
			change = quantity(r.Change, v.Unit) + " of " + v.Name
		}
		what := "nothing moves"
		if r.Sensor >= 0 {
			what = w.opt.Sensors[r.Sensor].Name + " does not move"
		}
		add(safety.RuleResponse, "%s and %s by %s within %s", change, what, number(r.Moves), duration(r.Within))
	}
	for _, d := range s.Doses {
		add(safety.RuleBudget, "%s over its budget", w.opt.Variables[d.Variable].Name)
		add(safety.RuleUnknownDose, "whether a dose of %s was given is not known", w.opt.Variables[d.Variable].Name)
	}
	if s.Explore > 0 {
		add(safety.RuleExplore, "a step further than %s of the range from what is known to be safe", number(s.Explore))
		add(safety.RuleViolation, "%d steps in a row break a constraint", safety.ViolationsMax)
	}
	add(safety.RuleComms, "a device that is driven is silent for %s", duration(s.Comms))
	o := &w.opt.Outages
	if o.Wait {
		add(safety.RuleInstrument, "a device fails more than %s in %s, or for longer than that", times(o.Retries), duration(o.Window))
		add(safety.RuleInstrument, "%d steps in a row without valid data", w.opt.FailureLimit)
	} else {
		add(safety.RuleInstrument, `a device fails, or %d steps in a row have no valid data (outage = "end": the run ends)`, w.opt.FailureLimit)
		out[len(out)-1].falls = true
	}
	if o.MinFree > 0 {
		add(safety.RuleRecord, "less than %s MB are free for the journal (a warning at twice that), or it cannot be written", number(float64(o.MinFree)/1e6))
	} else {
		add(safety.RuleRecord, "the journal cannot be written (free space is not looked at)")
	}
	add(safety.RulePolicy, "the policy fails, or is late by 10s, three times in a row")
	return out
}

// times says how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// sensorLines lists what makes it react to one sensor; silence comes last.
func (w *wiring) sensorLines(i int, add func(safety.Rule, string, ...any)) {
	v := &w.opt.Sensors[i]
	if v.Limits.Rate > 0 {
		add(safety.RuleSpike, "3 of 5 readings of %s change faster than %s per s", v.Name, quantity(v.Limits.Rate, v.Unit))
	}
	if v.Limits.Stuck > 0 {
		add(safety.RuleStuck, "%s repeats itself %d times while an actuator moves", v.Name, v.Limits.Stuck)
	}
	if v.Limits.Tolerance > 0 {
		add(safety.RuleDisagree, "%s and %s differ by more than %s for %s", v.Name, w.opt.Sensors[v.Limits.With].Name,
			quantity(v.Limits.Tolerance, v.Unit), duration(v.Limits.AgreeTime))
	}
	if !plan.Watched(&w.opt, i) {
		return
	}
	add(safety.RuleRange, "3 readings in a row of %s outside %s", v.Name, interval(v.Low, v.High))
	add(safety.RuleStale, "%s silent for %s", v.Name, duration(max(v.MaxAge, 3*w.opt.Tick)))
}
