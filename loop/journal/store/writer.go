package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/bits"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// Row is a row to be inserted: a table's name and its values in order, but crc.
type Row struct {
	Table  string
	Values []any
}

// RowOf is a row of a table; it keeps the slice of values.
func RowOf(table string, values ...any) Row { return Row{table, values} }

// Writer is the one connection that writes, with what it says again and again prepared. It inserts rows, each with its
// checksum, and belongs to one goroutine.
type Writer struct {
	db   *sql.DB
	conn *sql.Conn
	// statements are by their text, inserts by table and rows.
	statements map[string]*sql.Stmt
	inserts    map[insertion]*sql.Stmt
	salt       schema.Salt
	scratch    []byte
	args       []any
	// underWay gets what becomes of a commit that Begin began; nil: there is none, or late has it.
	underWay chan error
	late     error
}

// insertion is a statement that inserts so many rows into a table.
type insertion struct {
	table string
	rows  int
}

// insertMost is how many rows one statement inserts at most; a power of two, as are fewer ones.
const insertMost = 16

// Connect opens the file for writing.
func Connect(path string, a Access) (*Writer, error) {
	db, err := open(path, a)
	if err != nil {
		return nil, err
	}
	// One connection for good: were database/sql to replace it after an error,
	// the file's locks would be let go for an instant.
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Writer{db: db, conn: conn, statements: map[string]*sql.Stmt{}, inserts: map[insertion]*sql.Stmt{}}, nil
}

// Conn is the connection, for what else is asked of the file.
func (w *Writer) Conn() *sql.Conn {
	w.rest()
	return w.conn
}

// Resume finds out how the file's checksums are made.
func (w *Writer) Resume() (err error) {
	w.salt, err = LoadSalt(w.Conn())
	return err
}

// SetSalt says how those of a new file are made.
func (w *Writer) SetSalt(s schema.Salt) { w.salt = s }

// Begin begins to commit rows, as Commit does, on another goroutine. They are the writer's until [Writer.Wait] has told
// what became of them; what else is asked of the writer until then waits for that.
func (w *Writer) Begin(rows []Row) {
	w.rest()
	done := make(chan error, 1)
	w.underWay = done
	go func() { done <- w.commit(rows) }()
}

// Wait gives what became of what Begin began; nil where nothing was.
func (w *Writer) Wait() error {
	w.rest()
	err := w.late
	w.late = nil
	return err
}

// rest waits until the connection is free.
func (w *Writer) rest() {
	if w.underWay != nil {
		w.late = <-w.underWay
		w.underWay = nil
	}
}

// Count gives the number that a query, which is asked again and again, has as its answer.
func (w *Writer) Count(query string, args ...any) (n int64, err error) {
	w.rest()
	s, err := w.statement(query)
	if err == nil {
		err = s.QueryRowContext(context.Background(), args...).Scan(&n)
	}
	return n, err
}

// Exec executes a statement that is said once.
func (w *Writer) Exec(query string) error {
	w.rest()
	return w.exec(query)
}

// Commit inserts the rows, all or none, each with its checksum. When it returns
// nil they are on the disk; after an error the file is as it was before, and the
// next commit may be tried.
func (w *Writer) Commit(rows []Row) error {
	w.rest()
	return w.commit(rows)
}

// Transaction commits what fn does, or undoes it if that fails.
func (w *Writer) Transaction(fn func() error) error {
	w.rest()
	return w.transaction(fn)
}

// Insert inserts rows in their order; neighbours of one table share a statement.
func (w *Writer) Insert(rows []Row) error {
	w.rest()
	return w.insert(rows)
}

// Holds reports whether the file has a row with the values of r.
func (w *Writer) Holds(r Row) (bool, error) {
	sum, _, err := w.salt.Checksum(nil, r.Table, r.Values)
	if err != nil {
		return false, err
	}
	t, err := schema.Describe(w.Conn(), r.Table)
	if err != nil {
		return false, err
	}
	query, args := "SELECT count(*) FROM "+r.Table+" WHERE crc = ?", []any{schema.Integer(sum)}
	for i, k := range t.Key {
		query += " AND " + k + " = ?"
		args = append(args, r.Values[i])
	}
	var n int
	err = w.conn.QueryRowContext(context.Background(), query, args...).Scan(&n)
	return n > 0, err
}

// Close closes the connection.
func (w *Writer) Close() error {
	w.rest()
	var errs []error
	for _, s := range w.inserts {
		errs = append(errs, s.Close())
	}
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// prepared is an insertion, prepared when it is first needed: to prepare all of
// them costs more than most runs' beginnings write.
func (w *Writer) prepared(i insertion, columns int) (*sql.Stmt, error) {
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
func (w *Writer) statement(query string) (*sql.Stmt, error) {
	if s := w.statements[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.statements[query] = s
	}
	return s, err
}

// do executes a statement that is said again and again.
func (w *Writer) do(query string) error {
	s, err := w.statement(query)
	if err == nil {
		_, err = s.ExecContext(context.Background())
	}
	return err
}

func (w *Writer) exec(query string) error {
	_, err := w.conn.ExecContext(context.Background(), query)
	return err
}

func (w *Writer) commit(rows []Row) error {
	return w.transaction(func() error { return w.insert(rows) })
}

func (w *Writer) transaction(fn func() error) error {
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

func (w *Writer) insert(rows []Row) error {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Table == rows[0].Table {
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
func (w *Writer) insertOf(rows []Row) error {
	w.args = w.args[:0]
	for _, r := range rows {
		sum, scratch, err := w.salt.Checksum(w.scratch, r.Table, r.Values)
		if err != nil {
			return err
		}
		w.scratch = scratch
		w.args = append(append(w.args, r.Values...), schema.Integer(sum))
	}
	s, err := w.prepared(insertion{rows[0].Table, len(rows)}, len(rows[0].Values)+1)
	if err == nil {
		_, err = s.ExecContext(context.Background(), w.args...)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", rows[0].Table, err)
	}
	return nil
}
