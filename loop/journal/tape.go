package journal

import (
	"bytes"
	"database/sql"
	"iter"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// TapePiece is a part of the record of the inputs and outputs of the safety layer;
// its data are package loop's, and packed. The first piece of each session is what it
// began from, has no ticks, and is a JSON document.
type TapePiece struct {
	Session int
	Ticks   int
	Data    []byte
	At      Stamp
}

// Tape records the next piece; ticks is 0 where a session's tape begins.
func (j *Journal) Tape(data []byte, ticks int, at Stamp) error {
	if err := j.writable(); err != nil {
		return err
	}
	if j.gathers { // it is the caller's again before it is committed
		data = bytes.Clone(data)
	}
	err := j.commit("what the safety layer did",
		store.RowOf("tape", j.stamped(at, schema.Integer(j.tapes+1), schema.Integer(ticks), data)...))
	if err == nil {
		j.tapes++
	}
	return err
}

// Tapes gives every piece in order. A journal of version 1 has none.
func (r *Reader) Tapes() iter.Seq2[TapePiece, error] { return store.InPieces(r.loadTapes) }

func (r *Reader) loadTapes(first, last int) (tapes []TapePiece, err error) {
	err = r.file.Read(func(tx *sql.Tx) error {
		err := r.file.Scan(tx, store.Span{Table: "tape", Where: "id BETWEEN ? AND ?", Args: []any{first, last}}, func(c *store.Cells) {
			if c.Int("id") == first+len(tapes) { // else one before it is missing
				tapes = append(tapes, TapePiece{Session: c.Int("session"), Ticks: c.Int("ticks"), Data: c.Blob("data"), At: stampOf(c)})
			}
		})
		if err != nil {
			return err
		}
		return r.file.Gapless(tx, store.Piece{Table: "tape", First: first, Last: last, Found: len(tapes)})
	})
	return tapes, err
}
