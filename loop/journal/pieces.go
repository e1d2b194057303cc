package journal

import (
	"database/sql"
	"fmt"
	"iter"
)

// chunk is how many steps, actions or events are read in one transaction. Why not
// more: a transaction that stays open keeps the writer from folding its log, and
// the records are held in memory. Why not fewer: each has a handful of queries.
const chunk = 256

// inPieces makes a sequence of records numbered from 1 of a function that loads
// those with the numbers first to last, as many as there are; with an error it
// gives those before the one that is damaged or missing.
func inPieces[T any](load func(first, last int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for first := 1; ; first += chunk {
			records, err := load(first, first+chunk-1)
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if len(records) < chunk {
				return
			}
		}
	}
}

// piece is a reading of a table whose rows are numbered without gaps: found rows
// from first on, of those up to last.
type piece struct {
	table              string
	first, last, found int
}

// gapless sees that no row of a piece is missing.
func (r *Reader) gapless(tx *sql.Tx, p piece) error {
	key := r.tables[p.table].Key[0]
	var end sql.NullInt64
	if err := tx.QueryRow(fmt.Sprintf("SELECT max(%s) FROM %s", key, p.table)).Scan(&end); err != nil {
		return err
	}
	if next := p.first + p.found; next <= min(p.last, int(end.Int64)) {
		return r.corrupt(Damage{Table: p.table, Row: fmt.Sprintf("%s %d", key, next), Problem: "the row is missing"})
	}
	return nil
}
