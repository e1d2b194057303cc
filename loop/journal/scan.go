package journal

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// span selects rows of a table; where may be empty.
type span struct {
	table, where string
	args         []any
}

func (s span) of(table string) span { s.table = table; return s }

// cells is one row, of which the checksum was right.
type cells struct {
	table  *schema.Table
	values []any
	err    error // the first value that was not of its column's type
}

// scan reads rows in the order of their primary key and calls fn with each. The
// first damaged row ends it.
func (r *Reader) scan(tx *sql.Tx, s span, fn func(*cells)) error {
	return r.scanAll(tx, s, func(c *cells, d *Damage) error {
		if d != nil {
			return r.corrupt(*d)
		}
		fn(c)
		if c.err != nil {
			return r.corrupt(Damage{Table: s.table, Row: c.name(), Problem: c.err.Error()})
		}
		return nil
	})
}

// scanAll reads rows and calls fn with each, and with its damage if its checksum
// is wrong. An error of fn ends it.
func (r *Reader) scanAll(tx *sql.Tx, s span, fn func(*cells, *Damage) error) error {
	t := r.tables[s.table]
	if t == nil {
		return nil // a later version has it
	}
	rows, err := tx.QueryContext(context.Background(), t.SelectSQL(s.where), s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	c := &cells{table: t, values: make([]any, len(t.Columns))}
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
		if sum, scratch, err = schema.Checksum(scratch, t.Name, c.values[:last]); err != nil {
			return err
		}
		var damage *Damage
		if c.values[last] != int64(sum) {
			damage = &Damage{Table: t.Name, Row: c.name(),
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

// name gives the primary key in words.
func (c *cells) name() string {
	var parts []string
	for i, k := range c.table.Key {
		parts = append(parts, fmt.Sprintf("%s %v", k, c.values[i]))
	}
	return strings.Join(parts, ", ")
}

// cell gives the value of a column if it has the type, and keeps an error if not.
func cell[T any](c *cells, column string) T {
	v, ok := c.values[c.table.Index[column]].(T)
	if !ok && c.err == nil {
		c.err = fmt.Errorf("column %s is %T, not %T", column, c.values[c.table.Index[column]], v)
	}
	return v
}

func (c *cells) null(column string) bool { return c.values[c.table.Index[column]] == nil }
func (c *cells) int(column string) int   { return int(cell[int64](c, column)) }
func (c *cells) flag(column string) bool { return cell[int64](c, column) != 0 }

func (c *cells) duration(column string) time.Duration {
	return time.Duration(cell[int64](c, column))
}

// blob gives nil for NULL.
func (c *cells) blob(column string) []byte {
	if c.null(column) {
		return nil
	}
	return cell[[]byte](c, column)
}

// float gives NaN for NULL.
func (c *cells) float(column string) float64 {
	if c.null(column) {
		return math.NaN()
	}
	return cell[float64](c, column)
}

// text gives the empty string for NULL.
func (c *cells) text(column string) string {
	if c.null(column) {
		return ""
	}
	return cell[string](c, column)
}

// stamp gives the two clocks of a record.
func (c *cells) stamp() Stamp {
	at := Stamp{Mono: c.duration("mono_ns")}
	if !c.null("wall_ns") {
		at.Wall = time.Unix(0, cell[int64](c, "wall_ns")).UTC()
	}
	return at
}
