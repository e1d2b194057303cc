package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/loop/control"
)

// editing is a command that changes what decisions go by while a run goes on.
type editing struct {
	name, args, short, long string
	// read takes the words behind the run into e.
	read func(words []string, e *control.Edit) error
	// named says that the words begin with names of variables, records that a journal may stand in
	// place of a run.
	named, records bool
	// isWord says that an argument is one of those words and names no run.
	isWord func(arg string) bool
}

// names are what a run is named by.
func (x editing) names() string {
	if x.records {
		return "CONFIG|NAME|JOURNAL"
	}
	return "CONFIG|NAME"
}

// editings are those commands.
var editings = []editing{
	{control.CommandStrike, "[STEP,STEP...]", "Strike steps of a running tuner", `The model forgets the struck steps from the next decision on; what they cost stays
paid. The record keeps them, with who struck them and why, and report and export show them
as struck. A step that is not over, not there or struck already is refused.

Instead of a run, you may name a journal that no run is writing, finished or not: tuner best,
report, export, a warm start and a run that goes on then leave these steps out.`, readSteps, false, true, isSteps},
	{control.CommandUnstrike, "STEP[,STEP...]", "Reinstate struck steps of a running tuner", `The model learns from them again, as if they had never been struck.`, readSteps, false, true, isSteps},
	{control.CommandNarrow, "NAME=LOW:HIGH...", "Narrow the range of a variable of a running tuner", `Decisions keep to the new range, which must lie inside the present one. A step under way keeps
its destination. What was measured outside stays in the model.`, readRanges, true, false, isPair},
	{control.CommandWiden, "NAME=LOW:HIGH...", "Widen the range of a variable of a running tuner", `Decisions keep to the new range, which must hold all of the present one and lie within the hard
limits: those change only in the file.`, readRanges, true, false, isPair},
	{control.CommandFreeze, "NAME=VALUE...", "Keep a variable of a running tuner at a value", `The variable goes to the value with the next step, by the safety layer as any setpoint does, and
is kept there: no decision varies it, and a step whose control set leaves it alone keeps it
there all the same. The value must lie inside the variable's range.`, readValues, true, false, isPair},
	{control.CommandFree, "NAME...", "Tune a frozen variable of a running tuner again", "It is varied again, within its range. One argument alone is a variable.", readNames, true, false, nil},
	{control.CommandChange, "KEY=VALUE...", "Change costs, risk and stop conditions of a running tuner", `What is written stands in place of what the file says, until another change or until the file
itself says otherwise at a start or a reload. A value is written as in the file; an empty one
leaves the key out. These keys change: ` + "KEYS" + `.`, readKeys, false, false, isPair},
}

// isPair reports whether an argument is NAME=VALUE.
func isPair(arg string) bool { return strings.Contains(arg, "=") }

// isSteps reports whether an argument is a list of steps, such as 41,57 or 41-57.
func isSteps(arg string) bool { return arg != "" && strings.Trim(arg, "0123456789,-") == "" }

// runAndWords parts what names the run, "" for the only one of this computer, from the words
// that follow it. Where isWord is nil an argument alone is a word.
func runAndWords(args []string, isWord func(arg string) bool) (run string, words []string) {
	switch {
	case len(args) == 0, isWord == nil && len(args) == 1, isWord != nil && isWord(args[0]):
		return "", args
	}
	return args[0], args[1:]
}

// newEditCommands returns strike, unstrike, narrow, widen, freeze, free and change.
func newEditCommands(e *host.Env) (list []*cobra.Command) {
	for _, x := range editings {
		list = append(list, newEditCommand(e, x))
	}
	return list
}

