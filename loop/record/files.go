package record

import (
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// lookEvery is how often the names of the journal are compared with the open files. Not
// more seldom: what is recorded after a deletion and before it is noticed would not
// outlive a power cut.
const lookEvery = time.Second

// files is what is known of the journal's files.
type files struct {
	looking bool
	asked   time.Time
	// held says why the run waits for the journal, "" if it does not.
	held string
}

// seen is what has become of the journal's files.
type seen struct {
	held string
	news []journal.News
}

// lookOf gathers it, on the journal's worker.
func lookOf(j *journal.Journal) seen { return seen{j.Held(), j.News()} }

// look has the journal see, every second, whether it still is where it belongs.
func (r *Recorder) look(now time.Time) {
	f := &r.files
	if !r.opt.Look || !f.asked.IsZero() && now.Sub(f.asked) < lookEvery {
		return
	}
	f.asked = now
	if f.looking {
		return
	}
	f.looking = true
	r.pool.Post(r.opt.Lane, func() any {
		_ = r.journal.Look() // what it could not put right, Held says
		return lookOf(r.journal)
	})
}

// follow tells what has become of the journal's files, and holds the run or lets it go on.
func (f *files) follow(s seen) (events []any) {
	before := f.held
	f.held = s.held
	for _, n := range s.news {
		events = append(events, Said{n.Level, n.Message})
	}
	switch {
	case s.held != "" && before == "":
		events = append(events, Said{"error", "the run is held: " + s.held})
	case s.held == "" && before != "":
		events = append(events, Said{"info", "the journal's file is in order again"})
	}
	return events
}
