package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/safety"
)

const startsWindow = time.Hour

// countStart decides whether the run may begin by itself. A start that may is durable
// before it acts: a process that dies at once is counted too.
func (l *Loop) countStart(s controlstate.State) error {
	recent := s.Starts[:0:0]
	for _, at := range s.Starts {
		if l.base-at < startsWindow {
			recent = append(recent, at)
		}
	}
	l.starts = recent
	switch {
	case l.opt.Start == plan.StartHold:
		l.waits = "nothing is driven until resume"
		return nil
	case l.opt.Start != plan.StartRun:
		return nil
	case len(recent) >= plan.StartsMax:
		l.waits = fmt.Sprintf("%d automatic starts within the hour: this one drives nothing until resume", len(recent))
		return nil
	}
	if l.deps.Control == nil {
		return nil // nothing outlives this run, so nothing can be counted
	}
	l.starts = append(recent, l.base)
	s.Starts, s.At = l.starts, l.base
	s.Wall, s.BootID, s.Uptime = l.now().Round(0).UTC(), l.deps.Machine.BootID, l.deps.Machine.uptime()
	return l.deps.Control.Write(s)
}

// idle waits for a resume: actuators and sensors are read, and nothing is written.
func (l *Loop) idle(now time.Time) {
	l.guard(now, safety.CommandNone)
	l.told = l.safety.Mode
	l.enter(idling)
	l.event("warn", journal.EventSafety, "waiting: "+l.waits)
}

// begun ends the wait.
func (l *Loop) begun(now time.Time) {
	l.waited, l.waits = now.Sub(l.since), ""
	l.event("info", journal.EventSafety, "resumed: the run begins")
	l.booted()
}

// tellWaited records how long the run had waited, after the first decision: without one
// there is no step whose time it is part of.
func (l *Loop) tellWaited() {
	if l.waited > 0 && !l.toldWait {
		l.toldWait = true
		l.event("info", journal.EventWaited, fmt.Sprintf(replay.WaitedWords, l.waited))
	}
}

// keepEvery is how often the control state is written though nothing in it has changed:
// its time is what doses and starts grow old by. Not more often: a card wears. Not less:
// after a crash that time is lost, and budgets and starts count for longer.
const keepEvery = 5 * time.Minute

// keepSoon is how long what a transport wants remembered may wait: many commands make one
// writing.
const keepSoon = time.Second

// keepTime makes the safety layer's time durable now and then.
func (l *Loop) keepTime(now time.Time) {
	if l.deps.Control == nil || l.opt.Mode != plan.Live || l.phase <= booting || l.phase >= closing {
		return
	}
	if age := now.Sub(l.kept); age >= keepEvery || age >= keepSoon && l.deps.Panel.TakeUnkept() {
		l.keep()
	}
}
