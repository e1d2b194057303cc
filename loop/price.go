package loop

import "fmt"

// charge books what the step cost: a comparison has an account of its own.
func (l *Loop) charge(cost money) {
	if l.step.decision.Compared.Comparison > 0 {
		l.verifying.spent = l.verifying.spent.plus(cost)
		l.verifying.steps++
		return
	}
	l.ledger.charge(l.step.set, cost)
}

// wantedShots is how many shots the step takes.
func (l *Loop) wantedShots() int {
	if n := l.step.decision.Compared.Comparison; n > 0 && l.opt.Verify.Risk > 0 {
		return max(l.opt.Objective.Shots, 2)
	}
	return l.opt.Objective.Shots
}

// stepMoney is what the step cost with the shots that were taken; nothing in
// shadow mode.
func (l *Loop) stepMoney(shots int) money {
	if l.step.set < 0 {
		return 0
	}
	s := &l.step
	return l.opt.Cost.stepCost(bill{set: l.opt.ControlSets[s.set].Cost, setting: s.setting, shots: shots, moved: s.moved})
}

// price asks what the setting costs: where the safety layer lets it go, not where it
// was wanted.
func (l *Loop) price() (err error) {
	s := &l.step
	if s.set < 0 {
		return nil
	}
	if s.setting, err = l.opt.Cost.settingCost(s.set, s.decision.Applied); err != nil {
		return fmt.Errorf("decision of step %d: %w", s.n, err)
	}
	return nil
}
