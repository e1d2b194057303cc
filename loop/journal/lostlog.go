package journal

import (
	"fmt"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// A process that is killed leaves its lock file and, in NAME.db-wal, the newest records,
// which the next one reads. Where the lock file is there and the log is not, the log was
// removed, or another program has opened the journal since and folded the log
// into it, as SQLite does. The file does not show which, so the next process warns.

// logMissing reports whether the lock file of a process that has ended stands beside the
// journal at path, and no log with anything in it.
func logMissing(real string) bool { return !store.HasLog(real) && disk.LeftBehind(real) }

// logMissingWords says what a missing log may mean.
func logMissingWords(path string) string {
	return fmt.Sprintf("the last process that wrote the journal was killed, and its log %s-wal is not there: "+
		"unless another program, such as a database browser, has opened the journal since, its newest records are lost; put the log back if you have it", path)
}

// Notices are what the user should hear about the file as it is; usually there are none.
func (r *Reader) Notices() []string { return r.notices }
