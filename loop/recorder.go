package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"

	"github.com/labtuner/tuner/loop/journal/disk"
)

const (
	// recordsMax bounds the lines of the story that wait for a disk. What the steps
	// themselves record waits beyond it: they stand still, so that is a handful.
	recordsMax = 1000
	// retryFirst is the wait before a record that failed is tried again, retryMost the
	// longest. Not longer: a disk that is back should not be waited for.
	retryFirst = 100 * time.Millisecond
	retryMost  = 10 * time.Second
	// slowRecord is how long a record may take before the run is held for it. Not
	// shorter: an SD card may take a second. Not longer: somebody should hear of it.
	slowRecord = 5 * time.Second
)

// due is something to be recorded.
type due struct {
	what string
	// write is called until it succeeds; it goes on where it failed.
	write func(*journal.Journal) error
	// then, if any, runs on the loop's goroutine once it is durable.
	then func()
	// story says that it is a line of the story, which may be lost when too many wait.
	story bool
	// failed, if any, is for what does not wait: it is told that the disk has failed,
	// and nothing is tried again.
	failed func(error)
	// lost, if any, is told that it will never be recorded, because the run ends for it.
	lost  func(error)
	asked time.Time
}

// needed reports whether a run cannot be replayed without the events of a kind: they
// are never lost.
func needed(kind string) bool { return kind == journal.EventAbandoned || kind == journal.EventStart }

// recorder is the queue of what is to be recorded. One record at a time is on the
// journal's lane; one that failed stays the first.
type recorder struct {
	queue   []due
	writing bool
	// since is when the first was begun, failed when the disk did; zero: it is well.
	since, failed time.Time
	why           error
	wait          time.Duration
	next          time.Time
	// slow says that the first takes long, lost how many lines of the story were lost.
	slow bool
	lost int
	// ending says that the story is over.
	ending bool
}

// record writes to the journal on its lane, in the order of the calls; then, if any,
// runs after the write has succeeded. A disk that fails holds the run until it is well
// again; another failure, or any where outages are not waited out, ends it.
func (l *Loop) record(what string, write func(*journal.Journal) error, then func()) {
	l.enqueue(due{what: what, write: write, then: then})
}

// enqueue adds to the queue and begins, if nothing else is being written.
func (l *Loop) enqueue(d due) {
	r := &l.recorder
	switch {
	case d.story && r.ending:
		return
	case d.story && len(r.queue) >= recordsMax:
		r.lost++
		return
	}
	if d.failed != nil && r.why != nil {
		d.failed(r.why)
		return
	}
	d.asked = l.now()
	r.queue = append(r.queue, d)
	l.writeNext()
}

// writeNext puts the first of the queue on the lane.
func (l *Loop) writeNext() {
	r := &l.recorder
	if r.writing || len(r.queue) == 0 || !r.failed.IsZero() && l.now().Before(r.next) {
		return
	}
	r.writing, r.since = true, l.now()
	first := r.queue[0]
	l.post(laneJournal, func() func() {
		err := l.onDisk("record", func() error { return first.write(l.deps.Journal) })
		heard := l.hearOfJournal()
		return func() {
			heard() // before this record is taken for done: what it tells waits behind it
			r.writing = false
			if err != nil {
				l.unrecorded(first, err)
				return
			}
			r.queue[0] = due{} // what it refers to can go
			r.queue = r.queue[1:]
			l.meterWrite(first.asked)
			l.recordsAgain()
			if first.then != nil {
				first.then()
			}
			l.writeNext()
		}
	})
}

// unrecorded decides what follows a record that could not be written.
func (l *Loop) unrecorded(d due, err error) {
	r := &l.recorder
	ends := !l.opt.Outages.Wait || !passing(err)
	if ends || d.failed != nil {
		r.queue = r.queue[1:]
	}
	if d.failed != nil {
		d.failed(err)
	}
	if ends {
		if d.lost != nil {
			d.lost(err)
		}
		l.fail(fmt.Errorf("%w: %s: %w", ErrJournal, d.what, err))
		l.writeNext()
		return
	}
	r.wait = min(max(2*r.wait, retryFirst), retryMost)
	r.next, r.why = l.now().Add(r.wait), err
	l.refuseQueued()
	if r.failed.IsZero() {
		r.failed = l.now()
		l.event("error", journal.EventDisk, fmt.Sprintf("the record cannot be written, and nothing moves before it can: %s: %v", d.what, err))
	}
}

