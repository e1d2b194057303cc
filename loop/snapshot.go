package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// publish replaces the panel's status by the present one.
func (l *Loop) publish(now time.Time) { l.published(now) }

// published does so, and returns it; nil where there is no panel.
func (l *Loop) published(now time.Time) *control.Status {
	p := l.deps.Panel
	if p == nil {
		return nil
	}
	s := l.snapshot(now, p.Status().Session)
	p.Show(s)
	return s
}

// state is one word for where the run stands.
func (l *Loop) state() string {
	mode := l.guard.Mode()
	switch {
	case l.phase == closed:
		return control.StateEnded
	case mode >= safety.Tripped:
		return l.guard.Word()
	case l.phase >= resting:
		return control.StateEnding
	case l.phase <= booting:
		return control.StateStarting
	case l.opt.Mode == plan.Shadow:
		return control.StateRunning
	}
	return l.guard.Word()
}

// stateWords is the state, and why where there is a reason.
func (l *Loop) stateWords() string {
	word := l.state()
	switch {
	case l.guard.Mode() == safety.Hold && l.guard.Paused():
		return "paused"
	case l.guard.Mode() == safety.Hold && word != control.StateEnding:
		return word + ": " + l.guard.Active()
	case l.guard.Mode() >= safety.Fallback && word != control.StateEnding && word != control.StateEnded:
		return word + ": " + l.guard.Story()
	}
	return word
}

// phaseWords is where the step is. A run that had fallen back and was reset waits as one that
// has not begun does.
func (l *Loop) phaseWords() string {
	if l.phase == fallen && l.guard.Mode() == safety.Idle {
		return idling.String()
	}
	return l.phase.String()
}

// snapshot is the run now.
func (l *Loop) snapshot(now time.Time, session string) *control.Status {
	o := &l.opt
	s := &control.Status{Session: session, Run: o.Run.ID, Name: o.Run.Name, Site: o.Run.Site, Journal: o.Run.Journal,
		Mode: o.Mode, DryRun: o.Mode == plan.Shadow, State: l.state(), Paused: l.guard.Paused(), PausedBy: l.orders.pausedBy,
		Phase: l.phaseWords(), PhaseFor: control.Seconds(max(now.Sub(l.since), 0)),
		Causes: l.guard.All(), FirstOut: l.guard.FirstOut(), Reason: l.ending.reason,
		Started: control.InstantOf(journal.Stamp{Wall: l.start}), Ticked: control.InstantOf(l.stamp()),
		Step: l.number, Steps: l.stepper.searched(), Struck: l.stepper.changes.all.StruckSteps(), Failures: l.stepper.failures, FailureLimit: o.FailureLimit,
		Spent: journal.Number(l.stepper.ledger.Spent.Float()), Budget: journal.Number(o.Stop.Cost), CostUnit: o.Cost.Unit, StepLimit: o.Stop.Steps,
		Elapsed: control.Seconds(l.ran(now)), TimeLimit: control.Seconds(o.Stop.Time), Left: journal.Number(math.NaN()),
		Objective: control.ObjectiveStatus{Name: o.Objective.Name, Unit: o.Objective.Unit, Minimize: o.Objective.Minimize},
		Decision:  l.stepper.decisionStatus(o, l.instrument), Outcome: l.stepper.outcomeStatus(), Recommended: l.stepper.recommendedStatus(o), Comparison: l.stepper.comparisonStatus()}
	if l.ending.err != nil {
		s.Error = l.ending.err.Error()
	}
	if left := l.stepper.left(o, l.ran(now)); left >= 0 && l.phase < resting {
		s.Left = control.Seconds(left)
	}
	since := l.since
	if l.phase > booting && l.phase < resting && o.Mode != plan.Shadow {
		since = l.guard.Since(now)
	}
	s.Since, s.For = since.Round(0).UTC(), control.Seconds(now.Sub(since))
	s.Variables, s.Sensors = l.instrument.Variables(o, now, l.guard.Range), l.instrument.Sensors(o, now)
	s.Constraints, s.Doses = control.ConstraintsOf(o, s.Sensors), l.guard.Doses()
	s.Devices, s.Disk = l.instrument.Devices(now), l.diskStatus()
	return s
}

// diskStatus is how the disk stands.
func (l *parts) diskStatus() control.DiskStatus {
	problem := l.diskProblem()
	d := control.DiskStatus{Due: l.recorder.Due(), Held: problem != "", Problem: problem, Free: journal.Number(math.NaN()), Least: journal.Number(l.opt.Outages.MinFree)}
	if bytes, known := l.recorder.Free(); known {
		d.Free = journal.Number(bytes)
	}
	return d
}

// draw has the model drawn while the instrument moves or is measured, never while a
// decision is due, and only if a person has asked for it lately.
func (l *Loop) draw(now time.Time) {
	if l.phase >= moving && l.phase <= measuring && l.deps.Panel.WantsPicture(now) {
		o := l.opt // a change replaces it meanwhile
		l.advisor.Draw(&o, l.stepper.steps)
	}
}

// drawn shows the model.
func (l *parts) drawn(d advisor.Drawn) {
	if d.Err != nil {
		l.deps.logger().Warn("the model cannot be drawn", "error", d.Err)
		return
	}
	l.deps.Panel.ShowPicture(&d.Picture)
}
