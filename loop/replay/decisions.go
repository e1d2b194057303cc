package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Decisions derives the decisions of a recorded run anew, in order.
type Decisions struct {
	// Options are the run's, made from its recorded configuration.
	Options plan.Options
	// Policy is new, made from the same.
	Policy policy.Policy
	// Version is that of what decides here: the decisions of sessions by another version are
	// taken as recorded.
	Version int
	// Configured are the later sessions, in order, that took over another configuration. Remake
	// makes the options that a session went by and a new policy, with the changes that were
	// made meanwhile; 0 is the session that began. nil: all went by Options and Policy.
	Configured []int
	Remake     func(session int, changes plan.Changes) (plan.Options, policy.Policy, error)
	// Until is the last step to derive; 0: all.
	Until int
	// Lenient goes on after a difference: the policy is taught the rest of the run as
	// well, though it would have decided otherwise.
	Lenient bool
	// Sampled derives the newest decisions and some of those before, and takes the others
	// as recorded: see derives. The policy comes to the same state, bit for bit. Brief derives
	// those alone on which that state depends.
	Sampled, Brief bool
	// Step, if there is one, is called for every step that agrees, or that Teach has taught.
	Step func(n int)

	abandoned map[int]bool
	// changes are those that were made while the run went on; the decision in hand goes by
	// the first inForce of them, and by the configuration of a session. What was struck a
	// lenient replay does not teach.
	changes             plan.Changes
	inForce, configured int
	struck              map[int]plan.Change
	// decided is, by session, the version of what decided.
	decided map[int]int
	// searched is the last step of the search so far.
	searched int
	// paid is what the steps so far have cost.
	paid plan.Ledger
	// narrowed are the changes of limits during the run, in order.
	narrowed []plan.Narrowed
	verified verified
}

// Difference is the first place where a derived decision is not the recorded one.
type Difference struct {
	Step int `json:"step"`
	// What differs, with both values.
	What     string `json:"what"`
	Recorded string `json:"recorded"`
	Derived  string `json:"derived"`
}

// Replayed says how far a replay came.
type Replayed struct {
	// Steps counts decisions that agree, Compared steps of comparisons that do, Skipped
	// decisions that a sampled replay has taken as they are, Foreign those of another version,
	// which cannot be derived.
	Steps    int `json:"steps"`
	Compared int `json:"compared,omitempty"`
	Skipped  int `json:"skipped,omitempty"`
	Foreign  int `json:"not_derivable,omitempty"`
	// Person counts decisions that people have made.
	Person int `json:"by_a_person,omitempty"`
	// Outcomes counts what steps came to, which derives from their shots.
	Outcomes int `json:"outcomes"`
	// First is the first difference, nil where there is none.
	First *Difference `json:"first_difference"`
}

// Summary say what came of the decisions, none of which differs.
func (r Replayed) Summary() string {
	derived := plan.Counted(r.Steps, "decision") + " come out as they were recorded, to the last bit"
	if r.Steps == 1 {
		derived = "1 decision comes out as it was recorded, to the last bit"
	}
	switch {
	case r.Person == 1:
		derived += "; 1 was a person's"
	case r.Person > 1:
		derived += fmt.Sprintf("; %d were a person's", r.Person)
	}
	if r.Foreign == 0 {
		return derived
	}
	foreign := plan.Counted(r.Foreign, "decision") + " cannot be derived, because a version that decides otherwise has made them"
	if r.Steps == 0 {
		return foreign
	}
	return derived + "\n" + foreign
}

