package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/loop/worker"
)

const (
	// StoryMax bounds the lines of the story that wait for a disk. What the steps
	// themselves record waits beyond it: they stand still, so that is a handful.
	StoryMax = 1000
	// retryFirst is the wait before a record that failed is tried again, retryMost the
	// longest. Not longer: a disk that is back should not be waited for.
	retryFirst = 100 * time.Millisecond
	retryMost  = 10 * time.Second
	// slowRecord is how long a record may take before the run is held for it. Not shorter:
	// an SD card may take a second. Not longer: a person should hear of it.
	slowRecord = 5 * time.Second
)

// Record is something that is written to a journal. Write is called on the journal's worker until it succeeds; it
// goes on where it failed.
type Record interface {
	Write(j *journal.Journal) error
}

// Func is a record that a function writes.
type Func func(*journal.Journal) error

// Write calls f.
func (f Func) Write(j *journal.Journal) error { return f(j) }

// Entry is something to be recorded.
type Entry struct {
	What string
	Record
	// Done, if any, is what follows once the entry is durable: Written carries it.
	Done any
	// Story says that it is a line of the story, which may be lost when too many wait.
	Story bool
	// Hasty says that it does not wait for a disk that has failed: it is Refused, and nothing
	// is tried again.
	Hasty bool

	asked time.Time
}

// Written: an entry is durable, Took after it was put. It holds until the next result is handled.
type Written struct {
	Done any
	Took time.Duration
}

// Refused: a hasty entry was not recorded, because of Err.
type Refused struct {
	Done any
	Err  error
}

// Failed: an entry cannot be recorded, and the run cannot go on without it.
type Failed struct {
	Done any
	What string
	Err  error
}

// Said is a line of narration about the disk.
type Said struct{ Level, Message string }

// Options says how a recorder records.
type Options struct {
	// Lane is the journal's, SpaceLane that on which the disk is asked for its free space.
	Lane, SpaceLane int
	// Wait says that a disk that fails is waited for; else the first failure is Failed.
	Wait bool
	// Look says that the journal's files are looked at every second, not only with each
	// record.
	Look bool
	// Hook, if any, is called on the worker before and after each write, with what is written.
	Hook func(what string)
	// Space tells the free bytes on the journal's disk; nil: it is not looked at. With fewer
	// than MinFree the run is held; 0: it is not looked at.
	Space   func() (uint64, error)
	MinFree uint64
}

// Recorder is the queue of what is to be recorded.
type Recorder struct {
	opt     Options
	pool    *worker.Pool
	journal *journal.Journal

	queue []Entry
	// writing is the ticket of the first entry's write, begun when it was posted; 0: none is
	// under way, of first.
	writing worker.Ticket
	begun   time.Time
	first   writing
	// events and done are what Handle has told last.
	events []any
	done   Written
	// failedAt is when the disk failed, zero while it is well, and why; the next attempt
	// comes at next, wait after the last one.
	failedAt time.Time
	why      error
	wait     time.Duration
	next     time.Time
	// slow says that the first entry takes long, lost how many lines of the story were lost,
	// ending that no more of them are taken.
	slow   bool
	lost   int
	ending bool

	space space
	files files
}

// New returns a recorder that writes to j on a worker of pool.
func New(j *journal.Journal, pool *worker.Pool, o Options) *Recorder {
	return &Recorder{opt: o, pool: pool, journal: j}
}

// Put queues an entry, in the order of the calls, and begins to write if nothing else is
// being written.
func (r *Recorder) Put(now time.Time, e Entry) []any {
	switch {
	case e.Story && r.ending:
		return nil
	case e.Story && len(r.queue) >= StoryMax:
		r.lost++
		return nil
	case e.Hasty && r.why != nil:
		return []any{Refused{e.Done, r.why}}
	}
	e.asked = now
	r.queue = append(r.queue, e)
	r.Next(now)
	return nil
}

// Due is how many entries wait.
func (r *Recorder) Due() int { return len(r.queue) }

// End takes no more lines of the story.
func (r *Recorder) End() { r.ending = true }

// Next begins to write the first entry, unless one is being written or a disk that failed
// is not to be tried yet.
func (r *Recorder) Next(now time.Time) {
	if r.writing != 0 || len(r.queue) == 0 || !r.failedAt.IsZero() && now.Before(r.next) {
		return
	}
	r.begun, r.first = now, writing{Recorder: r, Record: r.queue[0].Record}
	r.writing = r.pool.PostJob(r.opt.Lane, &r.first)
}

// writing is the job of the journal's worker, and what it brings back.
type writing struct {
	*Recorder
	Record
	err  error
	seen seen
}

// Do implements [worker.Job].
func (w *writing) Do() any {
	w.hook("record")
	w.err = w.Write(w.journal)
	w.hook("record") // what is durable is not reported at once
	w.seen = lookOf(w.journal)
	return w
}

