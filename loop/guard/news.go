package guard

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// news is what the run's story knows of the safety layer: the mode that was reported last,
// and the rules that are set aside.
type news struct {
	mode  safety.Mode
	aside safety.Reasons
}

// modeWords say what a mode means for the run.
var modeWords = map[safety.Mode]string{safety.Run: "running", safety.Hold: "held", safety.Fallback: "fallen back",
	safety.Tripped: "tripped", safety.Stopped: "stopped", safety.Armed: "armed", safety.Idle: "disarmed", safety.Init: "starting"}

// Word says what the present mode means for the run.
func (g *Guard) Word() string { return modeWords[g.state.Mode] }

// Quiet takes the present mode as reported.
func (g *Guard) Quiet() { g.news.mode = g.state.Mode }

// Alarm: the run is held or its actuators have been taken away, for those who count.
type Alarm struct {
	Mode   string
	Causes []control.Cause
}

// Fallen: the actuators have been taken away, and why in words; latched, so that only a reset
// lets the run go on.
type Fallen struct {
	Latched bool
	Message string
}

// News tells that the mode has changed since News was asked last, and why, and which
// bypasses have ended; resting says that the run is ending anyway, and only a trip is news.
func (g *Guard) News(resting bool) (events []any) {
	if g.news.mode != g.state.Mode {
		events = g.tellMode(resting)
	}
	for r := range safety.RuleCount {
		if g.news.aside.Has(r) && !g.out.Bypassed.Has(r) {
			g.news.aside &^= 1 << r
			events = append(events, Said{"info", journal.EventSafety, fmt.Sprintf("rule %d (%v) holds again: its bypass has ended", safety.About(r).Number, r)})
		}
	}
	return events
}

// tellMode tells that the mode has changed, and why.
func (g *Guard) tellMode(resting bool) (events []any) {
	before, mode := g.news.mode, g.state.Mode
	g.news.mode = mode
	if mode == safety.Hold && !g.state.Paused || mode >= safety.Fallback && !g.state.Ending {
		events = append(events, Alarm{modeWords[mode], g.FirstOut()})
	}
	switch {
	case mode == safety.Run && before == safety.Hold:
		events = append(events, Said{"info", journal.EventSafety, "the hold is over: going on"})
	case mode == safety.Hold && g.state.Paused:
		events = append(events, Said{"info", journal.EventSafety, "paused"})
	case mode == safety.Hold:
		events = append(events, Said{"warn", journal.EventSafety, "held: " + g.Causes(g.state.FirstOut)})
	case mode >= safety.Fallback && !g.state.Ending && (!resting || mode == safety.Tripped):
		events = append(events, Fallen{mode >= safety.Tripped, modeWords[mode] + ": " + g.Story()})
	}
	return events
}

// Bypasses tells which rules are set aside, and who answers for it.
func (g *Guard) Bypasses() (said []Said) {
	for i, b := range g.plan.Safety.Bypasses {
		until := g.limits.Bypasses[i].Until - g.base
		if until <= 0 {
			continue
		}
		g.news.aside |= 1 << b.Rule
		said = append(said, Said{"warn", journal.EventSafety, fmt.Sprintf("rule %d (%v) is set aside for %v by %s: %s",
			safety.About(b.Rule).Number, b.Rule, until.Round(time.Second), b.Who, b.Why)})
	}
	return said
}
