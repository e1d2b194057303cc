package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// Machine tells the time since the machine's start, by a clock that nobody can set:
// what was dosed an hour ago is told from what was dosed just now.
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

// restore begins with what was latched and dosed before. It refuses a run while
// anything is latched: a crash is no reset.
func (l *Loop) restore() error {
	l.durable = safety.Undurable
	if l.opt.Mode == plan.Shadow {
		return nil
	}
	if l.deps.Control == nil {
		return l.countStart(controlstate.State{})
	}
	s := l.deps.Control.State()
	if err := Latched(s); err != nil {
		return err
	}
	l.otherDoses, l.commandsBefore = s.Doses, s.Commands
	saved := safety.Saved{Generation: s.Generation, At: s.At}
	for k, d := range l.limits.Doses {
		if dose, ok := s.Doses[l.opt.Variables[d.Variable].Name]; ok {
			dose.Granted = false // proposals are numbered anew
			if s.Run != "" && s.Run != l.deps.Run {
				dose.Total = 0 // of another run; hours, days and bottles go on
			}
			saved.Dose[k] = dose
		}
	}
	l.safety, l.bootedFrom = safety.Boot(saved), saved
	l.base = s.At + l.deps.Machine.since(&s)
	l.durable = l.safety.Generation
	for i := range l.limits.Bypasses {
		l.limits.Bypasses[i].Until += l.base
	}
	return l.countStart(s)
}

// Latched says what keeps a run from starting, nil if nothing does: what the safety
// layer has latched, and doses whose outcome was not recorded.
func Latched(s controlstate.State) error {
	if len(s.Latched) > 0 {
		return fmt.Errorf("%w: %s since %s: %s", ErrLatched, strings.ToLower(s.Mode), s.Wall.Format(time.RFC3339), ListCauses(s.FirstOut))
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

// ListCauses names causes for a person.
func ListCauses(causes []controlstate.Cause) string {
	names := make([]string, len(causes))
	for i, c := range causes {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
}

// keep makes latches and doses durable, on a lane of its own: a slow journal does
// not hold it up. Output that must wait for it waits in the safety layer. While one state
// is being written the next one waits, and is the newest then: a disk that hangs has one
// state, not a queue of them.
func (l *Loop) keep() {
	if l.deps.Control == nil {
		return
	}
	saved := l.safety.Save()
	l.kept = l.now()
	state := l.controlState(saved)
	l.markLatch(&state)
	if l.keepNext = l.keeping; l.keepNext {
		return
	}
	l.keeping = true
	l.failpoint("control-changed")
	l.post(laneControl, func() func() {
		err := l.onDisk("control state", func() error { return l.deps.Control.Write(state) })
		return func() {
			l.keeping = false
			switch {
			case err == nil:
				l.durable = max(l.durable, saved.Generation)
				if l.keepFailed {
					l.keepFailed = false
					l.event("info", journal.EventDisk, "the control state can be written again")
				}
				l.failpoint("control-durable")
			case !l.opt.Outages.Wait:
				l.fail(fmt.Errorf("%w: %w", ErrJournal, err))
			case !l.keepFailed:
				l.keepFailed = true
				l.event("error", journal.EventDisk, err.Error())
			}
			if l.keepNext {
				l.keep()
			}
			l.closeSettled()
		}
	})
}

// markUnderway has the control state say once in a process that there is a run with a step:
// a start that finds no journal then knows that there was one.
func (l *Loop) markUnderway() {
	if !l.underway {
		l.underway = true
		l.keep()
	}
}

// markLatch notes at once that something is latched, on a lane that nothing else waits in:
// a disk that is slow may take longer with the state than the process lives.
func (l *Loop) markLatch(state *controlstate.State) {
	latched := len(state.Latched) > 0
	if latched && !l.marked {
		l.marks++
		n := l.marks
		l.post(laneMark, func() func() {
			err := l.deps.Control.MarkAhead(n)
			return func() {
				if err != nil {
					l.event("error", journal.EventDisk, err.Error())
				}
			}
		})
	}
	l.marked, state.Marks = latched, l.marks
}

// keepAgain tries again to make latches and doses durable, every second.
func (l *Loop) keepAgain(now time.Time) {
	if l.keepFailed && l.phase < closing && now.Sub(l.kept) >= time.Second {
		l.keep()
	}
}

// controlState is what is written of a saved state, by names, so that it outlives
// changes of the configuration.
func (l *Loop) controlState(saved safety.Saved) controlstate.State {
	s := controlstate.State{Wall: l.now().Round(0).UTC(), BootID: l.deps.Machine.BootID, Uptime: l.deps.Machine.uptime(), At: saved.At,
		Mode: l.safety.Mode.String(), Latched: l.named(saved.Latched), FirstOut: l.named(saved.FirstOut),
		Doses: maps.Clone(l.otherDoses), Run: l.deps.Run, Underway: l.underway || l.steps > 0, Starts: l.starts, Commands: l.deps.Panel.Remembered(l.commandsBefore)}
	if s.Doses == nil {
		s.Doses = map[string]safety.DoseState{}
	}
	for k, d := range l.limits.Doses {
		s.Doses[l.opt.Variables[d.Variable].Name] = saved.Dose[k]
	}
	return s
}

// named lists causes with what they are about.
func (l *Loop) named(c safety.Causes) (out []controlstate.Cause) {
	for r, i := range c.All() {
		out = append(out, controlstate.Cause{Rule: r, Name: r.String(), Of: l.subject(r, i)})
	}
	return out
}

// subject names what a cause is about.
func (l *Loop) subject(r safety.Rule, i int) string {
	pick := func(names []string) string {
		if i < len(names) {
			return names[i]
		}
		return ""
	}
	conditions := func(list []safety.Condition) (names []string) {
		for _, c := range list {
			names = append(names, l.opt.Sensors[c.Sensor].Name)
		}
		return names
	}
	switch r {
	case safety.RuleStale, safety.RuleRange, safety.RuleSpike, safety.RuleStuck, safety.RuleDisagree:
		return pick(mapNames(l.opt.Sensors, func(s *plan.Sensor) string { return s.Name }))
	case safety.RuleInterlock:
		return pick(conditions(l.limits.Interlocks))
	case safety.RulePermissive:
		return pick(conditions(l.limits.Permissives))
	case safety.RuleFinite, safety.RuleAssert, safety.RuleReadback, safety.RuleOverride, safety.RuleExposure:
		return pick(mapNames(l.opt.Variables, func(v *plan.Variable) string { return v.Name }))
	case safety.RuleResponse:
		return pick(mapNames(l.limits.Responses, func(r *safety.ResponseLimits) string { return l.opt.Variables[r.Variable].Name }))
	case safety.RuleBudget, safety.RuleUnknownDose:
		return pick(mapNames(l.limits.Doses, func(d *safety.DoseLimits) string { return l.opt.Variables[d.Variable].Name }))
	case safety.RuleComms, safety.RuleInstrument:
		return pick(mapNames(l.deps.Devices, func(d *Device) string { return d.Name }))
	}
	return ""
}

func mapNames[T any](list []T, name func(*T) string) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		out = slices.Insert(out, i, name(&list[i]))
	}
	return out
}

// Away is the least time that has passed since a state was written.
func Away(m Machine, s controlstate.State) time.Duration { return m.since(&s) }