// refuseQueued tells what does not wait that the disk has failed.
func (l *Loop) refuseQueued() {
	r := &l.recorder
	kept := r.queue[:0]
	for _, d := range r.queue {
		if d.failed != nil {
			d.failed(r.why)
			continue
		}
		kept = append(kept, d)
	}
	clear(r.queue[len(kept):])
	r.queue = kept
}

// passing reports whether an error of the journal may go away: the disk's, that of
// another program that has the file, or that of a file that was moved.
func passing(err error) bool {
	return errors.Is(err, disk.ErrIO) || errors.Is(err, journal.ErrBusy) || errors.Is(err, journal.ErrMoved)
}

// recordsAgain notes that a record was written.
func (l *Loop) recordsAgain() {
	r := &l.recorder
	if !r.failed.IsZero() {
		gone := l.now().Sub(r.failed)
		r.failed, r.wait, r.why = time.Time{}, 0, nil
		l.event("info", journal.EventDisk, fmt.Sprintf("the record can be written again after %v; nothing that was due is missing", gone.Round(time.Millisecond)))
	}
	if r.slow {
		r.slow = false
		l.event("info", journal.EventDisk, fmt.Sprintf("the record was written after %v", l.now().Sub(r.since).Round(time.Millisecond)))
	}
	if r.lost > 0 && len(r.queue) < recordsMax/2 {
		n := r.lost
		r.lost = 0
		l.event("warn", journal.EventDisk, fmt.Sprintf("%d lines of the story were not recorded: too many waited for the disk", n))
	}
}

// watchRecorder tries again what failed, and holds the run for a record that takes long.
func (l *Loop) watchRecorder(now time.Time) {
	r := &l.recorder
	l.writeNext()
	if r.writing && !r.slow && now.Sub(r.since) > slowRecord {
		r.slow = true
		l.event("warn", journal.EventDisk, fmt.Sprintf("a record takes longer than %v: the run is held until it is written", slowRecord))
	}
}

// unrecordable adds rule 24 while the record cannot be relied on.
func (l *Loop) unrecordable(c *safety.Causes) {
	if l.diskHolds() {
		c.Add(safety.RuleRecord, 0)
	}
}

// diskHolds reports whether the run is held for the disk.
func (l *Loop) diskHolds() bool {
	r := &l.recorder
	return !r.failed.IsZero() || r.slow || l.space.short || l.keepFailed || l.files.words() != ""
}

// diskWords say why.
func (l *Loop) diskWords() string {
	switch r := &l.recorder; {
	case l.files.words() != "":
		return l.files.words()
	case r.why != nil:
		return r.why.Error()
	case r.slow:
		return fmt.Sprintf("a record takes longer than %v", slowRecord)
	case l.space.short:
		return l.space.words(l.opt.Outages.MinFree)
	}
	return "the control state cannot be written"
}

// owed is the error of a run that ends with records that were not written.
func (l *Loop) owed() error {
	r := &l.recorder
	var unkept error
	if l.keeping || l.keepFailed {
		unkept = fmt.Errorf("%w: %w", ErrJournal, ErrUnkept)
	}
	if len(r.queue) == 0 {
		return unkept
	}
	return errors.Join(unkept, r.owes())
}

// ErrUnkept: a run ended while its control state could not be written.
var ErrUnkept = errors.New("the control state could not be written before the end: it says less than has been latched and dosed, so the next start may be refused until a reset")

// owes says which records were not written.
func (r *recorder) owes() error {
	return fmt.Errorf("%w: %d records could not be written before the end, the first: %s: %w", ErrJournal, len(r.queue), r.queue[0].what, r.cause())
}

func (r *recorder) cause() error {
	if r.why == nil {
		return errors.New("the disk does not answer")
	}
	return r.why
}

// onDisk writes, on a lane.
func (l *Loop) onDisk(what string, write func() error) error {
	if l.deps.Disk == nil {
		return write()
	}
	l.deps.Disk(what)
	err := write()
	l.deps.Disk(what) // what is durable is not told of at once
	return err
}
