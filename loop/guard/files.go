package guard

import (
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// controlFiles is what is known of the control state's files.
type controlFiles struct {
	looking bool
	asked   time.Time
	// held says why the run waits for them, "" if it does not.
	held string
}

// seen is what has become of them.
type seen struct {
	found string
	err   error
}

// lookEvery is how often the control state's files are looked at.
const lookEvery = time.Second

// Look has the control state see, every second, whether its copies are still there.
func (g *Guard) Look(now time.Time) {
	k, f := &g.saver, &g.saver.files
	if g.plan.Mode == plan.Simulate || k.file == nil || f.looking || !f.asked.IsZero() && now.Sub(f.asked) < lookEvery {
		return
	}
	f.asked, f.looking = now, true
	k.pool.Post(g.opt.Lane, func() any {
		found, err := k.file.Look()
		return seen{found, err}
	})
}

// saw tells what has become of the control state.
func (f *controlFiles) saw(s seen) (events []any) {
	before := f.held
	f.looking, f.held = false, ""
	switch {
	case s.err != nil:
		if f.held = s.err.Error(); before == "" {
			events = append(events, Said{"error", journal.EventDisk, "the run is held: " + f.held})
		}
		return events
	case s.found != "":
		events = append(events, Said{"warn", journal.EventDisk, "the control state " + s.found + ": it was written again, nothing is missing"})
	}
	if before != "" {
		events = append(events, Said{"info", journal.EventDisk, "the control state can be kept again"})
	}
	return events
}
