package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// filesEvery is how often the names of the journal and of the control state are compared
// with the open files. Not more seldom: what is recorded after a deletion and before it is
// noticed would not outlive a power cut.
const filesEvery = time.Second

// whereabouts is what is known of the files of the record.
type whereabouts struct {
	// looking and asked are for the journal, lookingControl and askedControl for the
	// control state: each is looked at by the goroutine that writes it.
	looking, lookingControl bool
	asked                   time.Time
	// held says why the run waits for the journal, "" if it does not; controlHeld likewise.
	held, controlHeld string
}

// words say why the run waits, "" if it does not.
func (w *whereabouts) words() string {
	if w.held != "" {
		return w.held
	}
	return w.controlHeld
}

// watchFiles sees every second whether the record still is where it belongs. A simulation
// sees it at each record.
func (l *Loop) watchFiles(now time.Time) {
	w := &l.files
	if l.opt.Mode == plan.Simulate || !w.asked.IsZero() && now.Sub(w.asked) < filesEvery {
		return
	}
	w.asked = now
	l.lookAtJournal()
	l.lookAtControl()
}

// lookAtJournal has the journal see whether it is still at its name.
func (l *Loop) lookAtJournal() {
	w := &l.files
	if w.looking {
		return
	}
	w.looking = true
	l.post(laneJournal, func() func() {
		_ = l.deps.Journal.Look() // what it could not put right, Held says
		heard := l.hearOfJournal()
		return func() {
			w.looking = false
			heard()
		}
	})
}

// hearOfJournal gathers, on the journal's lane, what has become of its files, and returns
// what tells it.
func (l *Loop) hearOfJournal() (tell func()) {
	held, news := l.deps.Journal.Held(), l.deps.Journal.News()
	return func() { l.heardOfJournal(held, news) }
}

// heardOfJournal tells what has become of the journal's files, and holds the run or lets it
// go on.
func (l *Loop) heardOfJournal(held string, news []journal.News) {
	w := &l.files
	before := w.held
	w.held = held // first: what follows may ask whether the run is held
	for _, n := range news {
		l.event(n.Level, journal.EventDisk, n.Message)
	}
	switch {
	case held != "" && before == "":
		l.event("error", journal.EventDisk, "the run is held: "+held)
	case held == "" && before != "":
		l.event("info", journal.EventDisk, "the journal is at its name again")
	}
}

// lookAtControl has the control state see whether its copies are still there.
func (l *Loop) lookAtControl() {
	w := &l.files
	if l.deps.Control == nil || w.lookingControl {
		return
	}
	w.lookingControl = true
	l.post(laneControl, func() func() {
		found, err := l.deps.Control.Look()
		return func() {
			w.lookingControl = false
			l.heardOfControl(found, err)
		}
	})
}

// heardOfControl tells what has become of the control state.
func (l *Loop) heardOfControl(found string, err error) {
	w := &l.files
	before := w.controlHeld
	w.controlHeld = ""
	switch {
	case err != nil:
		if w.controlHeld = err.Error(); before == "" {
			l.event("error", journal.EventDisk, "the run is held: "+w.controlHeld)
		}
		return
	case found != "":
		l.event("warn", journal.EventDisk, "the control state "+found+": it was written anew, nothing is missing")
	}
	if before != "" {
		l.event("info", journal.EventDisk, "the control state can be kept again")
	}
}
