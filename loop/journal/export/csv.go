package export

import (
	"encoding/csv"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// writeCSV writes a header and a row for each record.
func writeCSV[T any](w io.Writer, columns []column[T], records iter.Seq2[T, error]) error {
	out := csv.NewWriter(w)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for record, err := range records {
		if err != nil {
			out.Flush() // what comes before the damage is sound
			return err
		}
		for i, c := range columns {
			row[i] = c.value(record).text()
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// exportCSV writes one row per step.
func exportCSV(w io.Writer, r *journal.Reader) error {
	steps, err := exportedSteps(r)
	if err != nil {
		return err
	}
	return writeCSV(w, stepColumns(r.Run()), steps)
}

// exportedSteps gives the steps of a run, each with what else its row needs.
func exportedSteps(r *journal.Reader) (iter.Seq2[exported, error], error) {
	sessions, err := r.Sessions()
	if err != nil {
		return nil, err
	}
	struck, err := r.Struck()
	if err != nil {
		return nil, err
	}
	return func(yield func(exported, error) bool) {
		for s, err := range r.Steps() {
			if !yield(exported{s, sessions, struck}, err) {
				return
			}
		}
	}, nil
}

// exported is a step with what else its row needs.
type exported struct {
	journal.Step
	sessions []journal.Session
	struck   map[int]journal.Struck
}

// at is when the step ended, or was decided if it has not ended.
func (e exported) at() journal.Stamp {
	if e.Concluded {
		return e.Outcome.At
	}
	return e.Decision.At
}

// elapsed is the time since the run began: from session to session by the wall
// clock, within one by the monotonic clock. ok is false where it is not known.
func (e exported) elapsed() (d time.Duration, ok bool) {
	if e.Session < 1 || e.Session > len(e.sessions) { // it began after the list was read
		return 0, false
	}
	first, mine := e.sessions[0].Start, e.sessions[e.Session-1].Start
	return mine.Wall.Sub(first.Wall) + e.at().Mono - mine.Mono, true
}

// stepColumns lists the columns in order. An empty cell is no data.
func stepColumns(run journal.Run) []column[exported] {
	objective := run.Objective.Unit
	columns := []column[exported]{
		{"n", "1", "the step's number, from 1", func(e exported) cell { return whole(e.Decision.Step) }},
		{"control_set", "", "the variables that the step controlled, joined by +", func(e exported) cell {
			return text(strings.Join(control.Controlled(run, e.Decision), "+"))
		}},
	}
	for _, group := range []struct {
		prefix, meaning string
		vector          func(exported) []float64
	}{
		{"requested_", "what the policy wanted; empty where the variable was random", func(e exported) []float64 { return e.Decision.Requested }},
		{"applied_", "what the safety layer made of it; empty where the variable was random", func(e exported) []float64 { return e.Decision.Applied }},
		{"x_", "the variable as achieved, or as measured where it was random", func(e exported) []float64 { return e.Outcome.X }},
	} {
		for i, v := range run.Variables {
			columns = append(columns, column[exported]{group.prefix + v.Name, v.Unit, group.meaning,
				func(e exported) cell { return number(at(group.vector(e), i)) }})
		}
	}
	return append(columns,
		column[exported]{"mean", objective, "the objective of the step: its statistic over the shots, by default the mean", func(e exported) cell { return number(e.Outcome.Mean) }},
		column[exported]{"variance", Squared(objective), "unbiased variance of a single shot; empty at one shot", func(e exported) cell { return number(e.Outcome.Variance) }},
		column[exported]{"standard_error", objective, "standard error of the column mean, from the same shots; empty at one shot", func(e exported) cell { return number(e.Outcome.StandardError) }},
		column[exported]{"shots", "1", "shots behind mean and variance", func(e exported) cell { return whole(e.Outcome.Shots) }},
		column[exported]{"cost", run.CostUnit, "cost of the step", func(e exported) cell { return number(e.Outcome.Cost) }},
		column[exported]{"spent", run.CostUnit, "cost of the run up to and with this step", func(e exported) cell { return number(e.Outcome.Spent) }},
		column[exported]{"valid", "", "false where the step failed", func(e exported) cell { return truth(e.Outcome.Valid) }},
		column[exported]{"clamped", "", "the variables that a safety rule changed, joined by +", func(e exported) cell {
			return text(strings.Join(control.Clamped(run, e.Decision), "+"))
		}},
		column[exported]{"decision_ms", "ms", "how long the decision took", func(e exported) cell { return number(float64(e.Decision.Took) / 1e6) }},
		column[exported]{"work", "1", "work units that the decision used", func(e exported) cell { return whole(e.Decision.Work) }},
		column[exported]{"problem", "", "why the step is not valid; unfinished where it has not ended", func(e exported) cell { return text(e.Outcome.Problem) }},
		column[exported]{"time", "", "when the step ended, or was decided if it has not: wall clock, UTC, RFC 3339", func(e exported) cell {
			return instant(e.at().Wall, "2006-01-02T15:04:05.000Z")
		}},
		column[exported]{"elapsed_s", "s", "the same instant since the run began; from resume to resume by the wall clock, within by the monotonic clock", func(e exported) cell {
			d, ok := e.elapsed()
			if !ok {
				return number(math.NaN())
			}
			return number(d.Seconds())
		}},
		column[exported]{"verified", "", "the setting that the step re-measured, recommended or start; empty where the policy decided", func(e exported) cell {
			return text(string(e.Decision.Compared.Side))
		}},
		column[exported]{"by", "", "person where a person has decided the step; empty where the policy has", func(e exported) cell {
			by, _ := e.Decision.Person()
			return text(by.Origin)
		}},
		column[exported]{"struck", "", "who has struck the step, which the model then does not know of, and why; empty where it counts", func(e exported) cell {
			if by, ok := e.struck[e.Decision.Step]; ok {
				return text(by.String())
			}
			return text("")
		}},
		column[exported]{"reason", "", "why the setting was decided, by what was known then", func(e exported) cell { return text(control.Because(&e.Decision)) }},
		column[exported]{"cut", "", "true where the deadline has cut the decision's search", func(e exported) cell { return truth(e.Decision.Cut) }},
	)
}

// decimal writes the shortest decimal that reads back as x, nothing for NaN.
func decimal(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Squared is the unit of a variance.
func Squared(unit string) string {
	switch {
	case unit == "" || unit == "1":
		return unit
	case strings.ContainsAny(unit, " */^"):
		return "(" + unit + ")^2"
	}
	return unit + "^2"
}
