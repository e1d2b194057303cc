package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// step is the step in progress.
type step struct {
	n int
	plan.Step
	// actions are the journal's ids of what is being done.
	actions []int64
	// settle is the longest settle time among the variables that this step moves.
	settle  time.Duration
	shots   plan.Shots
	problem string
	open    bool
}

// stepper drives the steps of a run: choose, clamp, move, settle, measure, learn; and those
// of the comparison at its end.
type stepper struct {
	*parts
	ending *ending
	score
	statistic plan.Statistic
	step      step
	// startedAt is where the run started; verifying the comparison at its end.
	startedAt []float64
	verifying verifying
	// proposed says that the policy has decided a step which is not under way yet, wantBest
	// ends the search.
	proposed, wantBest bool
	// toldSame says that shots which are the same to the bit were told of, toldUnusable that values which are none were.
	toldSame, toldUnusable bool
	// people is what people have asked for.
	people people
	// changes are those that were made while the run goes on.
	changes changes
}

// begin makes s the step that the run is at.
func (l *stepper) begin(s step) { l.step, l.number = s, s.n }

// charge books what the step cost.
func (l *stepper) charge(cost plan.Money) {
	l.score.charge(l.step.Set, cost, l.step.Decision.Compared.Comparison > 0)
}

// next begins a step, or ends the run where a stop condition holds.
func (l *stepper) next() {
	if p := l.deps.Past; p != nil && p.WantEnd { // the process that was told so has been killed
		l.runner.endByHand()
		return
	}
	if l.verifying.running {
		l.nextLeg()
		return
	}
	switch c := &l.changes; {
	case c.remaking: // it follows
		l.enter(choosing)
		return
	case c.outdated:
		c.takeEffect()
		return
	}
	if reason := l.stopReason(); reason != "" {
		l.runner.finish(reason)
		return
	}
	l.begin(step{n: l.steps + 1})
	if l.deps.BeginStep != nil {
		l.deps.BeginStep(l.step.n)
	}
	l.enter(choosing)
	if !l.people.next() {
		l.decide()
	}
}

// stopReason is the stop condition that holds before a step, "" if none does.
func (l *stepper) stopReason() string {
	if l.wantBest {
		return control.ReasonBest
	}
	far := plan.Far{Ran: l.ran(l.now()), Steps: l.searched(), Spent: l.ledger.Spent, Marked: l.marked}
	if l.best != nil && l.best.Feasible {
		far.Bound, far.Bounded = l.best.LowerBound, true
	}
	return l.opt.StopReason(far)
}

