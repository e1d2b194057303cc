package outcome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
	"github.com/labtuner/tuner/loop/web/plots"
)

// ComparedMost is how many runs are compared at once: more columns are wider than a page.
const ComparedMost = 7

// compared is a run among others.
type compared struct {
	label  string
	source plots.Source
	run    *web.RunPart
	result *control.Result // nil before the end
	config map[string]string
	keys   []string
}

// ErrNotComparable: runs have no axis in common.
var ErrNotComparable = errors.New("these runs cannot be compared")

// Compare sets runs beside each other; paths are those of their journals.
//
// Errors: [ErrNotComparable], and what reading the journals gives.
func Compare(ctx context.Context, runs []*Recorded, paths []string) (*web.Comparison, error) {
	labels := labelsOf(paths)
	all := make([]compared, len(runs))
	for i, r := range runs {
		if err := refuseOddRun(runs, i, paths); err != nil {
			return nil, err
		}
		s, err := r.Figures(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[i], err)
		}
		all[i] = compared{label: labels[i], source: s, run: &s.Document.Run, config: map[string]string{}}
		if s.Document.Result != nil {
			all[i].result = &control.Result{}
			if err := json.Unmarshal(s.Document.Result, all[i].result); err != nil {
				return nil, fmt.Errorf("%s: the recorded result: %w", paths[i], err)
			}
		}
		for _, key := range r.Setup.Config.Effective() {
			all[i].keys = append(all[i].keys, key.Key)
			all[i].config[key.Key] = key.Value
		}
	}
	first := all[0].run
	sense := "maximised"
	if first.Minimize {
		sense = "minimised"
	}
	out := &web.Comparison{Title: strings.Join(labels, ", ") + ": compared", Objective: fmt.Sprintf("%s, %s; %s", show.WithUnit(first.Objective, first.Unit), sense, show.Count(len(all), "run")), Remarks: remarks(all)}
	glance := glanceTable(all)
	var err error
	if glance.Figures, err = comparedFigures(all, labels); err != nil {
		return nil, err
	}
	out.Tables = []web.ComparedTable{glance, settingsTable(all), configTable(all)}
	return out, nil
}

// refuseOddRun refuses run i where it has no axis in common with the first, or was named before.
func refuseOddRun(runs []*Recorded, i int, paths []string) error {
	a, b := runs[0].Reader.Run(), runs[i].Reader.Run()
	words := map[bool]string{true: "minimises", false: "maximises"}
	switch {
	case a.Objective.Unit != b.Objective.Unit:
		return fmt.Errorf("%w: the objective of %s is in %s, that of %s in %s", ErrNotComparable, paths[0], unitWord(a.Objective.Unit), paths[i], unitWord(b.Objective.Unit))
	case a.Minimize != b.Minimize:
		return fmt.Errorf("%w: %s %s its objective, %s %s it", ErrNotComparable, paths[0], words[a.Minimize], paths[i], words[b.Minimize])
	}
	for k := range i {
		if runs[k].Reader.Run().ID == b.ID {
			return fmt.Errorf("%w: %s and %s hold the same run", ErrNotComparable, paths[k], paths[i])
		}
	}
	return nil
}

func unitWord(unit string) string {
	if unit == "" {
		return "no unit"
	}
	return unit
}

// labelsOf are the names of journals without folder and ending, where those differ.
func labelsOf(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = strings.TrimSuffix(filepath.Base(p), filepath.Ext(p))
	}
	for i := range out {
		if slices.Index(out, out[i]) != i {
			return slices.Clone(paths)
		}
	}
	return out
}

