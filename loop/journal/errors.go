package journal

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// What can be wrong with a journal as a whole, beside what package disk lists; test with errors.Is.
var (
	// ErrExists: Create found a file, or the remains of one.
	ErrExists = errors.New("already exists")
	// ErrFinished: the run has its result, nothing may follow it.
	ErrFinished = errors.New("is finished")
	// ErrCorrupt: the file is no journal, or what it says cannot be trusted.
	ErrCorrupt = errors.New("is damaged")
	// ErrVersion: a newer tuner made the journal.
	ErrVersion = errors.New("has an unknown version")
	// ErrMoved: the open files do not stand at their names any more.
	ErrMoved = errors.New("is no longer at its name")
	// ErrBusy: another program, not a tuner, holds the file for writing.
	ErrBusy = errors.New("is in use")
	// ErrClosed: the journal was closed by this process.
	ErrClosed = errors.New("is closed")
)

const hintDamaged = "keep the file as it is, recover what it holds with a copy (sqlite3 COPY .recover), and start a new run"

// SQLite's primary result codes that say something about the file or the disk.
const (
	sqliteError    = 1
	sqliteBusy     = 5
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteTooBig   = 18
	sqliteNotADB   = 26

	// sqliteReadOnlyRollback: a crashed writer's rollback journal must be played
	// back before anyone can read, and this connection may not write.
	sqliteReadOnlyRollback = sqliteReadOnly | 3<<8
)

// resultCode gives SQLite's extended result code of err, 0 where it has none.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// fault turns an error met while doing something to the file at path into one
// that says what to do next. Errors that are classified already, and those that
// are no fault of file or disk, keep their kind.
func fault(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*disk.Error](err); ok {
		return e
	}
	e := &disk.Error{Path: path, Detail: fmt.Sprintf("%s: %v", doing, err), Cause: err}
	switch resultCode(err) & 0xff {
	case sqliteCorrupt, sqliteNotADB:
		e.Err, e.Hint = ErrCorrupt, hintDamaged
	case sqliteBusy:
		e.Err, e.Hint = ErrBusy, "close the other program that has it open for writing, such as a database browser"
	case sqliteFull:
		e.Err, e.Hint = disk.ErrIO, "free some disk space; this record was not kept, all before it were"
	case sqliteReadOnly, sqliteCantOpen:
		e.Err, e.Hint = disk.ErrIO, "see that the file and its folder can be written, or copy the file with its -wal to a place where they can"
	case sqliteIOErr:
		e.Err, e.Hint = disk.ErrIO, "look at the disk and the system log; this record was not kept, all before it were"
	default:
		return fmt.Errorf("journal %q: %s: %w", path, doing, err)
	}
	return e
}