// decide asks the policy for the next setting.
func (l *stepper) decide() {
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
func (l *stepper) decided(a advisor.Decided) {
	switch {
	case errors.Is(a.Err, policy.ErrBudget):
		l.runner.finish(control.ReasonCost)
		return
	case a.Err == nil:
		a.Err = l.opt.CheckProposal(a.Proposal)
	}
	if a.Err != nil {
		if l.failed(a.Err) {
			l.decide()
		}
		return
	}
	l.advisor.Succeeded()
	l.tellFits(a.Proposal)
	if err := l.clamp(a); err != nil {
		l.runner.fail(err)
		return
	}
	if s := &l.step; l.opt.Mode != plan.Shadow && !l.ledger.Fits(s.AtMost(&l.opt, s.Wanted(&l.opt), &l.ledger), l.opt.Stop.Cost) {
		l.runner.finish(control.ReasonCost)
		return
	}
	l.proposed = false
	if text := l.countCut(&l.step.Decision, l.opt.Deadline); text != "" {
		l.event("warn", journal.EventDeadline, text)
	}
	l.openStep()
}

// clamp makes the step of a proposal: where the safety layer lets it go, and what it costs.
func (l *stepper) clamp(a advisor.Decided) (err error) {
	s := &l.step
	s.Step, err = plan.Decide(&l.opt, journal.Decision{Step: s.n, Took: a.Took, Compared: s.Decision.Compared, At: l.stamp()}, a.Proposal, l.guard, l.instrument.TakeOver)
	s.shots = plan.NewShots(s.n, s.Wanted(&l.opt), s.Random)
	return err
}

// openStep makes the decision durable, then has it carried out.
func (l *stepper) openStep() {
	l.step.open = true
	l.enter(recording)
	d := &decisionRecorded{l.step.Decision}
	l.last = &d.Decision
	l.keep("decision", d, d)
}

// intend records what is about to be done, then does it.
func (l *stepper) intend() {
	if l.opt.Mode == plan.Shadow {
		l.measure(l.now())
		return
	}
	l.intendAll(nil, l.destined)
}

// intendAll makes actions durable before they are done: those of the way home, or of the
// step where home is nil. to is where variable i goes, whether it is driven there, and whether it is released instead.
func (l *stepper) intendAll(home map[int]float64, to func(i int) (value float64, driven, released bool)) {
	a := &actionsIntended{step: l.step.n, home: home}
	number := l.step.n
	if home != nil {
		number = 0
	}
	a.actions, a.ids = l.stamped(number, l.instrument.Actions(a.one[:0], "move", to)), a.id[:0]
	l.keep("intent", a, a)
}

// act does what was intended, if the run has not been ended meanwhile.
func (l *stepper) act(a *actionsIntended) {
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

// destined is where the step moves a variable.
func (l *stepper) destined(i int) (value float64, driven, released bool) {
	v := &l.opt.Variables[i]
	if !v.Actuated || v.Dose { // a dose has an intent of its own
		return 0, false, false
	}
	value, driven = l.step.Destination(&l.opt, i)
	return value, driven, v.OnRelease == plan.Release && !l.instrument.Released(i)
}

// conclude closes the step: the policy learns it, the journal records it.
func (l *stepper) conclude(problem string) {
	l.enter(concluding)
	s := &l.step
	s.problem = problem
	if same := s.shots.Same(&l.opt); same != "" && !l.toldSame {
		l.toldSame = true
		l.event("warn", "shots", same)
	}
	if unusable := s.shots.Unusable(); unusable != "" && !l.toldUnusable {
		l.toldUnusable = true
		l.event("warn", "shots", unusable)
	}
	o := l.outcome()
	observations := l.opt.Observations(plan.Concluded{Set: s.Set, Requested: s.Decision.Requested, Outcome: o, PerShot: s.PerShot, Shots: s.shots.Taken()})
	l.resolveActions(journal.Failed)
	again := l.measuresAgain(&o)
	l.book(o)
	if l.phase != concluding {
		return
	}
	l.say(l.guard.Judge(o.X, o.Valid, l.tellBroken()))
	if l.verifying.running {
		l.legEnded(o, again)
		l.afterLeg()
		return
	}
	l.advisor.Learn(observations)
}

// afterStep begins the next step, or waits or ends where too many in a row have failed.
func (l *stepper) afterStep() {
	switch tooMany := l.failures >= l.opt.FailureLimit && l.opt.FailureLimit > 0; {
	case !tooMany:
		l.next()
	case l.opt.Outages.Wait:
		l.runner.endure(l.failures, l.step.problem)
	default:
		l.runner.fail(fmt.Errorf("%w: %s in a row gave no valid data, the last because: %s", ErrInstrument, plan.Counted(l.failures, "step"), l.step.problem))
	}
}

// book adds the step to the ledger and to the journal.
func (l *stepper) book(o journal.Outcome) {
	s := &l.step
	s.open = false
	l.instrument.ForgetDoses()
	l.steps++
	l.guard.Underway()
	cost, unread := s.Charge(&l.opt, s.shots.Taken(), &l.ledger)
	if text := l.countUnread(s.n, cost, unread, &l.opt); text != "" {
		l.event("warn", "cost", text)
	}
	l.charge(cost)
	o.Spent = l.total()
	if s.Decision.Compared.Comparison == 0 {
		l.failures++
	}
	if o.Valid {
		l.failures, l.lastProblem = 0, ""
		l.runner.recovered()
	} else if o.Problem != l.lastProblem && l.ending.reason == "" {
		l.lastProblem = o.Problem
		l.event("warn", "step", fmt.Sprintf("step %d has no valid data: %s", s.n, o.Problem))
	}
	r := &outcomeRecorded{s.Decision, s.shots.Taken(), o}
	l.lastOutcome = &r.outcome
	l.keep("outcome", r, r)
}

// abandonStep closes the step in flight without teaching it to the policy.
func (l *stepper) abandonStep(why string) {
	if !l.step.open {
		return
	}
	l.step.problem = why
	o := l.outcome()
	o.Valid = false
	l.resolveActions(journal.Unknown)
	l.event("info", journal.EventAbandoned, why)
	l.people.broken(why)
	l.book(o)
	if l.verifying.running {
		l.legEnded(o, true)
	}
}

// resolveActions records what became of the step's actions, once.
func (l *stepper) resolveActions(state journal.ActionState) {
	if len(l.step.actions) == 0 {
		return
	}
	a := &actionsResolved{ids: l.step.actions, state: state, problem: l.step.problem, at: l.stamp()}
	l.step.actions = nil
	l.keep("outcome of an action", a, a)
}
