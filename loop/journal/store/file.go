package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
)

// File is a journal's file, open for reading.
type File struct {
	// Path is its name as it was given.
	Path string
	// Version is its schema when it was opened: tables that later ones have are as good as
	// empty.
	Version int

	db     *sql.DB
	salt   schema.Salt
	tables map[string]*schema.Table
}

// OpenFile opens it, and sees that it has the tables of its version.
func OpenFile(path string, a Access) (*File, error) {
	db, err := open(path, a)
	if err != nil {
		return nil, Fault(path, "open it", err)
	}
	f := &File{Path: path, db: db}
	if err := f.start(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// start reads what every other reading relies on.
func (f *File) start() (err error) {
	if f.Version, err = checkHeader(f.Path, f.db); err != nil {
		return err
	}
	return f.Read(func(tx *sql.Tx) (err error) {
		var damage []Damage
		if f.tables, damage, err = loadTables(tx, f.Version); err != nil {
			return err
		}
		if len(damage) > 0 {
			return f.Corrupt(damage[0])
		}
		f.salt, err = LoadSalt(tx)
		if err == sql.ErrNoRows {
			return f.Corrupt(Damage{Table: "run", Problem: "no row has the run's uid"})
		}
		return err
	})
}

// LoadSalt finds out what the checksums of a file begin with; sql.ErrNoRows where no row has
// the run's uid.
func LoadSalt(q schema.Querier) (schema.Salt, error) {
	var version int64
	if err := pragmaInt(q, "user_version", &version); err != nil {
		return "", err
	}
	var run sql.NullString
	err := q.QueryRowContext(context.Background(), "SELECT uid FROM run").Scan(&run)
	if err == nil && !run.Valid {
		err = sql.ErrNoRows
	}
	return schema.SaltOf(int(version), run.String), err
}

// KeepsLog says that the file is one that a log may belong to.
func (f *File) KeepsLog() bool {
	var mode string
	err := f.db.QueryRow("PRAGMA journal_mode").Scan(&mode)
	return err == nil && mode == "wal"
}

// Close lets go of the file.
func (f *File) Close() error { return Fault(f.Path, "close it", f.db.Close()) }

// Read runs fn on one state of the file.
func (f *File) Read(fn func(*sql.Tx) error) error {
	tx, err := f.db.BeginTx(context.Background(), nil)
	if err != nil {
		return Fault(f.Path, "read it", err)
	}
	err = fn(tx)
	if end := tx.Rollback(); err == nil { // else the first error says it all
		err = end
	}
	if code := ResultCode(err) & 0xff; code == codeError || code == CodeTooBig {
		// The queries are right for a sound file, and its values are small, so this one is not.
		return &disk.Error{Err: ErrCorrupt, Path: f.Path, Detail: err.Error(), Hint: HintDamaged, Cause: err}
	}
	return Fault(f.Path, "read it", err)
}

// Corrupt is the error for damage found while reading.
func (f *File) Corrupt(d Damage) error {
	return &disk.Error{Err: ErrCorrupt, Path: f.Path, Detail: d.String(), Hint: HintDamaged}
}

// loadTables compares the file's tables with those of its version and describes them.
// A difference comes back as Damage.
func loadTables(q schema.Querier, version int) (map[string]*schema.Table, []Damage, error) {
	tables := map[string]*schema.Table{}
	var damage []Damage
	for _, def := range schema.Definitions(version) {
		var got sql.NullString
		err := q.QueryRowContext(context.Background(),
			"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", def.Table).Scan(&got)
		switch {
		case err == sql.ErrNoRows:
			damage = append(damage, Damage{Table: def.Table, Problem: "the table is missing"})
			continue
		case err != nil:
			return nil, nil, err
		case got.String != def.SQL:
			damage = append(damage, Damage{Table: def.Table, Problem: "the table's definition was altered"})
			continue
		}
		t, err := schema.Describe(q, def.Table)
		if err != nil {
			return nil, nil, err
		}
		tables[def.Table] = t
	}
	return tables, damage, nil
}
