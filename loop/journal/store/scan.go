package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// Span selects rows of a table; where may be empty.
type Span struct {
	Table, Where string
	Args         []any
}

func (s Span) Of(table string) Span { s.Table = table; return s }

// Cells is one row, of which the checksum was right.
type Cells struct {
	Table  *schema.Table
	values []any
	err    error // the first value that was not of its column's type
}

// Scan reads rows in the order of their primary key and calls fn with each. The
// first damaged row ends it.
func (f *File) Scan(tx *sql.Tx, s Span, fn func(*Cells)) error {
	return f.scanAll(tx, s, func(c *Cells, d *Damage) error {
		if d != nil {
			return f.Corrupt(*d)
		}
		fn(c)
		if c.err != nil {
			return f.Corrupt(Damage{Table: s.Table, Row: c.Name(), Problem: c.err.Error()})
		}
		return nil
	})
}

// scanAll reads rows and calls fn with each, and with its damage if its checksum
// is wrong. An error of fn ends it.
func (f *File) scanAll(tx *sql.Tx, s Span, fn func(*Cells, *Damage) error) error {
	t := f.tables[s.Table]
	if t == nil {
		return nil // a later version has it
	}
	rows, err := tx.QueryContext(context.Background(), t.SelectSQL(s.Where), s.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	c := &Cells{Table: t, values: make([]any, len(t.Columns))}
	targets := make([]any, len(t.Columns))
	for i := range targets {
		targets[i] = &c.values[i]
	}
	var scratch []byte
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		last := len(c.values) - 1
		var sum uint32
		if sum, scratch, err = f.salt.Checksum(scratch, t.Name, c.values[:last]); err != nil {
			return err
		}
		var damage *Damage
		if c.values[last] != int64(sum) {
			damage = &Damage{Table: t.Name, Row: c.Name(),
				Problem: fmt.Sprintf("its checksum is %s, its values give %08x", hexadecimal(c.values[last]), sum)}
		}
		if err := fn(c, damage); err != nil {
			return err
		}
	}
	return rows.Err()
}

func hexadecimal(v any) string {
	if n, ok := v.(int64); ok {
		return fmt.Sprintf("%08x", n)
	}
	return fmt.Sprintf("%v", v)
}

// Name gives the primary key in words.
func (c *Cells) Name() string {
	var parts []string
	for i, k := range c.Table.Key {
		parts = append(parts, fmt.Sprintf("%s %v", k, c.values[i]))
	}
	return strings.Join(parts, ", ")
}

// cell gives the value of a column if it has the type, and keeps an error if not.
func cell[T any](c *Cells, column string) T {
	v, ok := c.values[c.Table.Index[column]].(T)
	if !ok && c.err == nil {
		c.err = fmt.Errorf("column %s is %T, not %T", column, c.values[c.Table.Index[column]], v)
	}
	return v
}

func (c *Cells) Null(column string) bool { return c.values[c.Table.Index[column]] == nil }
func (c *Cells) Int(column string) int   { return int(cell[int64](c, column)) }
func (c *Cells) Flag(column string) bool { return cell[int64](c, column) != 0 }

// Wall gives the zero time for NULL.
func (c *Cells) Wall(column string) time.Time {
	if c.Null(column) {
		return time.Time{}
	}
	return time.Unix(0, cell[int64](c, column)).UTC()
}

func (c *Cells) Duration(column string) time.Duration {
	return time.Duration(cell[int64](c, column))
}

// Blob gives nil for NULL.
func (c *Cells) Blob(column string) []byte {
	if c.Null(column) {
		return nil
	}
	return cell[[]byte](c, column)
}

// Float gives NaN for NULL.
func (c *Cells) Float(column string) float64 {
	if c.Null(column) {
		return math.NaN()
	}
	return cell[float64](c, column)
}

// Text gives the empty string for NULL.
func (c *Cells) Text(column string) string {
	if c.Null(column) {
		return ""
	}
	return cell[string](c, column)
}
