package loop

import (
	"fmt"

	"github.com/labtuner/tuner/loop/plan"
)

// charge books what the step cost: a comparison has an account of its own.
func (l *Loop) charge(cost plan.Money) {
	if l.step.decision.Compared.Comparison > 0 {
		l.verifying.spent = l.verifying.spent.Plus(cost)
		l.verifying.steps++
		return
	}
	l.ledger.Charge(l.step.set, cost)
}

// wantedShots is how many shots the step takes.
func (l *Loop) wantedShots() int { return l.opt.ShotsOf(&l.step.decision) }

// stepMoney is what the step cost with the shots that were taken; nothing in
// shadow mode.
func (l *Loop) stepMoney(shots int) plan.Money {
	if l.step.set < 0 {
		return 0
	}
	s := &l.step
	return l.opt.Cost.StepCost(plan.Bill{Set: l.opt.ControlSets[s.set].Cost, Setting: s.setting, Shots: shots, Moved: s.moved})
}

// price asks what the setting costs: where the safety layer lets it go, not where it
// was wanted.
func (l *Loop) price() (err error) {
	s := &l.step
	if s.set < 0 {
		return nil
	}
	if s.setting, err = l.opt.Cost.SettingCost(s.set, s.decision.Applied); err != nil {
		return fmt.Errorf("decision of step %d: %w", s.n, err)
	}
	return nil
}
