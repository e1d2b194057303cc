package loop

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Settings of a person's own. Each is a step like any other: it is clamped, charged, counted and
// learnt. But nothing of it is adjusted: what would be clamped is refused, and the policy is
// told that the step was decided, so that a replay derives nothing there.

// people is what people have asked to be measured, oldest first.
type people struct {
	steps *stepper
	asked control.PendingTries
}

// queue takes a person's setting in, or says why it cannot be tried.
func (l *people) queue(o *control.Order, id int64) control.Response {
	t, err := control.ParseTry(o.Args)
	if err == nil {
		_, _, err = l.steps.opt.TrySetting(t.Values, l.inside)
	}
	switch {
	case err != nil:
		return control.Response{Code: control.CodeArgs, Message: err.Error()}
	case l.steps.ending.reason != "" || l.steps.wantBest || l.steps.verifying.running:
		return control.Response{Code: control.CodeEnding, Message: "the search has ended: no step follows"}
	case l.asked.Steps()+t.Times > control.MostPending:
		return control.Response{Code: control.CodeConditions, Message: fmt.Sprintf("%d settings wait already, of %d at most", l.asked.Steps(), control.MostPending)}
	}
	before := l.asked.Steps()
	l.asked = append(l.asked, control.PendingTry{Person: journal.Person{Command: id, Who: o.Origin(), Reason: o.Reason}, Try: t, Left: t.Times})
	x, _, _ := l.steps.opt.TrySetting(t.Values, l.inside) // it was looked at above
	text := l.steps.opt.SettingText(x)
	if t.Times > 1 {
		text += fmt.Sprintf(", %d times", t.Times)
	}
	if before > 0 {
		return done("%s: tried after the %d that wait", text, before)
	}
	return done("%s: tried after the present step", text)
}

// inside is what decisions may ask of a variable now: plan.Options.Allowed, as far as it was not
// narrowed since.
func (l *people) inside(i int) (low, high float64) {
	r, b := l.steps.guard.Range(i), l.steps.guard.Bounds(i)
	return max(r[0], b.Low), min(r[1], b.High)
}

// next begins the step with the oldest setting that a person has asked for, and reports
// whether there is one. What cannot be tried now is told and left out.
func (l *people) next() bool {
	for len(l.asked) > 0 && l.steps.advisor.Adopts() {
		if err := l.begunBy(l.asked[0]); err != nil {
			l.steps.event("warn", journal.EventCommand, fmt.Sprintf("not tried, as command %d asked for: %v", l.asked[0].Person.Command, err))
			l.asked.CountOff()
			continue
		}
		l.steps.advisor.Adopt(l.steps.step.n)
		return true
	}
	return false
}

// begunBy makes the step of a person's setting.
func (l *people) begunBy(a control.PendingTry) error {
	x, set, err := l.steps.opt.TrySetting(a.Try.Values, l.inside)
	if err != nil {
		return err
	}
	if err := l.steps.opt.CompleteTry(x, set, l.inside, l.rests(a.Try.Rest)...); err != nil {
		return err
	}
	p := policy.Proposal{Step: l.steps.step.n, ControlSet: set, X: x, Shots: a.Try.Shots, Prior: -1}
	if err := l.steps.clamp(advisor.Decided{Proposal: p}); err != nil {
		return err
	}
	s := &l.steps.step
	for _, r := range s.Decision.Reasons {
		if r.Rule != safety.RuleResolution.String() {
			return fmt.Errorf("%s would be set to %.6g instead of %.6g, by %s", r.Variable, r.To, r.From, r.Rule)
		}
	}
	if cost := s.AtMost(&l.steps.opt, s.Wanted(&l.steps.opt), &l.steps.ledger); !l.steps.ledger.Fits(cost, l.steps.opt.Stop.Cost) {
		return fmt.Errorf("it costs %.6g, more than is left of %.6g", cost.Float(), l.steps.opt.Stop.Cost)
	}
	s.Decision.Why, err = a.Person.Text()
	return err
}

// rests are where variables that are not named stand, in the order in which they count.
func (l *people) rests(word string) (all []func(i int) float64) {
	if word != control.RestPresent && l.steps.best != nil {
		all = append(all, func(i int) float64 { return l.steps.best.X[i] })
	}
	read := func(i int) float64 {
		if r := l.steps.instrument.Variable(i); r.Known {
			return r.Value
		}
		return math.NaN()
	}
	start := func(i int) float64 {
		if l.steps.startedAt == nil {
			return math.NaN()
		}
		return l.steps.startedAt[i]
	}
	return append(all, l.steps.instrument.TakeOver, read, start)
}

// accepted carries the step of a person's setting out, once the policy knows of it.
func (l *people) accepted(err error) {
	if l.steps.phase != choosing {
		return
	}
	if err != nil {
		if l.steps.failed(err) {
			l.steps.decide()
		}
		return
	}
	l.asked.CountOff()
	l.steps.openStep()
}

// broken says that a person's step has ended before it was measured.
func (l *people) broken(why string) {
	if by, ok := l.steps.step.Decision.Person(); ok && why != journal.ProblemInterrupted { // that is measured when the run goes on
		l.steps.event("warn", journal.EventCommand, fmt.Sprintf("what command %d asked for was not measured (%s): ask again", by.Command, why))
	}
}

// unknown says what becomes of a person's step in the middle of which the process ended.
func (l *people) unknown(d *journal.Decision) {
	by, ok := d.Person()
	if !ok {
		return
	}
	for _, a := range l.steps.deps.Asked {
		if a.Command == by.Command && a.Forgiven {
			l.steps.event("info", journal.EventCommand, fmt.Sprintf("step %d was what command %d asked for: it is measured again", d.Step, by.Command))
			return
		}
	}
	l.steps.event("warn", journal.EventCommand, fmt.Sprintf("step %d was what command %d asked for, and is not made again: it may have given a dose, or has ended so before", d.Step, by.Command))
}
