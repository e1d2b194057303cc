package describe

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/labtuner/tuner/safety"
)

// States says what each mode does and how it is left.
var States = []struct {
	Mode             safety.Mode
	Output, LeavesBy string
}{
	{safety.Init, "nothing is written", "every actuator has been read: IDLE"},
	{safety.Idle, "nothing is written", "arm, where every interlock and permissive is healthy: ARMED"},
	{safety.Armed, "nothing is written", "start: RUN; 10 minutes or end: IDLE"},
	{safety.Run, "proposals, filtered", "a cause that holds, or pause: HOLD; one that falls back, or end: FALLBACK"},
	{safety.Hold, "what was acknowledged last, written again for leases", "all causes gone (or acknowledged): RUN; longer than hold_max: FALLBACK"},
	{safety.Fallback, "each actuator's on_fault state under slew (at the end of a run: shutdown)", "resume, when the causes have gone: ARMED"},
	{safety.Tripped, "each actuator's on_fault state at once", "reset, when the cause has gone: IDLE"},
	{safety.Stopped, "each actuator's safe value at once", "reset: IDLE"},
}

func StatesText(t *tabwriter.Writer) {
	fmt.Fprint(t, "state\twhat is written\thow it is left\n")
	for _, s := range States {
		fmt.Fprintf(t, "%v\t%s\t%s\n", s.Mode, s.Output, s.LeavesBy)
	}
	fmt.Fprintln(t, "\nA stop leads to STOPPED from every state; a cause that trips leads to TRIPPED from every state that is armed.")
	fmt.Fprint(t, "Both outlive the process. tuner run typed on a terminal arms and starts.\n")
	fmt.Fprint(t, "This is no certified safety function: wire an emergency stop into the actuators' supply.\n\n")
	t.Flush()
}

func Rules(t *tabwriter.Writer, why bool) {
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

func RulesMarkdown(out io.Writer) {
	fmt.Fprint(out, "| # | name | what it does | home | default | why not smaller or larger | reaction | cleared | learnt from | test |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rulesInOrder() {
		i := safety.About(r)
		cells := []string{fmt.Sprint(i.Number), i.Name, i.Does, i.Home, i.Default, i.Why, i.Reaction.String(), cleared(i), i.Precedent, i.Test}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}
