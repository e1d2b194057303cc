package loop

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// shot is one value of the objective with everything of the same instant.
type shot struct {
	at time.Time
	// objective in the user's sense; x has one entry per variable, sensors one per
	// sensor (NaN: no data).
	objective  float64
	x, sensors []float64
	stamp      journal.Stamp
}

// measure begins to take shots: what is asked for and answered from now on
// belongs to the setting.
func (l *Loop) measure(now time.Time) {
	l.step.settleEnd = now
	l.step.waitedFrom = now
	l.enter(measuring)
}

// offerShot makes a shot of a new value of the objective. It waits for sensors of
// other devices that are late by no more than their skew.
func (l *Loop) offerShot(renewed []int, at, asked time.Time) {
	s := &l.step
	if at.Before(s.settleEnd) || asked.Before(s.settleEnd) {
		return
	}
	if slices.Contains(renewed, l.opt.Objective.Uses[0]) {
		s.pending = &shot{at: at}
	}
	l.tryShot()
}

// tryShot completes the pending shot if everything it needs is there.
func (l *Loop) tryShot() {
	s := &l.step
	if s.pending == nil || !l.fill(s.pending) {
		return
	}
	p := s.pending
	s.pending = nil
	y, err := l.opt.Objective.Of(p.sensors)
	if err != nil || math.IsNaN(y) || math.IsInf(y, 0) {
		return // no data: the wait for the next value goes on
	}
	p.objective, p.stamp = y, l.stamp()
	s.shots = append(s.shots, *p)
	s.waitedFrom = l.now()
	if len(s.shots) >= l.wantedShots() {
		l.conclude("")
	}
}

// noShot ends the step with what it has: the instrument says that no value comes of
// what was asked.
func (l *Loop) noShot(asked time.Time, why error) {
	s := &l.step
	if l.phase != measuring || l.held || asked.Before(s.settleEnd) {
		return
	}
	problem := ""
	if len(s.shots) == 0 {
		problem = "no data: " + why.Error()
	}
	l.conclude(problem)
}

// fill gathers the values of the shot's instant; it reports false while one that
// is needed is missing.
func (l *Loop) fill(p *shot) bool {
	p.sensors = make([]float64, len(l.opt.Sensors))
	for i := range l.opt.Sensors {
		v := &l.opt.Sensors[i]
		e := l.instrument.Sensor(i)
		p.sensors[i] = math.NaN()
		if e.Belongs(p.at, v.MaxAge, v.MaxSkew) {
			p.sensors[i] = e.Value
		} else if slices.Contains(l.opt.Objective.Uses, i) {
			return false
		}
	}
	p.x = make([]float64, len(l.opt.Variables))
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		e := l.instrument.Variable(i)
		switch {
		case v.Dose:
			p.x[i] = l.instrument.Given(i)
		case e.Belongs(p.at, v.MaxAge, 0):
			p.x[i] = e.Value
		case v.Tolerance <= 0 && !l.step.random[i] && !math.IsNaN(l.instrument.Written(i)):
			p.x[i] = l.instrument.Written(i)
		default:
			return false
		}
	}
	return true
}

// watchShots ends the step with what it has when the next shot does not come.
func (l *Loop) watchShots(now time.Time) {
	s := &l.step
	if s.pending != nil {
		l.tryShot()
		if l.phase != measuring {
			return
		}
	}
	if l.opt.Mode == plan.Shadow && l.opt.Stop.Time > 0 && l.ran(now) >= l.opt.Stop.Time {
		l.endShadow()
		return
	}
	if now.Sub(s.waitedFrom) > l.opt.Objective.Timeout {
		problem := ""
		if len(s.shots) == 0 {
			problem = fmt.Sprintf("no data: no value of %s within %v; %s", l.opt.Objective.Name, l.opt.Objective.Timeout, l.missing(now))
		}
		l.conclude(problem)
	}
}

// endShadow ends a shadow run, which only time ends, with the shots there are.
func (l *Loop) endShadow() {
	if len(l.step.shots) > 0 {
		l.conclude("")
		return
	}
	l.abandonStep(journal.ProblemTimeOver)
	l.finish(control.ReasonTime)
}

// missing names what kept shots from being complete.
func (l *Loop) missing(now time.Time) string {
	for i := range l.opt.Sensors {
		if !slices.Contains(l.opt.Objective.Uses, i) {
			continue
		}
		s, e := &l.opt.Sensors[i], l.instrument.Sensor(i)
		if !e.Known {
			return fmt.Sprintf("sensor %s has never given a value inside [%g, %g] %s%s", s.Name, s.Low, s.High, s.Unit, l.instrument.Answer(s.Channel))
		}
		if !e.Fresh(now, s.MaxAge) {
			return fmt.Sprintf("sensor %s is silent since %v%s", s.Name, now.Sub(e.At), l.instrument.Answer(s.Channel))
		}
	}
	for i := range l.opt.Variables {
		v, e := &l.opt.Variables[i], l.instrument.Variable(i)
		if v.Channel.Device >= 0 && !v.Dose && !e.Fresh(now, v.MaxAge) && (l.step.random[i] || v.Tolerance > 0) {
			return fmt.Sprintf("variable %s has no fresh reading%s", v.Name, l.instrument.Answer(v.Channel))
		}
	}
	return "the objective has no new value"
}

// journalShots is the step's shots as the journal keeps them.
func journalShots(s *step) []journal.Shot {
	out := make([]journal.Shot, len(s.shots))
	for i, p := range s.shots {
		out[i] = journal.Shot{Step: s.n, Index: i, Objective: p.objective, X: p.x, Sensors: p.sensors, At: p.stamp}
	}
	return out
}
