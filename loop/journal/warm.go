package journal

import (
	"database/sql"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// WarmSource is a file that observations of earlier runs come from.
type WarmSource struct {
	// File is the name it was given by, SHA256 that of what was read, in hexadecimal. UID is
	// the run's where it was a journal.
	File, SHA256, UID string
	// Taken are the observations, in the file's order; Dropped counts those that lay outside
	// the variables' ranges.
	Taken   []WarmObservation
	Dropped int
	// Growing says that a process was writing the file when it was read; it is not recorded.
	Growing bool
}

// WarmObservation is one observation of an earlier run.
type WarmObservation struct {
	// X has one entry per variable, all finite. Mean is of the objective in the user's
	// sense; Variance the unbiased one of single shots, NaN at one shot.
	X              []float64
	Mean, Variance float64
	Shots          int
}

// Warm records the observations of earlier runs, before the first step; it is called once, right
// after Create.
func (j *Journal) Warm(sources []WarmSource) error {
	if err := j.writable(); err != nil {
		return err
	}
	if j.step > 0 {
		return j.refuse("step %d has begun: the record of earlier runs comes before the first", j.step)
	}
	var rows []store.Row
	for i, s := range sources {
		rows = append(rows, store.RowOf("warm_source", schema.Integer(i), schema.Text(s.File), schema.Text(s.SHA256), schema.Text(s.UID), schema.Integer(len(s.Taken)), schema.Integer(s.Dropped)))
		for n, o := range s.Taken {
			if len(o.X) != len(j.variables) {
				return j.refuse("an earlier observation has %d values, the run has %d variables", len(o.X), len(j.variables))
			}
			rows = append(rows, store.RowOf("warm", schema.Integer(i), schema.Integer(n), schema.Number(o.Mean), schema.Number(o.Variance), schema.Integer(o.Shots)))
			for v, x := range o.X {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return j.refuse("an earlier observation of %q has no finite setting", s.File)
				}
				rows = append(rows, store.RowOf("warm_value", schema.Integer(i), schema.Integer(n), schema.Integer(v), schema.Number(x)))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return j.commit("the observations of earlier runs", rows...)
}

// Warm returns the observations of earlier runs that the policy began with.
func (r *Reader) Warm() ([]WarmSource, error) {
	var all []WarmSource
	var lost error
	at := func(c *store.Cells, source, n string) *WarmObservation {
		if s := c.Int(source); s >= 0 && s < len(all) {
			if k := c.Int(n); k >= 0 && k < len(all[s].Taken) {
				return &all[s].Taken[k]
			}
		}
		lost = r.file.Corrupt(store.Damage{Table: c.Table.Name, Row: c.Name(), Problem: "what it belongs to is missing"})
		return &WarmObservation{}
	}
	err := r.file.Read(func(tx *sql.Tx) error {
		for _, t := range []struct {
			table string
			add   func(*store.Cells)
		}{
			{"warm_source", func(c *store.Cells) {
				all = append(all, WarmSource{File: c.Text("file"), SHA256: c.Text("sha256"), UID: c.Text("uid"), Dropped: c.Int("dropped"),
					Taken: make([]WarmObservation, max(c.Int("taken"), 0))})
			}},
			{"warm", func(c *store.Cells) {
				o := at(c, "source", "n")
				o.Mean, o.Variance, o.Shots = c.Float("mean"), c.Float("variance"), c.Int("shots")
			}},
			{"warm_value", func(c *store.Cells) {
				o := at(c, "source", "n")
				o.X = append(o.X, c.Float("x"))
			}},
		} {
			if err := r.file.Scan(tx, store.Span{Table: t.table}, t.add); err != nil {
				return err
			}
		}
		return lost
	})
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		for n, o := range s.Taken {
			if o.Shots < 1 || len(o.X) != len(r.run.Variables) {
				return nil, r.file.Corrupt(store.Damage{Table: "warm", Row: fmt.Sprintf("source %d, n %d", i, n), Problem: "it, or a value of it, is missing"})
			}
		}
	}
	return all, nil
}
