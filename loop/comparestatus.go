package loop

import "github.com/labtuner/tuner/loop/control"

// comparisonStatus is nil until the search has ended.
func (l *Loop) comparisonStatus() *control.ComparisonStatus {
	v, found := &l.verifying, l.result.Verification
	switch {
	case v.running:
		c := l.step.decision.Compared
		return &control.ComparisonStatus{Running: true, Pair: c.Pair, Pairs: v.plan.Pairs, Setting: string(c.Side)}
	case found != nil:
		return &control.ComparisonStatus{Pair: v.plan.Pairs, Pairs: v.plan.Pairs, Verdict: found.Verdict, Words: found.Words(l.opt.Objective.Unit)}
	case l.result.Unverified != "":
		return &control.ComparisonStatus{Why: l.result.Unverified}
	}
	return nil
}
