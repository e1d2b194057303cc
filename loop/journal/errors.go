package journal

import "errors"

// What can be wrong with a journal as a whole, beside what package disk lists; test with errors.Is.
var (
	// ErrExists: Create found a file, or the remains of one.
	ErrExists = errors.New("already exists")
	// ErrFinished: the run has its result, nothing may follow it.
	ErrFinished = errors.New("is finished")
	// ErrMoved: the open files do not stand at their names any more.
	ErrMoved = errors.New("is no longer at its name")
	// ErrClosed: the journal was closed by this process.
	ErrClosed = errors.New("is closed")
)
