package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// doubt is what a failed transaction leaves: nobody knows whether it is in the file.
type doubt struct {
	// rows are its rows, of which the first tells it from every other.
	rows []store.Row
	// found says that it is there after all, checked that this has been looked at.
	found, checked bool
	// disk says that the disk itself failed, and not only for want of space.
	disk bool
}

// mend makes a writer anew after a transaction has failed: what the old connection
// believes of its log cannot be trusted any more. The log is folded into the file,
// because pages whose sync has failed once count as written from then on: only what
// is written and synced again is durable. Then the file must hold what was
// acknowledged, and at most the failed transaction beside it.
func (j *Journal) mend() error {
	if j.w != nil && (j.doubt == nil || j.doubt.checked) {
		return nil
	}
	if j.w == nil {
		return j.reconnect()
	}
	switch l, err := j.lost(); {
	case err != nil:
		return err
	case l != whole: // what is open is all there is of it
		err := j.putRight()
		j.held = j.heldWords(err)
		return err
	}
	_ = j.w.Close() // its error is the disk's, which has been reported
	j.w = nil
	return j.reconnect()
}

// inspect compares what the file holds with what was acknowledged.
func (j *Journal) inspect(w *store.Writer) error {
	if err := w.Resume(); err != nil {
		return err
	}
	if j.wal {
		if err := j.foldAll(w); err != nil {
			return err
		}
	}
	if j.doubt != nil && j.doubt.disk {
		if err := verifyFile(j.path); err != nil {
			return err
		}
	}
	there, err := store.Counts(w.Conn(), schema.Version)
	if err != nil {
		return err
	}
	lacks := j.rows.missing(there)
	if d := j.doubt; d != nil && lacks != "" {
		if d.found, err = w.Holds(d.rows[0]); err != nil {
			return err
		}
		if d.found { // all of it or nothing
			tally(there).add(d.rows, -1)
			lacks = j.rows.missing(there)
		}
	}
	if lacks != "" {
		return &disk.Error{Err: store.ErrCorrupt, Path: j.path, Detail: "after a failure of the disk it does not hold what was acknowledged: " + lacks, Hint: store.HintDamaged}
	}
	return nil
}

// tally counts rows by their tables.
type tally map[string]int64

// add counts rows so many times.
func (t tally) add(rows []store.Row, times int64) {
	for _, r := range rows {
		t[r.Table] += times
	}
}

// missing says what the file, which holds there, lacks of the rows that were acknowledged, or has beside them, by
// their tables; "" where there is nothing.
func (t tally) missing(there tally) string {
	var words []string
	for _, table := range slices.Sorted(maps.Keys(t)) {
		if was, is := t[table], there[table]; was != is {
			words = append(words, fmt.Sprintf("%s (%d of %d)", table, is, was))
		}
	}
	return strings.Join(words, ", ")
}

// foldAll moves the whole log into the file, and says so if a reader is in the way.
func (j *Journal) foldAll(w *store.Writer) error {
	var busy, pages, moved int
	if err := w.Conn().QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return &disk.Error{Err: store.ErrBusy, Path: j.path, Detail: "a reader is in the way of folding the log", Hint: "close the other program that reads it"}
	}
	return nil
}

// verifyFile reads and checks every row.
func verifyFile(path string) error {
	r, err := OpenReader(path)
	if err != nil {
		return err
	}
	return errors.Join(r.Sound(), r.Close())
}

// repeated reports whether rows are those of a failed transaction that turned out to
// be in the file. Where other rows come instead, what is there is taken in first, and
// the caller is to try again.
func (j *Journal) repeated(rows []store.Row) (bool, error) {
	d := j.doubt
	if d == nil {
		return false, nil
	}
	j.doubt = nil
	switch {
	case !d.found:
		return false, nil
	case rows[0].Table == d.rows[0].Table && reflect.DeepEqual(rows[0].Values, d.rows[0].Values):
		return true, nil
	}
	if err := j.load(); err != nil {
		return false, err
	}
	return false, &disk.Error{Err: disk.ErrIO, Path: j.path, Detail: "a record that had failed is in the file after all, and was counted", Hint: "the next attempt goes on after it"}
}

// again counts what became of an action in a transaction that failed and is in the file after all, so
// that it is not numbered twice.
func (d *doubt) again(action int64) int64 {
	if d == nil || !d.found {
		return 0
	}
	return statesAmong(d.rows, action)
}
