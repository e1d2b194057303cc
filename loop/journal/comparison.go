package journal

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Side is one of the two settings that a comparison measures in turn.
type Side string

// The sides.
const (
	Recommended Side = "recommended"
	Starting    Side = "start"
)

// Compared says which measurement of a comparison a step is.
type Compared struct {
	// Comparison is its number, 0: none. Pair counts from 1.
	Comparison, Pair int
	Side             Side
}

// Comparison is the measuring of the recommended and of the starting setting in turn,
// as it is meant to be: it is recorded before it begins.
type Comparison struct {
	// Number counts from 1.
	Number int
	// ControlSet is played on both sides.
	ControlSet int
	// Pairs is how many there are to be, Shots what each step takes.
	Pairs, Shots int
	// Proposed says that the policy had decided another step, which was not played, as
	// where the budget does not pay for it.
	Proposed bool
	// Recommended and Start have one entry per variable; NaN where that side leaves it
	// random.
	Recommended, Start []float64
	At                 Stamp
}

// ComparisonResult is what came of one.
type ComparisonResult struct {
	Comparison int
	// Verdict is "better", "worse", "none" (no difference shown) or "no data".
	Verdict string
	// Pairs counts those for which both sides gave data.
	Pairs int
	// Gain is by how much the recommended setting is better, in the objective's unit and
	// positive where it is; Low and High are its confidence limits, NaN where there is
	// none. P is the one-sided p-value of the hypothesis that nothing was gained.
	Gain, Low, High, P float64
	// Document is all of it as a JSON document.
	Document []byte
	At       Stamp
}

// Compare records that a comparison begins. Comparisons count from 1 without gaps.
func (j *Journal) Compare(c Comparison) error {
	if err := j.writable(); err != nil {
		return err
	}
	if err := j.Settle(); err != nil {
		return err
	}
	n, err := j.w.Count("SELECT count(*) FROM comparison")
	switch {
	case err != nil:
		return store.Fault(j.path, "count the comparisons", err)
	case c.Number != int(n)+1:
		return j.refuse("comparison %d cannot follow comparison %d", c.Number, n)
	case c.ControlSet < 0 || c.ControlSet >= j.controlSets:
		return j.refuse("comparison %d has control set %d, the run has 0 to %d", c.Number, c.ControlSet, j.controlSets-1)
	case len(c.Recommended) != len(j.variables) || len(c.Start) != len(j.variables):
		return j.refuse("comparison %d has %d and %d values, the run has %d variables",
			c.Number, len(c.Recommended), len(c.Start), len(j.variables))
	}
	rows := []store.Row{store.RowOf("comparison", j.stamped(c.At, schema.Integer(c.Number), schema.Integer(c.ControlSet), schema.Integer(c.Pairs), schema.Integer(c.Shots), schema.Boolean(c.Proposed))...)}
	for i := range c.Start {
		rows = append(rows, store.RowOf("comparison_value", schema.Integer(c.Number), schema.Integer(i), schema.Number(c.Recommended[i]), schema.Number(c.Start[i])))
	}
	return j.commit("the comparison with the starting setting", rows...)
}

// CompareResult records what came of a comparison, once.
func (j *Journal) CompareResult(r ComparisonResult) error {
	if err := j.writable(); err != nil {
		return err
	}
	if !json.Valid(r.Document) {
		return j.refuse("the result of comparison %d is no JSON document", r.Comparison)
	}
	return j.commit("the result of a comparison", store.RowOf("comparison_result", j.stamped(r.At, schema.Integer(r.Comparison), schema.Text(r.Verdict),
		schema.Integer(r.Pairs), schema.Number(r.Gain), schema.Number(r.Low), schema.Number(r.High), schema.Number(r.P), schema.Text(string(r.Document)))...))
}

// Comparisons gives every comparison in order.
func (r *Reader) Comparisons() ([]Comparison, error) {
	var all []Comparison
	err := r.file.Read(func(tx *sql.Tx) error {
		err := r.file.Scan(tx, store.Span{Table: "comparison"}, func(c *store.Cells) {
			all = append(all, Comparison{Number: c.Int("n"), ControlSet: c.Int("control_set"), Pairs: c.Int("pairs"),
				Shots: c.Int("shots"), Proposed: c.Flag("proposed"), At: stampOf(c)})
		})
		if err != nil {
			return err
		}
		err = r.file.Scan(tx, store.Span{Table: "comparison_value"}, func(c *store.Cells) {
			if i := c.Int("comparison") - 1; i >= 0 && i < len(all) {
				all[i].Recommended = append(all[i].Recommended, c.Float("recommended"))
				all[i].Start = append(all[i].Start, c.Float("start"))
			}
		})
		if err != nil {
			return err
		}
		for i, c := range all {
			if c.Number != i+1 || len(c.Start) != len(r.run.Variables) {
				return r.file.Corrupt(store.Damage{Table: "comparison", Row: fmt.Sprintf("n %d", i+1), Problem: "it, or a value of it, is missing"})
			}
		}
		return nil
	})
	return all, err
}

// ComparisonResults gives what came of the comparisons that were ended, in order.
func (r *Reader) ComparisonResults() ([]ComparisonResult, error) {
	var all []ComparisonResult
	err := r.file.Read(func(tx *sql.Tx) error {
		return r.file.Scan(tx, store.Span{Table: "comparison_result"}, func(c *store.Cells) {
			all = append(all, ComparisonResult{Comparison: c.Int("comparison"), Verdict: c.Text("verdict"), Pairs: c.Int("pairs"),
				Gain: c.Float("gain"), Low: c.Float("low"), High: c.Float("high"), P: c.Float("p"),
				Document: []byte(c.Text("document")), At: stampOf(c)})
		})
	})
	return all, err
}

// addCompared tells a step which measurement of a comparison it is.
func (l *loader) addCompared(c *store.Cells) {
	if s := l.at(c); s != nil {
		s.Decision.Compared = Compared{Comparison: c.Int("comparison"), Pair: c.Int("pair"), Side: Side(c.Text("side"))}
	}
}

// Same says that two comparisons measure the same settings in the same way, whatever
// their numbers of pairs.
func (c Comparison) Same(d Comparison) bool {
	equal := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	return c.ControlSet == d.ControlSet && c.Shots == d.Shots &&
		slices.EqualFunc(c.Recommended, d.Recommended, equal) && slices.EqualFunc(c.Start, d.Start, equal)
}
