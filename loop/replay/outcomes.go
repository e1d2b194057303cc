package replay

import (
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// deriveOutcome derives what a step came to from its shots, and what the run has spent. What a
// step without shots was read to be, and the way that variables were moved, are not on record:
// the setting of the one is taken as it was recorded, and the cost where ways are paid.
func (p *Decisions) deriveOutcome(s journal.Step, shots []journal.Shot) (*Difference, error) {
	o, step := &s.Outcome, s.Decision.Step
	charged, err := p.costOf(s, shots)
	if err != nil {
		return nil, err
	}
	p.book(s)
	if off := p.paid.Spent - plan.AsMoney(o.Spent); max(off, -off) > p.paid.Spent>>52 { // what a float64 cannot distinguish is the same
		return differ(step, "sum that was spent", o.Spent, p.paid.Spent.Float()), nil
	}
	if o.Problem == journal.ProblemUnknown {
		return nil, nil // another process closed it without its shots
	}
	statistic, err := plan.StatisticNamed(p.Options.Objective.Statistic)
	if err != nil {
		return nil, err
	}
	for _, shot := range shots {
		switch y, err := p.Options.Objective.Of(shot.Sensors); {
		case err != nil:
			return differ(step, fmt.Sprintf("objective of shot %d", shot.Index), exactly(shot.Objective), err), nil
		case exactly(y) != exactly(shot.Objective):
			return differ(step, fmt.Sprintf("objective of shot %d", shot.Index), exactly(shot.Objective), exactly(y)), nil
		}
	}
	derived := statistic.Summarise(shots, len(p.Options.Variables))
	derived.Valid = len(shots) > 0 && o.Problem == "" && !p.abandoned[step]
	derived.Cost = charged
	return p.sameOutcome(s, derived), nil
}

// book adds what a step cost to the account.
func (p *Decisions) book(s journal.Step) {
	set := p.Options.Played(s.Decision.ControlSet)
	if s.Decision.Compared.Comparison > 0 { // the comparison has an account of its own
		set = -1
	}
	p.paid.Charge(set, plan.AsMoney(s.Outcome.Cost))
}

// costOf is what a step cost, of which these shots were taken.
func (p *Decisions) costOf(s journal.Step, shots []journal.Shot) (float64, error) {
	set := p.Options.Played(s.Decision.ControlSet)
	if set < 0 || s.Outcome.Problem == journal.ProblemUnknown {
		return 0, nil
	}
	for _, price := range p.Options.Cost.PerMove {
		if price > 0 {
			return s.Outcome.Cost, nil
		}
	}
	setting, err := p.Options.Cost.SettingCost(set, s.Decision.Applied)
	if err != nil {
		return 0, err
	}
	step := plan.Step{Decision: s.Decision, Set: set, Setting: setting}
	cost, _ := step.Charge(&p.Options, shots, &p.paid) // what was not read is charged as the run did
	return cost.Float(), nil
}

// sameOutcome gives the first difference between a recorded outcome and the derived one.
func (p *Decisions) sameOutcome(s journal.Step, derived journal.Outcome) *Difference {
	o, step := &s.Outcome, s.Decision.Step
	switch {
	case o.Shots != derived.Shots:
		return differ(step, "number of shots", o.Shots, derived.Shots)
	case o.Valid != derived.Valid:
		return differ(step, "validity", o.Valid, derived.Valid)
	}
	for _, v := range []struct {
		what           string
		recorded, here float64
	}{{"value", o.Mean, derived.Mean}, {"variance of a shot", o.Variance, derived.Variance},
		{"standard error", o.StandardError, derived.StandardError}, {"cost", o.Cost, derived.Cost}} {
		if exactly(v.recorded) != exactly(v.here) {
			return differ(step, v.what, exactly(v.recorded), exactly(v.here))
		}
	}
	for i := range p.Options.Variables {
		if o.Shots > 0 && exactly(o.X[i]) != exactly(derived.X[i]) {
			return differ(step, "setting that "+p.Options.Variables[i].Name+" was measured at", exactly(o.X[i]), exactly(derived.X[i]))
		}
	}
	return nil
}

// differ is a difference at a step.
func differ(step int, what string, recorded, derived any) *Difference {
	return &Difference{Step: step, What: what, Recorded: fmt.Sprint(recorded), Derived: fmt.Sprint(derived)}
}