// Run derives every decision from the observations before it, compares it bit for
// bit with the recorded one (control set, setting, what the bounds made of it, work
// units), and teaches the policy what the step brought. Of a comparison with the starting
// setting it derives both settings, whose turn each step was, and the result. It stops at
// the first difference. A decision that the deadline had cut is repeated with as many
// work units. Then it derives what the step came to from its shots, and what the run has spent. A
// decision by another version of what decides is taken as it was recorded. What
// the safety layer did on the way is derived by package trace.
//
// Errors: what reading the journal gives, a policy that refuses what was recorded, and the
// cause of ctx's end.
func (p *Decisions) Run(ctx context.Context, r *journal.Reader) (Replayed, error) {
	var done Replayed
	if limiter, ok := p.Policy.(policy.WorkLimiter); ok {
		defer limiter.LimitWork(0) // the last decision's cut is not the next one's
	}
	if err := p.start(r); err != nil {
		return done, err
	}
	last, err := r.LastSearched(p.Until)
	if err != nil {
		return done, err
	}
	shotsOf := r.ShotsAhead()
	for s, err := range r.Steps() {
		if err != nil {
			return done, err
		}
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if p.Until > 0 && s.Decision.Step > p.Until {
			break
		}
		if err := p.takeOver(ctx, r, s); err != nil {
			return done, err
		}
		if err := p.check(ctx, s, last, &done); err != nil || done.First != nil && !p.Lenient {
			return done, err
		}
		if s.Decision.Compared.Comparison == 0 {
			p.searched = s.Decision.Step
		}
		if !s.Concluded {
			break
		}
		shots, err := shotsOf(s.Decision.Step)
		if err != nil {
			return done, err
		}
		if err := p.conclude(s, shots, &done); err != nil || done.First != nil && !p.Lenient {
			return done, err
		}
	}
	if done.First == nil && p.Until == 0 && !p.Lenient {
		done.First = p.deriveResults()
	}
	return done, nil
}

// conclude derives what a step came to, and teaches the policy what it brought. The policy of a
// lenient replay is only to learn.
func (p *Decisions) conclude(s journal.Step, shots []journal.Shot, done *Replayed) (err error) {
	if !p.Lenient {
		if done.First, err = p.deriveOutcome(s, shots); done.First != nil || err != nil {
			return err
		}
		done.Outcomes++
	}
	if !p.teaches(s) {
		return nil
	}
	return p.learn(s, shots)
}

// teaches says that the policy is to know what a step brought.
func (p *Decisions) teaches(s journal.Step) bool {
	_, struck := p.struck[s.Decision.Step]
	return !struck && !p.abandoned[s.Decision.Step] && s.Decision.Compared.Comparison == 0
}

// check derives a decision, or takes it as recorded where it is not of the sample or where
// the run has decided otherwise before. last is the last step of the search.
func (p *Decisions) check(ctx context.Context, s journal.Step, last int, done *Replayed) (err error) {
	n, compared := s.Decision.Step, s.Decision.Compared.Comparison > 0
	// A policy knows nothing of the steps of a comparison: behind one it decides the step that
	// follows those of its own.
	own := p.searched + 1
	skipper, skips := p.Policy.(policy.Skipper)
	agreed := &done.Steps
	switch {
	case done.First != nil && (!skips || compared):
		return nil
	case p.foreign(s.Session):
		if agreed = &done.Foreign; compared {
			p.verified.foreign[s.Decision.Compared.Comparison] = true
		} else if skips {
			err = skipper.Skip(own)
		}
	case byPerson(s.Decision):
		if agreed = &done.Person; skips {
			err = skipper.Skip(n)
		}
	case compared:
		agreed = &done.Compared
		done.First, err = p.deriveLeg(ctx, s)
	case skips && !p.derives(own, last, done.First != nil):
		agreed = &done.Skipped
		err = skipper.Skip(own)
	default:
		var first *Difference
		if first, err = p.derive(ctx, s.Decision, own); done.First == nil {
			done.First = first
		}
	}
	if err == nil && done.First == nil {
		*agreed++
		p.report(n)
	}
	return err
}

// A sampled replay derives at least the SampleNewest newest decisions, from a step on at which
// policies begin anew what they keep, and every sampleEvery-th of those before, which is
// such a step. Not fewer: a difference of configuration or version shows in nearly every
// decision, damage of the record is noticed by its checksums. Not more: a week of steps
// is resumed in minutes, not in the hours that its decisions took.
const (
	SampleNewest = 100
	sampleEvery  = 10 * policy.RenewEvery
)

// byPerson reports whether a person has decided a step: there is nothing to derive.
func byPerson(d journal.Decision) bool {
	_, ok := d.Person()
	return ok
}

// derives reports whether the decision of a step is derived, where the search came to the step last. Where
// that is for the policy's state alone, those are since everything that it keeps began anew,
// whatever they come to: so a run that goes on, its resume and its replay have one state.
func (p *Decisions) derives(step, last int, stateAlone bool) bool {
	if p.Brief || stateAlone {
		return step >= last+1-(last+1)%policy.RenewEvery
	}
	newest := last - SampleNewest
	return !p.Sampled || step >= newest-newest%policy.RenewEvery || step%sampleEvery == 0
}

func (p *Decisions) report(step int) {
	if p.Step != nil {
		p.Step(step)
	}
}

