package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// Damage is one thing that is wrong with a journal.
type Damage struct {
	// Table is empty where the damage is to the file as a whole; Row gives the
	// primary key, empty where no row can be named.
	Table, Row string
	Problem    string
}

// String gives the damage in words.
func (d Damage) String() string {
	switch {
	case d.Table == "":
		return d.Problem
	case d.Row == "":
		return fmt.Sprintf("table %s: %s", d.Table, d.Problem)
	}
	return fmt.Sprintf("table %s, row %s: %s", d.Table, d.Row, d.Problem)
}

// maxDamage bounds the list that Verify gives.
const maxDamage = 100

var errEnough = errors.New("enough damage was found")

// Verify reads the whole file and gives everything that is wrong with it, at most
// 100 things: SQLite's own check of the structure, every row's checksum, and rows
// that other rows say should be there. nil means that every record is as it was
// written. It takes one pass over the file for SQLite and one for the checksums.
func (f *File) Verify(view string) []Damage {
	v := verification{f: f, view: view}
	err := f.Read(func(tx *sql.Tx) error {
		v.tx = tx
		for _, check := range []func() error{v.structure, v.steps, v.checksums, v.orphans, v.counts} {
			if err := check(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		v.damage = append(v.damage, Damage{Problem: err.Error()})
	}
	return v.damage
}

type verification struct {
	f      *File
	view   string // the definition of the view steps
	tx     *sql.Tx
	damage []Damage
}

func (v *verification) add(d Damage) error {
	if v.damage = append(v.damage, d); len(v.damage) >= maxDamage {
		return errEnough
	}
	return nil
}

// query calls fn with each row of a query of nullable texts.
func (v *verification) query(query string, fn func(fields []sql.NullString) error) error {
	rows, err := v.tx.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	fields, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range fields {
		targets[i] = &fields[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := fn(fields); err != nil {
			return err
		}
	}
	return rows.Err()
}

// structure has SQLite look at its pages. There are no indexes beside the tables,
// so the quick check is a full one.
func (v *verification) structure() error {
	return v.query("PRAGMA quick_check", func(f []sql.NullString) error {
		for line := range strings.Lines(f[0].String) { // one row can hold many findings
			line = strings.TrimSpace(line)
			if line == "ok" || strings.HasPrefix(line, "***") {
				continue
			}
			if err := v.add(Damage{Problem: line}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v *verification) steps() error {
	var got sql.NullString
	err := v.tx.QueryRow("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'steps'").Scan(&got)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	if got.String != v.view {
		return v.add(Damage{Table: "steps", Problem: "the view is missing or was altered"})
	}
	return nil
}

func (v *verification) checksums() error {
	for _, def := range schema.Definitions(v.f.Version) {
		err := v.f.scanAll(v.tx, Span{Table: def.Table}, func(_ *Cells, d *Damage) error {
			if d == nil {
				return nil
			}
			return v.add(*d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) orphans() error {
	return v.query("PRAGMA foreign_key_check", func(f []sql.NullString) error {
		return v.add(Damage{Table: f[0].String, Problem: fmt.Sprintf("a row refers to a row of %s that is missing", f[2].String)})
	})
}

// counts finds rows that are missing although no checksum can tell: those that
// others count, and gaps in what is numbered without gaps.
func (v *verification) counts() error {
	for _, c := range schema.Counts(v.f.Version) {
		err := v.query(c.Query(), func(f []sql.NullString) error {
			return v.add(Damage{Table: c.Table, Row: f[0].String,
				Problem: fmt.Sprintf("%s rows are there, there should be %s", f[1].String, f[2].String)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
