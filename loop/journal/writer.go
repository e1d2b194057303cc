package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// row is a row to be inserted: a table's name and its values in order, but crc.
type row struct {
	table  string
	values []any
}

// writer is the one connection that writes, with one prepared insertion per
// table. Nothing is ever updated, and nothing deleted but the result of a run that goes on
// after its end: see continue.go.
type writer struct {
	db      *sql.DB
	conn    *sql.Conn
	inserts map[string]*sql.Stmt
	salt    schema.Salt
	scratch []byte
}

// connect opens the file for writing.
func connect(path string, a store.Access) (*writer, error) {
	db, err := store.Open(path, a)
	if err != nil {
		return nil, err
	}
	// One connection for good: were database/sql to replace it after an error,
	// the file's locks would be let go for an instant.
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{db: db, conn: conn, inserts: map[string]*sql.Stmt{}}, nil
}

// resume finds out how the file's checksums are made.
func (w *writer) resume() (err error) {
	w.salt, err = store.LoadSalt(w.conn)
	return err
}

// insertion is the prepared one of a table, made when its first row comes: to prepare all of
// them costs more than most runs' beginnings write.
func (w *writer) insertion(table string, columns int) (*sql.Stmt, error) {
	if s := w.inserts[table]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), schema.InsertSQL(table, columns))
	if err == nil {
		w.inserts[table] = s
	}
	return s, err
}

// count counts rows of the file.
func (w *writer) count(where string, args ...any) (n int64, err error) {
	err = w.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM "+where, args...).Scan(&n)
	return n, err
}

func (w *writer) exec(query string) error {
	_, err := w.conn.ExecContext(context.Background(), query)
	return err
}

// commit inserts the rows, all or none, each with its checksum. When it returns
// nil they are on the disk; after an error the file is as it was before, and the
// next commit may be tried.
func (w *writer) commit(rows []row) error {
	return w.transaction(func() error { return w.insert(rows) })
}

// transaction commits what fn does, or undoes it if that fails.
func (w *writer) transaction(fn func() error) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = w.exec("COMMIT")
	}
	if err == nil {
		return nil
	}
	// A full disk or an I/O error may have rolled back already, and then there is
	// no transaction left to end: the first error is the one that matters.
	_ = w.exec("ROLLBACK")
	return err
}

func (w *writer) insert(rows []row) error {
	for _, r := range rows {
		sum, scratch, err := w.salt.Checksum(w.scratch, r.table, r.values)
		if err != nil {
			return err
		}
		w.scratch = scratch
		s, err := w.insertion(r.table, len(r.values)+1)
		if err == nil {
			_, err = s.ExecContext(context.Background(), append(r.values, schema.Integer(sum))...)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", r.table, err)
		}
	}
	return nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.inserts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
