package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// step is the step in progress.
type step struct {
	n        int
	decision journal.Decision
	// set is the control set in play, -1 in shadow mode.
	set int
	// random has one entry per variable: it is left alone in this step.
	random []bool
	// perShot says that each shot is an observation of its own, because a variable
	// is random.
	perShot bool
	// actions are the journal's ids of what is being done.
	actions []int64
	// moved is the way from the last setpoint to this one, in each variable's unit.
	moved []float64
	// setting is what the setting costs beside the step.
	setting float64
	// changed is the longest settle time among the variables that this step moves.
	settle    time.Duration
	settleEnd time.Time

	shots   []shot
	pending *shot
	// waitedFrom is when the wait for the next shot began.
	waitedFrom time.Time
	problem    string
	open       bool
}

// next begins a step, or ends the run where a stop condition holds.
func (l *Loop) next() {
	if l.verifying.running {
		l.nextLeg()
		return
	}
	if reason := l.stopReason(); reason != "" {
		l.finish(reason)
		return
	}
	l.step = step{n: l.steps + 1}
	if l.deps.BeginStep != nil {
		l.deps.BeginStep(l.step.n)
	}
	l.enter(choosing)
	l.decide()
}

// stopReason is the stop condition that holds before a step, "" if none does.
// The cost of the step itself is looked at when it is known.
func (l *Loop) stopReason() string {
	s := &l.opt.Stop
	switch {
	case l.wantBest:
		return control.ReasonBest
	case s.Time > 0 && l.ran(l.now()) >= s.Time:
		return control.ReasonTime
	case l.opt.Mode == plan.Shadow:
		return ""
	case s.Steps > 0 && l.searched() >= s.Steps:
		return control.ReasonSteps
	case s.Cost > 0 && l.ledger.Spent >= plan.AsMoney(s.Cost):
		return control.ReasonCost
	}
	return ""
}

// decide asks the policy for the next setting.
func (l *Loop) decide() {
	if l.advisor.Broken() {
		l.rebuild()
		return
	}
	l.proposed = true
	if d := l.advisor.Ask(); d != nil {
		l.decided(*d)
	}
}

// decided passes the proposal's destinations through the safety layer and makes
// the decision durable before anything moves.
func (l *Loop) decided(a advisor.Decided) {
	switch {
	case errors.Is(a.Err, policy.ErrBudget):
		l.finish(control.ReasonCost)
		return
	case a.Err == nil:
		a.Err = l.checkProposal(a.Proposal)
	}
	if a.Err != nil {
		if l.failed(a.Err) {
			l.decide()
		}
		return
	}
	l.advisor.Succeeded()
	l.tellFits(a.Proposal)
	s := &l.step
	s.decision = l.decisionOf(a)
	l.cast(a.Proposal.ControlSet)
	if err := l.price(); err != nil {
		l.fail(err)
		return
	}
	if l.opt.Mode != plan.Shadow && !l.ledger.Fits(l.stepMoney(l.wantedShots()), l.opt.Stop.Cost) {
		l.finish(control.ReasonCost)
		return
	}
	l.proposed = false
	l.openStep()
}

// openStep makes the decision durable, then has it carried out.
func (l *Loop) openStep() {
	l.step.open = true
	l.enter(recording)
	decision := l.step.decision
	l.last = &decision
	l.record("decision", func(j *journal.Journal) error { return j.Decide(decision) }, decisionRecorded{decision.Step})
}

// checkProposal refuses a proposal that does not have the problem's shape; its
// numbers are the safety layer's business.
func (l *Loop) checkProposal(p policy.Proposal) error {
	if p.Shots < 0 {
		return fmt.Errorf("%d shots", p.Shots)
	}
	if p.ControlSet < 0 || p.ControlSet >= len(l.opt.ControlSets) || len(p.X) != len(l.opt.Variables) {
		return fmt.Errorf("control set %d of %d, %d values for %d variables", p.ControlSet, len(l.opt.ControlSets), len(p.X), len(l.opt.Variables))
	}
	return nil
}

