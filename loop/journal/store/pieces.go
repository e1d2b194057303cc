package store

import (
	"database/sql"
	"fmt"
	"iter"
)

// Chunk is how many steps, actions or events are read in one transaction. Why not
// more: a transaction that stays open keeps the writer from folding its log, and
// the records are held in memory. Why not fewer: each has a handful of queries.
const Chunk = 256

// InPieces makes a sequence of records numbered from 1 of a function that loads
// those with the numbers first to last, as many as there are; with an error it
// gives those before the one that is damaged or missing.
func InPieces[T any](load func(first, last int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for first := 1; ; first += Chunk {
			records, err := load(first, first+Chunk-1)
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
			if len(records) < Chunk {
				return
			}
		}
	}
}

// Piece is a reading of a table whose rows are numbered without gaps: found rows
// from first on, of those up to last.
type Piece struct {
	Table              string
	First, Last, Found int
}

// Gapless sees that no row of a piece is missing.
func (f *File) Gapless(tx *sql.Tx, p Piece) error {
	if f.tables[p.Table] == nil {
		return nil // a later version has it
	}
	key := f.tables[p.Table].Key[0]
	var end sql.NullInt64
	if err := tx.QueryRow(fmt.Sprintf("SELECT max(%s) FROM %s", key, p.Table)).Scan(&end); err != nil {
		return err
	}
	if next := p.First + p.Found; next <= min(p.Last, int(end.Int64)) {
		return f.Corrupt(Damage{Table: p.Table, Row: fmt.Sprintf("%s %d", key, next), Problem: "the row is missing"})
	}
	return nil
}
