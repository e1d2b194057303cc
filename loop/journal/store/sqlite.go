package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
)

// Access says what a connection may do to the file.
type Access int

const (
	ReadOnly  Access = iota
	Immutable        // reads a file that nobody writes, in a place that takes no other
	Recovered        // reads, but may play back a crashed writer's rollback journal
	WriteWAL         // writes with a write-ahead log
	WriteRollback
	CreateFile // writes a new file, with a rollback journal: one file is easy to rename
)

// open opens the database at path. Connections are made by first use. Nothing of
// this package opens the file past SQLite: closing such a descriptor would drop
// every lock that SQLite holds on the file in this process.
func open(path string, a Access) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {
		"busy_timeout(5000)",
		"mmap_size(0)",       // a mapped file turns an I/O error into a signal
		"temp_store(memory)", // no writable /tmp is asked for
		"trusted_schema(0)",  // the file may have been made by others
		"cell_size_check(1)", // notice a garbled page early
	}}
	pragma := func(p string) { q["_pragma"] = append(q["_pragma"], p) }
	switch a {
	case ReadOnly:
		q.Set("mode", "ro")
	case Immutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	case Recovered:
		q.Set("mode", "rw")
		pragma("query_only(1)")
	case CreateFile:
		q.Set("mode", "rwc")
		pragma("journal_mode(delete)")
	default:
		q.Set("mode", "rw")
	}
	switch a {
	case WriteWAL:
		pragma("journal_mode(wal)")
		pragma("synchronous(full)")
		pragma("journal_size_limit(16777216)") // 16 MiB: four checkpoints' worth
		pragma("foreign_keys(1)")
	case WriteRollback, CreateFile:
		pragma("journal_mode(delete)")
		// Without a log, a commit is durable only when the folder, too, is synced
		// after the rollback journal is removed: that is what EXTRA adds to FULL.
		pragma("synchronous(extra)")
		pragma("foreign_keys(1)")
	}
	u := url.URL{Path: filepath.ToSlash(abs)}
	db, err := sql.Open("sqlite", "file:"+u.EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	if a >= WriteWAL {
		db.SetMaxOpenConns(1)
	}
	return db, nil
}

const hintNoJournal = "tuner run and tuner simulate name their journal, NAME.db or NAME.simulate.db; tuner status lists runs"

// checkHeader tells a journal of this or an older schema from anything else, and gives
// its version.
func checkHeader(path string, q schema.Querier) (version int, err error) {
	var id, user int64
	err = pragmaInt(q, "application_id", &id)
	switch {
	case ResultCode(err)&0xff == codeNotADB:
		return 0, &disk.Error{Err: disk.ErrNoJournal, Path: path, Cause: ErrCorrupt,
			Detail: "it does not begin as a journal does, which is an SQLite database", Hint: hintNoJournal + "; if it was one, its beginning is damaged: recover what a copy holds (sqlite3 COPY .recover)"}
	case err != nil:
		return 0, Fault(path, "read the header", err)
	}
	if err := pragmaInt(q, "user_version", &user); err != nil {
		return 0, Fault(path, "read the header", err)
	}
	switch {
	case id != schema.ApplicationID:
		return 0, &disk.Error{Err: disk.ErrNoJournal, Path: path, Cause: ErrCorrupt,
			Detail: fmt.Sprintf("it is a database of another program (its application_id is %#x, tuner's is %#x)", id, schema.ApplicationID),
			Hint:   hintNoJournal}
	case user < 1 || user > schema.Version:
		return 0, &disk.Error{Err: ErrVersion, Path: path,
			Detail: fmt.Sprintf("its schema is version %d, this tuner knows 1 to %d", user, schema.Version),
			Hint:   "use the version of tuner that made it, or a newer one"}
	}
	return int(user), nil
}

func pragmaInt(q schema.Querier, name string, n *int64) error {
	return q.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(n)
}