// decisionOf is the proposal with what the safety layer makes of it.
func (l *Loop) decisionOf(a advisor.Decided) journal.Decision {
	p := a.Proposal
	d := journal.Decision{Step: l.step.n, ControlSet: p.ControlSet, Initial: p.Initial,
		Requested: policy.NaNs(len(p.X)), Applied: policy.NaNs(len(p.X)),
		Work: p.Work, Cut: p.Cut, Shots: p.Shots, Took: a.Took, Why: explain(p.Why), Compared: l.step.decision.Compared, At: l.stamp()}
	for _, i := range l.opt.ControlSets[p.ControlSet].Variables {
		if d.Compared.Comparison > 0 && math.IsNaN(p.X[i]) {
			continue // it was random at the start, and is so again
		}
		limits := l.guard.Bounds(i)
		fallback := l.instrument.TakeOver(i)
		if math.IsNaN(fallback) {
			fallback = limits.Safe
		}
		applied, why := limits.Clamp(p.X[i], fallback)
		d.Requested[i], d.Applied[i] = p.X[i], applied
		for _, rule := range why.Names() {
			d.Reasons = append(d.Reasons, journal.Reason{Variable: l.opt.Variables[i].Name, Rule: rule,
				From: p.X[i], To: applied})
		}
	}
	d.Reasons = append(d.Reasons, l.guard.Near(d.Applied)...)
	return d
}

// cast sorts the variables of the step into driven and random ones.
func (l *Loop) cast(set int) {
	s := &l.step
	s.set = l.opt.Played(set)
	s.random = l.opt.RandomIn(s.decision.Applied)
	s.perShot = l.opt.PerShot(s.decision.Applied)
	s.moved = make([]float64, len(l.opt.Variables))
	if l.opt.Mode == plan.Shadow {
		return
	}
	for i := range l.opt.Variables {
		dest, driven := l.destination(i)
		if from := l.instrument.TakeOver(i); driven && !math.IsNaN(from) {
			s.moved[i] = math.Abs(l.guard.Destination(i, dest) - from)
		}
	}
}

// destination is where the step wants variable i driven, if it does.
func (l *Loop) destination(i int) (float64, bool) {
	v := &l.opt.Variables[i]
	if applied := l.step.decision.Applied[i]; !math.IsNaN(applied) {
		return applied, true
	}
	if v.Actuated && v.OnRelease == plan.Park {
		return v.Limits.Safe, true
	}
	return math.NaN(), false
}

// intend records what is about to be done, then does it.
func (l *Loop) intend() {
	if l.opt.Mode == plan.Shadow {
		l.measure(l.now())
		return
	}
	l.intendAll(l.actions(), nil)
}

// intendAll makes actions durable before they are done: those of the way home, or of the
// step where home is nil.
func (l *Loop) intendAll(actions []journal.Action, home map[int]float64) {
	intended, done := &actionsIntended{step: l.step.n, ids: make([]int64, len(actions)), home: home}, 0
	l.record("intent", func(j *journal.Journal) (err error) {
		for ; done < len(actions); done++ {
			if intended.ids[done], err = j.Intend(actions[done]); err != nil {
				return err
			}
		}
		return nil
	}, intended)
}

// act does what was intended, if the run has not been ended meanwhile.
func (l *Loop) act(a *actionsIntended) {
	ready := l.awaits(a.step)
	if a.home != nil {
		ready = l.phase == recording && !l.step.open
	}
	if !ready {
		return
	}
	l.step.actions = a.ids
	l.failpoint("intent-durable")
	if a.home != nil {
		l.driveHome(a.home)
		return
	}
	l.move()
}

// actions lists, per device, what the step is going to do.
func (l *Loop) actions() []journal.Action {
	return l.stamped(l.step.n, l.instrument.Actions("move", func(i int) (value float64, driven, released bool) {
		v := &l.opt.Variables[i]
		if !v.Actuated || v.Dose { // a dose has an intent of its own
			return 0, false, false
		}
		value, driven = l.destination(i)
		return value, driven, v.OnRelease == plan.Release && !l.instrument.Released(i)
	}))
}