// start reads the run's story: the setting that it began with, which the policy is
// given, and which steps were abandoned.
func (p *Decisions) start(r *journal.Reader) error {
	p.abandoned, p.decided, p.paid = map[int]bool{}, map[int]int{}, plan.NewLedger(len(p.Options.ControlSets))
	sessions, err := r.Sessions()
	if err != nil {
		return err
	}
	for _, s := range sessions {
		p.decided[s.Number] = s.Decisions
	}
	p.changes = nil
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		switch e.Kind {
		case journal.EventAbandoned:
			p.abandoned[e.Step] = true
		case journal.EventChanged:
			c, err := plan.ReadChange(e)
			if err != nil {
				return err
			}
			p.changes = append(p.changes, c)
		case journal.EventNarrowed:
			var n plan.Narrowed
			if err := json.Unmarshal(e.Facts.Narrowed, &n); err != nil || len(n.Ranges) != len(p.Options.Variables) || len(n.Limits.Variables) != len(n.Ranges) {
				return fmt.Errorf("the recorded limits from step %d on cannot be read (%v)", e.Step, err)
			}
			p.narrowed = append(p.narrowed, n)
		case journal.EventStart:
			x, err := startOf(e, len(p.Options.Variables))
			if err != nil {
				return err
			}
			p.verified.start = x
			if starter, ok := p.Policy.(policy.Starter); ok {
				starter.SetStart(x)
			}
		}
	}
	if p.Lenient { // what it teaches is as of its end
		if p.struck = p.changes.Struck(); p.Until > 0 {
			p.struck = p.changes.At(p.Until + 1).Struck()
		}
	}
	return p.verified.read(r)
}

// foreign reports whether another version has decided in a session.
func (p *Decisions) foreign(session int) bool { return p.decided[session] != p.Version }

// learn teaches the policy what a step brought.
func (p *Decisions) learn(s journal.Step, shots []journal.Shot) error {
	for _, o := range p.Options.Observations(plan.Concluded{
		Set: p.Options.Played(s.Decision.ControlSet), Requested: s.Decision.Requested, Outcome: s.Outcome,
		PerShot: p.Options.PerShot(s.Decision.Applied), Shots: shots,
	}) {
		if err := p.Policy.Observe(o); err != nil {
			return fmt.Errorf("learn step %d: %w", o.Step, err)
		}
	}
	return nil
}

// startOf is the starting setting that an event keeps, of n variables.
func startOf(e journal.Event, n int) ([]float64, error) {
	if len(e.Facts.Start) != n {
		return nil, fmt.Errorf("the recorded starting setting %v is not one of %d variables", e.Facts.Start, n)
	}
	x := make([]float64, n)
	for i, v := range e.Facts.Start {
		x[i] = float64(v)
	}
	return x, nil
}

// takeOver goes on by the configuration and the changes that the decision of a step went by,
// as the run did: a new policy is taught the steps before. A comparison goes on by those that
// it began with.
func (p *Decisions) takeOver(ctx context.Context, r *journal.Reader, s journal.Step) error {
	c := s.Decision.Compared.Comparison
	if p.Lenient || c > 0 && len(p.verified.legs[c]) > 0 && len(p.changes.At(s.Decision.Step)) != p.inForce {
		return nil
	}
	configured, changes := 0, p.changes.At(s.Decision.Step)
	for _, n := range p.Configured {
		if n <= s.Session {
			configured = n
		}
	}
	if configured == p.configured && len(changes) == p.inForce {
		return nil
	}
	p.configured, p.inForce = configured, len(changes)
	if p.Remake == nil {
		return fmt.Errorf("step %d went by a change that was made during the run, and only the first configuration is known", s.Decision.Step)
	}
	var err error
	if p.Options, p.Policy, err = p.Remake(configured, changes); err != nil {
		return err
	}
	before := s.Decision.Step - 1
	if before == 0 {
		if starter, ok := p.Policy.(policy.Starter); ok && p.verified.start != nil {
			starter.SetStart(p.verified.start)
		}
		return nil
	}
	past := Decisions{Options: p.Options, Policy: p.Policy, Version: p.Version, Until: before, Lenient: true, Brief: true}
	if _, err := past.Run(ctx, r); err != nil {
		return fmt.Errorf("teach the policy that decided step %d the steps before: %w", s.Decision.Step, err)
	}
	return nil
}
