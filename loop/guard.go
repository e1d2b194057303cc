package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
)

// safeTime is a time by the safety layer's clock, which goes on over restarts.
// It is rounded down to what the tape keeps: nothing grows younger by it.
func (l *Loop) safeTime(t time.Time) time.Duration { return trace.Round(l.base + t.Sub(l.start)) }

// guard passes one tick through the safety layer and writes what comes out. Nothing
// reaches an actuator except from here.
func (l *Loop) guard(now time.Time, command safety.Command) {
	if l.opt.Mode == plan.Shadow {
		return
	}
	l.ownStall(now) // also before what a command brings between two ticks
	l.instrument.RepeatRest(l.present())
	in, p := l.inputs(now, command), l.instrument.Wish(int64(l.steps)+1)
	generation, mode := l.safety.Generation, l.safety.Mode
	v := trace.Tick{Now: l.safeTime(now), In: in, P: p}
	v.Out = l.safety.Advance(&l.limits, &v.In, &v.P, v.Now)
	out := v.Out
	l.out = out
	l.instrument.Rule(l.present(), &out, l.safety.Mode != mode)
	if l.trace.Tick(&v) {
		l.saveTrace()
	}
	if l.safety.Generation != generation {
		l.keep()
	}
	for _, d := range l.instrument.Apply(l.present(), &out) {
		l.intendDose(d)
	}
	l.sensed(l.instrument.GoOn(l.present()))
}

// inputs is what the safety layer is told in this tick.
func (l *Loop) inputs(now time.Time, command safety.Command) safety.Inputs {
	in := l.instrument.Inputs(l.present(), l.safeTime)
	in.Command, in.Durable, in.Ready = command, l.durable, in.Ready && l.phase >= booting
	found := l.found()
	for r := range found {
		in.Faults[r] |= found[r]
	}
	return in
}

// found is what the loop itself holds against the run.
func (l *Loop) found() safety.Causes {
	c := l.faults
	l.foundOutside(&c)
	if l.spell.on {
		c.Add(safety.RuleInstrument, l.spell.device)
	}
	l.unrecordable(&c)
	return c
}