func newEditCommand(e *host.Env, x editing) *cobra.Command {
	q := ask.Question{Env: e, Command: x.name}
	var edit control.Edit
	long := x.long
	if x.name == control.CommandChange {
		long = strings.Replace(long, "KEYS", wrap(strings.Join(session.ChangeableKeys(), ", "), len("leaves the key out. These keys change: ")), 1)
	}
	cmd := &cobra.Command{
		Use: x.name + " [" + x.names() + "] " + x.args, Short: x.short,
		Long: long + `

It is recorded, takes effect with the next decision, for which the policy is rebuilt from
the record, and outlives the process: a resume and a replay do the same at the same step.` + askWords,
		ValidArgsFunction: completeEdit(e, x.named),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, words := runAndWords(args, x.isWord)
			err := x.read(words, &edit)
			if nothing := len(words) == 0 && edit.Saturated == ""; err == nil && nothing {
				err = fmt.Errorf("say what: %s", x.args)
			}
			if err != nil {
				return fault.Usage(fault.WithHint(err, "tuner "+cmd.Use))
			}
			q.Edit = &edit
			if x.records && isJournal(run) {
				return q.OfRecord(run)
			}
			if err := q.Find(cmd.Context(), run); err != nil {
				return err
			}
			return q.Ask(cmd.Context())
		},
	}
	askFlags(&q, cmd)
	cmd.Flags().StringVar(&q.Reason, "reason", "", "why, for the record")
	if x.name == control.CommandStrike {
		cmd.Flags().StringVar(&edit.Saturated, "sensor-saturated", "", "strike every step in which this sensor was at an end of its range")
	}
	return cmd
}

// completeEdit completes a run and then, where they are named, its variables.
func completeEdit(e *host.Env, named bool) cobra.CompletionFunc {
	runs := completeRuns(e)
	return func(cmd *cobra.Command, args []string, begun string) (out []string, d cobra.ShellCompDirective) {
		if len(args) == 0 || !named {
			return runs(cmd, args, begun)
		}
		for _, name := range ask.Variables(cmd.Context(), e, args[0]) {
			if strings.HasPrefix(name, begun) {
				out = append(out, name)
			}
		}
		d = cobra.ShellCompDirectiveNoFileComp
		if !strings.HasPrefix(cmd.Use, control.CommandFree+" ") {
			d |= cobra.ShellCompDirectiveNoSpace // a value follows
		}
		return out, d
	}
}

// wrap breaks words into lines that fit a terminal, the first after so many characters.
func wrap(text string, at int) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		if at += len(word) + 1; at > 95 {
			b.WriteByte('\n')
			at = len(word)
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// listOf splits words at commas.
func listOf(words []string) []string {
	return strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// pairsOf reads NAME=VALUE, each name once.
func pairsOf(words []string, take func(name, value string) error) error {
	var seen []string
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" || slices.Contains(seen, name) {
			return fmt.Errorf("%q is to be NAME=VALUE, each name once", word)
		}
		seen = append(seen, name)
		if err := take(name, value); err != nil {
			return err
		}
	}
	return nil
}

// stepsMost bounds a list of steps.
const stepsMost = 10_000

// readSteps reads 41,57 and 41-57.
func readSteps(words []string, e *control.Edit) error {
	if len(words) > 0 && e.Saturated != "" {
		return fmt.Errorf("name steps or --sensor-saturated, not both")
	}
	for _, word := range listOf(words) {
		from, to, span := strings.Cut(word, "-")
		if !span {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 1 || b < a || b-a >= stepsMost {
			return fmt.Errorf("%q is to be a step, counted from 1, or two with - between them", word)
		}
		for n := a; n <= b; n++ {
			e.Steps = append(e.Steps, n)
		}
	}
	return nil
}

func readRanges(words []string, e *control.Edit) error {
	e.Ranges = map[string][2]float64{}
	return pairsOf(listOf(words), func(name, value string) (err error) {
		low, high, ok := strings.Cut(value, ":")
		var r [2]float64
		if r[0], err = number(name, low); err == nil {
			r[1], err = number(name, high)
		}
		if e.Ranges[name] = r; !ok || err != nil {
			return fmt.Errorf("%s=%s is to be NAME=LOW:HIGH, two numbers", name, value)
		}
		return nil
	})
}

func readValues(words []string, e *control.Edit) error {
	e.Values = map[string]float64{}
	return pairsOf(listOf(words), func(name, value string) (err error) {
		e.Values[name], err = number(name, value)
		return err
	})
}

func readNames(words []string, e *control.Edit) error {
	e.Variables = listOf(words)
	return nil
}

func readKeys(words []string, e *control.Edit) error {
	e.Set = map[string]string{}
	return pairsOf(words, func(key, value string) error {
		e.Set[key] = value
		return nil
	})
}
