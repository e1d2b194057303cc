package loop

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// The states beyond those of the safety layer.
const (
	stateStarting = "starting"
	stateRunning  = "running"
	stateEnding   = "ending"
	stateEnded    = "ended"
)

// publish replaces the panel's status by the present one.
func (l *Loop) publish(now time.Time) {
	if p := l.deps.Panel; p != nil {
		p.status.Store(l.snapshot(now, p.Status().Session))
	}
}

// state is one word for where the run stands.
func (l *Loop) state() string {
	mode := l.safety.Mode
	switch {
	case l.phase == closed:
		return stateEnded
	case mode >= safety.Tripped:
		return modeWords[mode]
	case l.phase >= resting:
		return stateEnding
	case l.phase <= booting:
		return stateStarting
	case l.opt.Mode == plan.Shadow:
		return stateRunning
	}
	return modeWords[mode]
}

// stateWords is the state, and why where there is a reason.
func (l *Loop) stateWords() string {
	word := l.state()
	switch {
	case l.safety.Mode == safety.Hold && l.safety.Paused:
		return "paused"
	case l.safety.Mode == safety.Hold && word != stateEnding:
		return word + ": " + l.causes(l.out.Active)
	case l.safety.Mode >= safety.Fallback && word != stateEnding && word != stateEnded:
		return word + ": " + l.story()
	}
	return word
}

// snapshot is the run now.
func (l *Loop) snapshot(now time.Time, session string) *Status {
	o := &l.opt
	s := &Status{Session: session, Run: o.Run.ID, Name: o.Run.Name, Site: o.Run.Site, Journal: o.Run.Journal,
		Mode: o.Mode, DryRun: o.Mode == plan.Shadow, State: l.state(), Paused: l.safety.Paused,
		Phase: l.phase.String(), PhaseFor: seconds(max(now.Sub(l.since), 0)),
		Causes: l.causeList(), FirstOut: l.list(l.safety.FirstOut), Reason: l.reason,
		Started: instant(journal.Stamp{Wall: l.start}), Ticked: instant(l.stamp()),
		Step: l.step.n, Steps: l.searched(), Failures: l.failures, FailureLimit: o.FailureLimit,
		Spent: Number(l.ledger.Spent.Float()), Budget: Number(o.Stop.Cost), CostUnit: o.Cost.Unit, StepLimit: o.Stop.Steps,
		Elapsed: seconds(l.ran(now)), TimeLimit: seconds(o.Stop.Time), Left: Number(math.NaN()),
		Objective: ObjectiveStatus{Name: o.Objective.Name, Unit: o.Objective.Unit, Minimize: o.Objective.Minimize},
		Decision:  l.decisionStatus(), Outcome: l.outcomeStatus(), Recommended: l.recommendedStatus(), Comparison: l.comparisonStatus()}
	if l.err != nil {
		s.Error = l.err.Error()
	}
	if left := l.left(l.ran(now)); left >= 0 {
		s.Left = seconds(left)
	}
	since := l.since
	if l.phase > booting && l.phase < resting && o.Mode != plan.Shadow {
		since = now.Add(l.safety.Since - l.safeTime(now))
	}
	s.Since, s.For = since.Round(0).UTC(), seconds(now.Sub(since))
	l.addChannels(s, now)
	l.addOutages(s, now)
	return s
}

func seconds(d time.Duration) Number { return Number(d.Seconds()) }

