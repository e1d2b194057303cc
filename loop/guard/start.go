package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// ErrLatched: an earlier run was, and nobody has reset it.
var ErrLatched = errors.New("still latched")

// Machine tells the time since the machine's start, by a clock that nobody can set:
// what was dosed an hour ago counts otherwise than what was dosed just now.
type Machine struct {
	// BootID names the boot, "" where it is unknown.
	BootID string
	// Uptime since then.
	Uptime func() time.Duration
}

// uptime is 0 where nobody knows: then a restart counts no time.
func (m *Machine) uptime() time.Duration {
	if m.Uptime == nil {
		return 0
	}
	return m.Uptime()
}

// since is the least time that has passed since a state was written: within one
// boot the difference of the uptimes, else the time since this boot.
func (m *Machine) since(s *controlstate.State) time.Duration {
	if m.BootID == "" {
		return 0
	}
	if s.BootID == m.BootID {
		return max(m.uptime()-s.Uptime, 0)
	}
	return m.uptime()
}

// Away is the least time that has passed since a state was written.
func Away(m Machine, s controlstate.State) time.Duration { return m.since(&s) }

// restore begins with what was latched and dosed before.
func (g *Guard) restore() error {
	k := &g.saver
	k.durable = safety.Undurable
	if g.plan.Mode == plan.Shadow {
		return nil
	}
	if k.file == nil {
		return g.countStart(controlstate.State{})
	}
	s := k.file.State()
	if err := Latched(s); err != nil {
		return err
	}
	k.others, k.commands = s.Doses, s.Commands
	saved := safety.Saved{Generation: s.Generation, At: s.At}
	for i, d := range g.limits.Doses {
		if dose, ok := s.Doses[g.plan.Variables[d.Variable].Name]; ok {
			dose.Granted = false // proposals are numbered anew
			if s.Run != "" && s.Run != g.opt.Run {
				dose.Total = 0 // of another run; hours, days and bottles go on
			}
			saved.Dose[i] = dose
		}
	}
	g.state, g.from = safety.Boot(saved), saved
	g.base = s.At + g.opt.Machine.since(&s)
	k.durable = g.state.Generation
	for i := range g.limits.Bypasses {
		g.limits.Bypasses[i].Until += g.base
	}
	return g.countStart(s)
}

// Latched says what keeps a run from starting, nil if nothing does: what the safety
// layer has latched, and doses whose outcome was not recorded.
func Latched(s controlstate.State) error {
	if len(s.Latched) > 0 {
		return fmt.Errorf("%w: %s since %s: %s", ErrLatched, strings.ToLower(s.Mode), s.Wall.Format(time.RFC3339), listCauses(s.FirstOut))
	}
	var open []string
	for name, d := range s.Doses {
		if d.Open || d.Unknown {
			open = append(open, safety.RuleUnknownDose.String()+" of "+name)
		}
	}
	if len(open) > 0 {
		slices.Sort(open)
		return fmt.Errorf("%w: the last run ended during a dose, which counts as delivered: %s", ErrLatched, strings.Join(open, ", "))
	}
	return nil
}

// Reset returns the control state with nothing latched. What was dosed stays, and an
// unknown dose counts as delivered.
func Reset(s controlstate.State) controlstate.State {
	s.Latched, s.FirstOut, s.Mode = nil, nil, safety.Idle.String()
	doses := map[string]safety.DoseState{}
	for name, d := range s.Doses {
		d.Deliver(s.At)
		d.Open, d.Unknown, d.Granted = false, false, false
		doses[name] = d
	}
	s.Doses = doses
	return s
}

// listCauses names causes for a person.
func listCauses(causes []controlstate.Cause) string {
	names := make([]string, len(causes))
	for i, c := range causes {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
}

// startsWindow is the time within which automatic starts count.
const startsWindow = time.Hour

// countStart decides whether the run may begin by itself. A start that may is durable
// before it acts: a process that dies at once is counted too.
func (g *Guard) countStart(s controlstate.State) error {
	k := &g.saver
	recent := s.Starts[:0:0]
	for _, at := range s.Starts {
		if g.base-at < startsWindow {
			recent = append(recent, at)
		}
	}
	k.starts = recent
	switch {
	case g.plan.Start == plan.StartHold:
		k.waits = "nothing is driven until resume"
		return nil
	case g.plan.Start != plan.StartRun:
		return nil
	case len(recent) >= plan.StartsMax:
		k.waits = fmt.Sprintf("%d automatic starts within the hour: this one drives nothing until resume", len(recent))
		return nil
	}
	if k.file == nil {
		return nil // nothing outlives this run, so nothing can be counted
	}
	k.starts = append(recent, g.base)
	s.Starts, s.At = k.starts, g.base
	s.Wall, s.BootID, s.Uptime = g.opt.Clock.Now().Round(0).UTC(), g.opt.Machine.BootID, g.opt.Machine.uptime()
	return k.file.Write(s)
}

// Waits says why the run stays still until a resume, "" if it does not.
func (g *Guard) Waits() string { return g.saver.waits }
