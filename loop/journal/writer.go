package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/bits"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// row is a row to be inserted: a table's name and its values in order, but crc.
type row struct {
	table  string
	values []any
}

// writer is the one connection that writes, with what it says again and again prepared. Nothing is ever updated, and nothing
// deleted but the result of a run that goes on after its end: see continue.go.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	// statements are by their text, inserts by table and rows.
	statements map[string]*sql.Stmt
	inserts    map[insertion]*sql.Stmt
	salt       schema.Salt
	scratch    []byte
	args       []any
}

// actionStates is an action, 0: none, and how often what became of it is on record.
type actionStates struct{ action, states int64 }

// insertion is a statement that inserts so many rows into a table.
type insertion struct {
	table string
	rows  int
}

// insertMost is how many rows one statement inserts at most; a power of two, as are fewer ones.
const insertMost = 16

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
	return &writer{db: db, conn: conn, statements: map[string]*sql.Stmt{}, inserts: map[insertion]*sql.Stmt{}}, nil
}

// resume finds out how the file's checksums are made.
func (w *writer) resume() (err error) {
	w.salt, err = store.LoadSalt(w.conn)
	return err
}

// prepared is an insertion, prepared when it is first needed: to prepare all of
// them costs more than most runs' beginnings write.
func (w *writer) prepared(i insertion, columns int) (*sql.Stmt, error) {
	if s := w.inserts[i]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), schema.InsertSQL(i.table, columns, i.rows))
	if err == nil {
		w.inserts[i] = s
	}
	return s, err
}

// statement is any other one.
func (w *writer) statement(query string) (*sql.Stmt, error) {
	if s := w.statements[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.statements[query] = s
	}
	return s, err
}

// states counts what the file holds of what became of an action.
func (w *writer) states(action int64) (n int64, err error) {
	s, err := w.statement("SELECT count(*) FROM action_state WHERE action = ?")
	if err == nil {
		err = s.QueryRowContext(context.Background(), action).Scan(&n)
	}
	return n, err
}

// count counts rows of a table.
func (w *writer) count(table string) (n int64, err error) {
	err = w.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n)
	return n, err
}

// do executes a statement that is said again and again.
func (w *writer) do(query string) error {
	s, err := w.statement(query)
	if err == nil {
		_, err = s.ExecContext(context.Background())
	}
	return err
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
	if err := w.do("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = w.do("COMMIT")
	}
	if err == nil {
		return nil
	}
	// A full disk or an I/O error may have rolled back already, and then there is
	// no transaction left to end: the first error is the one that matters.
	_ = w.exec("ROLLBACK")
	return err
}

// insert inserts rows in their order; neighbours of one table share a statement.
func (w *writer) insert(rows []row) error {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].table == rows[0].table {
			n++
		}
		n = min(1<<(bits.Len(uint(n))-1), insertMost)
		if err := w.insertOf(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// insertOf inserts rows of one table.
func (w *writer) insertOf(rows []row) error {
	w.args = w.args[:0]
	for _, r := range rows {
		sum, scratch, err := w.salt.Checksum(w.scratch, r.table, r.values)
		if err != nil {
			return err
		}
		w.scratch = scratch
		w.args = append(append(w.args, r.values...), schema.Integer(sum))
	}
	s, err := w.prepared(insertion{rows[0].table, len(rows)}, len(rows[0].values)+1)
	if err == nil {
		_, err = s.ExecContext(context.Background(), w.args...)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", rows[0].table, err)
	}
	return nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.inserts {
		errs = append(errs, s.Close())
	}
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