func (r *Recorder) hook(what string) {
	if r.opt.Hook != nil {
		r.opt.Hook(what)
	}
}

// Tick tries again what failed, asks after the disk, and notices a record that takes long.
func (r *Recorder) Tick(now time.Time) []any {
	var events []any
	r.Next(now)
	if r.writing != 0 && !r.slow && now.Sub(r.begun) > slowRecord {
		r.slow = true
		events = append(events, Said{"warn", fmt.Sprintf("a record takes longer than %v: the run is held until it is written", slowRecord)})
	}
	r.askSpace(now)
	r.look(now)
	return events
}

// Handle takes in a result of the pool; mine says that it was the recorder's. The events hold until the next call.
func (r *Recorder) Handle(now time.Time, result worker.Result) (events []any, mine bool) {
	switch v := result.Value.(type) {
	case *writing:
		// What is known of the files comes before the record is taken for done: what it
		// tells waits behind it.
		r.events = append(r.events[:0], r.files.follow(v.seen)...)
		first := r.queue[0]
		r.writing = 0
		if v.err != nil {
			r.events = append(r.events, r.unwritten(now, first, v.err)...)
			return r.events, true
		}
		r.queue = slices.Delete(r.queue, 0, 1)
		r.done = Written{first.Done, now.Sub(first.asked)}
		r.events = append(append(r.events, r.well(now)...), &r.done)
		return r.events, true
	case seen:
		r.files.looking = false
		return r.files.follow(v), true
	case free:
		return r.space.follow(v, r.opt.MinFree), true
	}
	return nil, false
}

// unwritten decides what follows an entry that could not be written.
func (r *Recorder) unwritten(now time.Time, first Entry, err error) (events []any) {
	ends := !r.opt.Wait || !passing(err)
	if ends || first.Hasty {
		r.queue = slices.Delete(r.queue, 0, 1)
	}
	if first.Hasty {
		events = append(events, Refused{first.Done, err})
	}
	if ends {
		return append(events, Failed{first.Done, first.What, err})
	}
	r.wait = min(max(2*r.wait, retryFirst), retryMost)
	r.next, r.why = now.Add(r.wait), err
	events = append(events, r.refuseHasty()...)
	if r.failedAt.IsZero() {
		r.failedAt = now
		events = append(events, Said{"error", fmt.Sprintf("the record cannot be written, and nothing moves before it can: %s: %v", first.What, err)})
	}
	return events
}

// refuseHasty takes out of the queue what does not wait for a disk that has failed.
func (r *Recorder) refuseHasty() (events []any) {
	kept := r.queue[:0]
	for _, e := range r.queue {
		if e.Hasty {
			events = append(events, Refused{e.Done, r.why})
			continue
		}
		kept = append(kept, e)
	}
	clear(r.queue[len(kept):])
	r.queue = kept
	return events
}

// passing reports whether an error of the journal may go away: the disk's, that of
// another program that has the file, or that of a file that was moved.
func passing(err error) bool {
	return errors.Is(err, disk.ErrIO) || errors.Is(err, store.ErrBusy) || errors.Is(err, journal.ErrMoved)
}

// well notes that an entry was written.
func (r *Recorder) well(now time.Time) (events []any) {
	if !r.failedAt.IsZero() {
		gone := now.Sub(r.failedAt)
		r.failedAt, r.wait, r.why = time.Time{}, 0, nil
		events = append(events, Said{"info", fmt.Sprintf("the record can be written again after %v; nothing that was due is missing", gone.Round(time.Millisecond))})
	}
	if r.slow {
		r.slow = false
		events = append(events, Said{"info", fmt.Sprintf("the record was written after %v", now.Sub(r.begun).Round(time.Millisecond))})
	}
	if r.lost > 0 && len(r.queue) < StoryMax/2 {
		events = append(events, Said{"warn", fmt.Sprintf("%d lines of the story were not recorded: too many waited for the disk", r.lost)})
		r.lost = 0
	}
	return events
}

// Problem says why the record cannot be relied on, "" where it can.
func (r *Recorder) Problem() string {
	switch {
	case r.files.held != "":
		return r.files.held
	case r.why != nil:
		return r.why.Error()
	case r.slow:
		return fmt.Sprintf("a record takes longer than %v", slowRecord)
	case r.space.short:
		return r.space.text(r.opt.MinFree)
	}
	return ""
}

// Owed is the error of a run that ends while entries wait, nil where none does.
func (r *Recorder) Owed() error {
	if len(r.queue) == 0 {
		return nil
	}
	why := r.why
	if why == nil {
		why = errors.New("the disk does not answer")
	}
	return fmt.Errorf("%d records could not be written before the end, the first: %s: %w", len(r.queue), r.queue[0].What, why)
}