// stamped are actions of a step, now.
func (l *Loop) stamped(step int, actions []journal.Action) []journal.Action {
	for k := range actions {
		actions[k].Step, actions[k].At = step, l.stamp()
	}
	return actions
}

// conclude closes the step: the policy learns it, the journal records it.
func (l *Loop) conclude(problem string) {
	l.enter(concluding)
	s := &l.step
	s.problem = problem
	o := l.outcome()
	observations := l.opt.Observations(plan.Concluded{Set: s.set, Requested: s.decision.Requested, Outcome: o, PerShot: s.perShot, Shots: journalShots(s)})
	l.settleActions(journal.Failed)
	l.book(o)
	if l.phase != concluding {
		return
	}
	l.say(l.guard.Judge(o.X, o.Valid, l.tellBroken()))
	if l.verifying.running {
		l.legEnded(o, false)
		l.nextLeg()
		return
	}
	l.advisor.Learn(observations)
}

// afterStep begins the next step, or waits or ends where too many in a row have failed.
func (l *Loop) afterStep() {
	switch tooMany := l.failures >= l.opt.FailureLimit && l.opt.FailureLimit > 0; {
	case !tooMany:
		l.next()
	case l.opt.Outages.Wait:
		l.endure(l.step.problem)
	default:
		l.fail(fmt.Errorf("%w: %d steps in a row gave no valid data, the last because: %s", ErrInstrument, l.failures, l.step.problem))
	}
}

// book adds the step to the ledger and to the journal.
func (l *Loop) book(o journal.Outcome) {
	s := &l.step
	s.open = false
	l.instrument.ForgetDoses()
	l.steps++
	l.guard.Underway()
	l.charge(l.stepMoney(len(s.shots)))
	o.Spent = l.ledger.Spent.Plus(l.verifying.spent).Float()
	if s.decision.Compared.Comparison == 0 {
		l.failures++
	}
	if o.Valid {
		l.failures, l.lastProblem, l.spell = 0, "", spell{}
	} else if o.Problem != l.lastProblem && l.reason == "" {
		l.lastProblem = o.Problem
		l.event("warn", "step", fmt.Sprintf("step %d has no valid data: %s", s.n, o.Problem))
	}
	shots, decision := journalShots(s), s.decision
	l.lastOutcome = &o
	l.record("outcome", func(j *journal.Journal) error {
		if err := j.Shoot(shots); err != nil {
			return err
		}
		l.failpoint("shots-durable")
		shots = nil // they are there, whatever becomes of the outcome
		return j.Conclude(o)
	}, outcomeRecorded{decision, o})
}

// abandonStep closes the step in flight without teaching it to the policy.
func (l *Loop) abandonStep(why string) {
	if !l.step.open {
		return
	}
	l.step.problem = why
	o := l.outcome()
	o.Valid = false
	l.settleActions(journal.Unknown)
	l.event("info", journal.EventAbandoned, why)
	l.book(o)
	if l.verifying.running {
		l.legEnded(o, true)
	}
}

// settleActions records what became of the step's actions, once.
func (l *Loop) settleActions(state journal.ActionState) {
	ids, at := l.step.actions, l.stamp()
	if len(ids) == 0 {
		return
	}
	l.step.actions = nil
	problem := l.step.problem
	l.record("outcome of an action", func(j *journal.Journal) error {
		for ; len(ids) > 0; ids = ids[1:] {
			if err := j.Settle(ids[0], state, nil, problem, at); err != nil {
				return err
			}
		}
		return nil
	}, reached("action-settled"))
}

// explain writes a policy's reasons as a JSON document; parts it does not have
// are left out.
func explain(w policy.Why) string {
	parts := map[string]float64{}
	for name, v := range map[string]float64{"mean": w.Mean, "sd": w.SD, "beta": w.Beta,
		"noise_variance": w.NoiseVariance, "risk": w.Risk, "value": w.Value, "feasibility": w.Feasibility} {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			parts[name] = v
		}
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "{}"
	}
	return string(text)
}
