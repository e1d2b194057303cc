package disk

import (
	"errors"
	"fmt"
)

// What can be wrong with any file of a run; test with errors.Is.
var (
	// ErrLocked: another process writes the file.
	ErrLocked = errors.New("is locked")
	// ErrLinked: the file has two names.
	ErrLinked = errors.New("has another name")
	// ErrIO: the disk or the operating system refused.
	ErrIO = errors.New("cannot be read or written")
	// ErrNoJournal: the file is something else.
	ErrNoJournal = errors.New("is no journal")
)

// Error says which file of a run cannot be used, why, and what to do about it.
type Error struct {
	// Err is one of the sentinels above or of package journal, or fs.ErrNotExist.
	Err error
	// Path is the file, of a control state without its suffix.
	Path string
	// Detail says what was found, Hint the next step; either may be empty.
	Detail, Hint string
	// Cause is the error of the layer below, nil if there is none.
	Cause error
}

// Error gives path, kind, detail and hint in one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("journal %q %v", e.Path, e.Err)
	if e.Err == ErrNoJournal { //nolint:errorlint // it is the kind itself
		s = fmt.Sprintf("%q %v", e.Path, e.Err)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap gives the sentinel and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}