// addChannels adds what is known of variables, sensors, constraints and doses.
func (l *Loop) addChannels(s *Status, now time.Time) {
	s.Variables, s.Sensors, s.Constraints, s.Doses = []VariableStatus{}, []SensorStatus{}, []ConstraintStatus{}, []DoseStatus{}
	for i := range l.opt.Variables {
		v, a, e := &l.opt.Variables[i], &l.aims[i], l.board.variables[i]
		status := VariableStatus{Name: v.Name, Unit: v.Unit, Low: Number(l.rangeOf(i)[0]), High: Number(l.rangeOf(i)[1]), Driven: a.drive, Released: a.released,
			Readback: Number(math.NaN()), Age: Number(math.NaN()), Setpoint: Number(a.written), Wanted: Number(math.NaN())}
		if e.known {
			status.Readback, status.Age = Number(e.value), seconds(now.Sub(e.at))
		}
		if a.drive {
			status.Wanted = Number(a.dest)
		}
		s.Variables = append(s.Variables, status)
	}
	for i := range l.opt.Sensors {
		v, e := &l.opt.Sensors[i], l.board.sensors[i]
		status := SensorStatus{Name: v.Name, Unit: v.Unit, Value: Number(math.NaN()), Age: Number(math.NaN()), Valid: e.fresh(now, v.MaxAge)}
		if e.known {
			status.Value, status.Age = Number(e.value), seconds(now.Sub(e.at))
		}
		s.Sensors = append(s.Sensors, status)
	}
	for _, c := range l.opt.Constraints {
		v := s.Sensors[c.Sensor]
		status := ConstraintStatus{Sensor: v.Name, Unit: v.Unit, Low: Number(c.Low), High: Number(c.High), Value: v.Value, Margin: Number(math.NaN())}
		if v.Valid {
			status.Margin = min(v.Value-Number(c.Low), Number(c.High)-v.Value)
		}
		s.Constraints = append(s.Constraints, status)
	}
	for k, d := range l.limits.Doses {
		v, state := &l.opt.Variables[d.Variable], &l.safety.Dose[k]
		limit := Number(d.Run)
		if d.Run <= 0 {
			limit = Number(math.Inf(1))
		}
		s.Doses = append(s.Doses, DoseStatus{Variable: v.Name, Unit: v.Unit, Total: Number(state.Total), Limit: limit, Unknown: state.Unknown})
	}
}

// causeList is what holds now, and what is latched.
func (l *Loop) causeList() []Cause {
	all := l.out.Active
	for r := range all {
		all[r] |= l.safety.Latched[r]
	}
	return l.list(all)
}

// list names causes; never nil, so that it is a list as JSON too.
func (l *Loop) list(set safety.Causes) []Cause {
	out := []Cause{}
	if set.Empty() {
		return out
	}
	for r := range safety.RuleCount {
		for i := range 32 {
			if set[r]&(1<<i) == 0 {
				continue
			}
			var one safety.Causes
			one.Add(r, i)
			out = append(out, Cause{Rule: r.String(), Of: l.subject(r, i), Latched: l.safety.Latched[r]&(1<<i) != 0, Text: l.causes(one)})
		}
	}
	return out
}

// decisionStatus is the newest decision, nil before the first.
func (l *Loop) decisionStatus() *DecisionStatus {
	d := l.last
	if d == nil {
		return nil
	}
	s := &DecisionStatus{Step: d.Step, ControlSet: l.opt.SetNames(d.ControlSet), Requested: numbers(d.Requested), Applied: numbers(d.Applied),
		Achieved: []Number{}, Clamped: []string{}, Why: json.RawMessage(d.Why), At: d.At.Wall.Round(0).UTC()}
	if !json.Valid(s.Why) {
		s.Why = json.RawMessage("{}")
	}
	for _, r := range d.Reasons {
		s.Clamped = append(s.Clamped, fmt.Sprintf("%s: %s", r.Variable, r.Rule))
	}
	done := l.lastOutcome != nil && l.lastOutcome.Step == d.Step
	for i := range l.opt.Variables {
		at := math.NaN()
		switch e := l.board.variables[i]; {
		case done:
			at = l.lastOutcome.X[i]
		case e.known:
			at = e.value
		}
		s.Achieved = append(s.Achieved, Number(at))
	}
	return s
}

// outcomeStatus is the last concluded step, nil before the first.
func (l *Loop) outcomeStatus() *OutcomeStatus {
	o := l.lastOutcome
	if o == nil {
		return nil
	}
	return &OutcomeStatus{Step: o.Step, Mean: Number(o.Mean), StandardError: Number(o.StandardError), Shots: o.Shots, Valid: o.Valid,
		Problem: o.Problem, Cost: Number(o.Cost), At: o.At.Wall.Round(0).UTC()}
}

// recommendedStatus is the best setting so far, nil where there is none.
func (l *Loop) recommendedStatus() *RecommendedStatus {
	b := l.best
	if b == nil {
		return nil
	}
	return &RecommendedStatus{ControlSet: l.opt.SetNames(b.ControlSet), Values: numbers(b.X), Mean: Number(b.Mean), Bound: Number(b.LowerBound),
		SD: Number(b.SD), NoiseSD: Number(b.NoiseSD), Feasible: b.Feasible}
}

func numbers(list []float64) []Number {
	out := make([]Number, len(list))
	for i, x := range list {
		out[i] = Number(x)
	}
	return out
}