// remarks say what makes runs hard to compare, though they have an axis in common.
func remarks(all []compared) (out []string) {
	tell := func(what string, of func(*compared) string) {
		values := make([]string, len(all))
		for i := range all {
			values[i] = of(&all[i])
		}
		if !alike(values) {
			out = append(out, fmt.Sprintf("%s: %s.", what, beside(all, values)))
		}
	}
	tell("the objectives differ, so that their values may mean different things", func(c *compared) string { return c.run.Objective })
	for _, key := range []string{"objective.statistic", "objective.shots"} {
		tell("what a step makes of its shots differs ("+key+")", func(c *compared) string { return c.config[key] })
	}
	tell("the charge for noise differs, so that the bounds are of different things (risk)", func(c *compared) string { return show.Number(float64(c.run.Risk)) })
	tell("costs are in different units, so that there is no curve over cost", func(c *compared) string { return unitWord(c.run.CostUnit) })
	tell("the kinds of runs differ", func(c *compared) string { return show.ModeWords(c.run.Mode) })
	for _, name := range variablesOf(all) {
		var values []string
		for i := range all {
			values = append(values, "")
			if v := all[i].variable(name); v != nil {
				values[i] = v.Unit
			}
		}
		if known := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }); !alike(known) {
			out = append(out, fmt.Sprintf("%s is in different units: %s.", name, beside(all, values)))
		}
	}
	return out
}

// beside lists a value for each run.
func beside(all []compared, values []string) string {
	var parts []string
	for i := range all {
		if values[i] != "" {
			parts = append(parts, all[i].label+" "+values[i])
		}
	}
	return strings.Join(parts, ", ")
}

