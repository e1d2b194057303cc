package commands

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// tryRows is how many settings of a file are sent at most.
const tryRows = 200

func newTryCommand(e *host.Env) *cobra.Command {
	q := ask.Question{Env: e, Command: control.CommandTry}
	var try control.Try
	var file string
	cmd := &cobra.Command{
		Use: "try [CONFIG|NAME] [NAME=VALUE[,NAME=VALUE...]]", Short: "Have a running tuner measure a setting of your own",
		Long: `The setting is measured as the next step of the run. The policy learns from it as from any
other, it counts in [stop], and it costs what the cheapest control set costs that holds
what is named. Nothing is adjusted: a value outside its range is refused. Variables of the
control set that are not named take the recommended setting's values, or stay where they
are with --rest present.` + askWords,
		Args: cobra.MaximumNArgs(1 + tryRows), ValidArgsFunction: completeRuns(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, words := runAndWords(args, isPair)
			settings, err := settingsOf(words, file)
			if err != nil {
				return fault.Usage(err)
			}
			if err := q.Find(cmd.Context(), run); err != nil {
				return err
			}
			return tryAll(cmd.Context(), &q, try, settings)
		},
	}
	askFlags(&q, cmd)
	cmd.Flags().StringVar(&q.Reason, "reason", "", "why, for the record")
	cmd.Flags().StringVar(&try.Rest, "rest", "", `what variables that are not named do: "recommended" (default) or "present"`)
	cmd.Flags().IntVar(&try.Shots, "shots", 0, "shots a step (default as in the file)")
	cmd.Flags().IntVar(&try.Times, "times", 0, "in how many steps it is measured (default 1)")
	cmd.Flags().StringVar(&file, "csv", "", "settings from a CSV table, a column a variable and a row a step")
	return cmd
}

// tryAll asks for one setting after the other.
func tryAll(ctx context.Context, q *ask.Question, try control.Try, settings []map[string]float64) error {
	for i, values := range settings {
		t := try
		t.Values = values
		q.Try = &t
		if err := q.Ask(ctx); err != nil {
			if i > 0 {
				return fmt.Errorf("setting %d of %d, the ones before it are taken: %w", i+1, len(settings), err)
			}
			return err
		}
	}
	return nil
}

// settingsOf are the settings of a command line: the one of its words, and those of a file.
func settingsOf(words []string, file string) (all []map[string]float64, err error) {
	if len(words) > 0 {
		one := map[string]float64{}
		for _, pair := range strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' }) {
			name, text, ok := strings.Cut(pair, "=")
			if _, twice := one[name]; !ok || twice {
				return nil, fmt.Errorf("%q is to be NAME=VALUE, each name once", pair)
			}
			if one[name], err = number(name, text); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	if file != "" {
		rows, err := settingsOfFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("name a setting, as in x=1.2,y=3, or a table with --csv")
	case len(all) > tryRows:
		return nil, fmt.Errorf("%d settings; at most %d at once", len(all), tryRows)
	}
	return all, nil
}

// settingsOfFile are the settings of a CSV table.
func settingsOfFile(file string) (all []map[string]float64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if all, err = settingsIn(f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

// settingsIn are the rows of a table whose first line names variables; an empty cell names
// none.
func settingsIn(r io.Reader) (all []map[string]float64, err error) {
	table := csv.NewReader(r)
	table.TrimLeadingSpace = true
	names, err := table.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line is to name variables: %w", err)
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff") // a spreadsheet's mark
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" || slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("line 1: column %d is named %q; each is to name another variable", i+1, names[i])
		}
	}
	for {
		row, err := table.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		one := map[string]float64{}
		for i, text := range row {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if one[names[i]], err = number(names[i], text); err != nil {
				line, _ := table.FieldPos(i)
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		if len(one) == 0 {
			line, _ := table.FieldPos(0)
			return nil, fmt.Errorf("line %d names no value", line)
		}
		if all = append(all, one); len(all) > tryRows {
			return nil, fmt.Errorf("more than %d settings; at most so many at once", tryRows)
		}
	}
}

// firstTries are the settings that a run is to measure first, from a CSV table.
func firstTries(begin *session.Start, file string) error {
	if file == "" {
		return nil
	}
	if begin.Setup.Options.Mode == plan.Shadow {
		return fault.Usage(errors.New("--try: a dry run drives nothing, so nothing can be tried"))
	}
	rows, err := settingsOfFile(file)
	if err != nil {
		return fault.Usage(fmt.Errorf("--try: %w", err))
	}
	begin.Tried = file
	for _, values := range rows {
		begin.Tries = append(begin.Tries, control.Try{Values: values})
	}
	if err := session.CheckTries(begin); err != nil {
		return fault.Usage(fmt.Errorf("--try: %w", err))
	}
	return nil
}

func number(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		return 0, fmt.Errorf("%s = %q is to be a number", name, text)
	}
	return v, nil
}
