package journal

import (
	"context"
	"database/sql"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// The tests of this package are outside of it, because their script of a run (journaltest) is
// that of other rooms, too. What they reach inside is here.

const (
	Chunk        = store.Chunk
	MaxVariables = schema.MaxVariables
	RescuedPart  = rescued
)

var Wall = schema.Wall

// Exec runs a statement on the writer's connection.
func (j *Journal) Exec(query string) error { return j.w.Exec(query) }

// Insert adds an event to a transaction that Exec began.
func (j *Journal) Insert(id int64, message string) error {
	return j.w.Insert([]store.Row{store.RowOf("event", j.stamped(Stamp{}, schema.Integer(id), "info", schema.Text("x"), schema.Text(message), schema.Integer(0))...)})
}

// Modes gives how the writer's connection keeps its log, and syncs.
func (j *Journal) Modes() (mode, sync string, err error) {
	err = j.w.Conn().QueryRowContext(context.Background(), "SELECT (SELECT journal_mode FROM pragma_journal_mode), (SELECT synchronous FROM pragma_synchronous)").Scan(&mode, &sync)
	return mode, sync, err
}

// Query runs fn as a reading of the file.
func (r *Reader) Query(fn func(*sql.Tx) error) error { return r.file.Read(fn) }

// TooBig says that SQLite refused a value for its size.
func TooBig(err error) bool { return store.ResultCode(err)&0xff == store.CodeTooBig }

// Stranger is a connection that writes past the lock.
type Stranger struct{ w *store.Writer }

// NewStranger opens one.
func NewStranger(path string) (Stranger, error) {
	w, err := store.Connect(path, store.WriteWAL)
	return Stranger{w}, err
}

func (s Stranger) Exec(query string) error { return s.w.Exec(query) }
func (s Stranger) Close() error            { return s.w.Close() }

// IdentifiedBy has another way to find out which file stands at a name.
func (o Options) IdentifiedBy(identify func(name string) (disk.FileID, error)) Options {
	o.identify = identify
	return o
}

// Fold moves the log into the database, as SQLite does now and then.
func (j *Journal) Fold() error { return j.checkpoint() }

// FoldToClose does what Close does before it closes the connection.
func (j *Journal) FoldToClose() error { return foldToClose(j) }
