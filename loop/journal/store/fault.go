package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// What can be wrong with a file as a whole, beside what package disk lists; test with errors.Is.
var (
	// ErrCorrupt: the file is no journal, or what it says cannot be trusted.
	ErrCorrupt = errors.New("is damaged")
	// ErrVersion: a newer tuner made the journal.
	ErrVersion = errors.New("has an unknown version")
	// ErrBusy: another program, not a tuner, holds the file for writing.
	ErrBusy = errors.New("is in use")
)

const HintDamaged = "keep the file as it is, recover what it holds with a copy (sqlite3 COPY .recover), and start a new run"

// SQLite's primary result codes that say something about the file or the disk.
const (
	codeError    = 1
	CodeBusy     = 5
	CodeReadOnly = 8
	CodeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	CodeCantOpen = 14
	CodeTooBig   = 18
	codeNotADB   = 26

	// sqliteReadOnlyRollback: a crashed writer's rollback journal must be played
	// back before anyone can read, and this connection may not write.
	CodeReadOnlyRollback = CodeReadOnly | 3<<8
)

// ResultCode gives SQLite's extended result code of err, 0 where it has none.
func ResultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// Fault turns an error met while doing something to the file at path into one
// that says what to do next. Errors that are classified already, and those that
// are no fault of file or disk, keep their kind.
func Fault(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*disk.Error](err); ok {
		return e
	}
	e := &disk.Error{Path: path, Detail: fmt.Sprintf("%s: %v", doing, err), Cause: err}
	switch ResultCode(err) & 0xff {
	case codeCorrupt, codeNotADB:
		e.Err, e.Hint = ErrCorrupt, HintDamaged
	case CodeBusy:
		e.Err, e.Hint = ErrBusy, "close the other program that has it open for writing, such as a database browser"
	case codeFull:
		e.Err, e.Hint = disk.ErrIO, "free some disk space; this record was not kept, all before it were"
	case CodeReadOnly, CodeCantOpen:
		e.Err, e.Hint = disk.ErrIO, "see that the file and its folder can be written, or copy the file with its -wal to a place where they can"
	case CodeIOErr:
		e.Err, e.Hint = disk.ErrIO, "look at the disk and the system log; this record was not kept, all before it were"
	default:
		return fmt.Errorf("journal %q: %s: %w", path, doing, err)
	}
	return e
}