func alike(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// variable is one by its name, nil where the run has none.
func (c *compared) variable(name string) *web.VariablePart {
	for i := range c.run.Variables {
		if c.run.Variables[i].Name == name {
			return &c.run.Variables[i]
		}
	}
	return nil
}

// variablesOf names the variables of all runs, each once.
func variablesOf(all []compared) (names []string) {
	for i := range all {
		for _, v := range all[i].run.Variables {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// glanceTable says of each run how good, how sure, how long and at what cost: a column a run.
func glanceTable(all []compared) web.ComparedTable {
	t := table("At a glance", "", all)
	row := func(what string, of func(*compared) string) {
		cells := []string{what}
		for i := range all {
			cells = append(cells, of(&all[i]))
		}
		t.Rows = append(t.Rows, cells)
	}
	of := func(number func(*control.PicturePoint) string) func(*compared) string {
		return func(c *compared) string {
			if p := c.source.Document.Picture; p != nil && p.Best != nil {
				return number(p.Best)
			}
			return "-"
		}
	}
	unit := all[0].run.Unit
	row("Policy", func(c *compared) string { return c.run.Policy })
	row("Best, by the model ± 2 SD", of(func(b *control.PicturePoint) string {
		return known(float64(b.Mean), unit) + " ± " + show.Digits(2*float64(b.SD), 2)
	}))
	row("Its pessimistic bound", of(func(b *control.PicturePoint) string { return known(float64(b.Bound), unit) }))
	row("Noise of a shot there, SD", of(func(b *control.PicturePoint) string { return known(float64(b.NoiseSD), unit) }))
	row("Against the start, by the model", (*compared).gain)
	row("Re-measured against the start", (*compared).verified)
	row("Steps", func(c *compared) string { return fmt.Sprint(c.source.Document.Total) })
	row("Spent", (*compared).spent)
	row("Begun", func(c *compared) string { return c.run.Start })
	row("Ended", (*compared).ended)
	return t
}

// table is one with a column a run.
func table(heading, first string, all []compared) web.ComparedTable {
	t := web.ComparedTable{Heading: heading, Columns: []string{first}}
	for i := range all {
		t.Columns = append(t.Columns, all[i].label)
	}
	return t
}

func known(v float64, unit string) string {
	if math.IsNaN(v) {
		return "-"
	}
	return show.Quantity(v, unit)
}

// spent is what the search of a run cost.
func (c *compared) spent() string {
	steps := c.source.Document.Steps
	if len(steps) == 0 {
		return "-"
	}
	return known(float64(steps[len(steps)-1].Spent), c.run.CostUnit)
}

// gain is by the model.
func (c *compared) gain() string {
	p := c.source.Document.Picture
	if p == nil || p.Best == nil || p.Start == nil {
		return "-"
	}
	return known(float64(p.Best.Mean-p.Start.Mean), c.run.Unit)
}

// verified is what measuring the recommended and the starting setting in turn came to.
func (c *compared) verified() string {
	switch {
	case c.result == nil:
		return "not yet"
	case c.result.Verified == nil || c.result.Verified.Verification == nil:
		if c.result.Unverified == "" {
			return "no"
		}
		return "no: " + c.result.Unverified
	}
	v := c.result.Verified
	words := map[string]string{plan.VerdictBetter: "better than the start", plan.VerdictWorse: "worse than the start"}[v.Verdict]
	if words == "" {
		words = "no difference shown"
	}
	return fmt.Sprintf("%s: %s against %s", words, known(float64(v.Recommended.Mean), c.run.Unit), known(float64(v.Start.Mean), c.run.Unit))
}

func (c *compared) ended() string {
	if !c.run.Finished {
		return "not yet"
	}
	return control.Endings()[c.run.Reason]
}

// comparedFigures are the curves on shared axes, and what each run recommends.
func comparedFigures(all []compared, labels []string) (out []web.FigurePart, err error) {
	sources := make([]plots.Source, len(all))
	units := make([]string, len(all))
	for i := range all {
		sources[i], units[i] = all[i].source, all[i].run.CostUnit
	}
	draw := func(kind string, f *figure.Figure, err error) error {
		if errors.Is(err, plots.ErrNothing) {
			return nil
		}
		if err != nil {
			return err
		}
		var text strings.Builder
		if err := f.Write(&text, "svg", figure.Page); err != nil {
			return err
		}
		out = append(out, web.FigurePart{Kind: kind, Title: f.Title, SVG: text.String()})
		return nil
	}
	f, err := plots.Compare(labels, sources, "steps")
	if err := draw("steps", f, err); err != nil {
		return nil, err
	}
	if alike(units) {
		f, err = plots.Compare(labels, sources, "cost")
		if err := draw("cost", f, err); err != nil {
			return nil, err
		}
	}
	f, err = plots.CompareBest(labels, sources)
	return out, draw("best", f, err)
}

// settingsTable has a row for each variable.
func settingsTable(all []compared) web.ComparedTable {
	t := table("Recommended settings", "Variable", all)
	for _, name := range variablesOf(all) {
		row := []string{name}
		for i := range all {
			row = append(row, all[i].setting(name))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// setting is what the recommended setting does with a variable.
func (c *compared) setting(name string) string {
	p := c.source.Document.Picture
	switch {
	case c.variable(name) == nil:
		return "not in this run"
	case p == nil || p.Best == nil:
		return "-"
	}
	for _, v := range p.Best.Variables {
		if v.Variable != name {
			continue
		}
		if v.How == control.HowSet {
			return show.Quantity(float64(v.Value), v.Unit)
		}
		return v.Text
	}
	return "-"
}

// configTable has the keys whose values differ, with those that only some runs have.
func configTable(all []compared) web.ComparedTable {
	t := table("Differences of configuration", "Key", all)
	var keys []string
	for i := range all {
		for _, key := range all[i].keys {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	same := 0
	for _, key := range keys {
		row := []string{}
		for i := range all {
			value, ok := all[i].config[key]
			if !ok {
				value = "-"
			}
			row = append(row, value)
		}
		if alike(row) {
			same++
			continue
		}
		t.Rows = append(t.Rows, append([]string{key}, row...))
	}
	t.Note = fmt.Sprintf("%d keys have the same value, given or by default, in all of them; - is for a key that a run does not have.", same)
	if len(t.Rows) == 0 {
		t.Note = fmt.Sprintf("None: all %d keys have the same value, given or by default.", same)
	}
	return t
}
