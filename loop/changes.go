package loop

import (
	"fmt"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// What people, and a file that is read again, change while the run goes on: which steps the
// model knows of, ranges, frozen variables, costs, risk, stop conditions. A change is looked at
// off the tick, recorded, and taken into force before the next decision: the options are
// replaced, and the policy is rebuilt from the record, as a resume and a replay make it.

// EditRequest is a change that is asked for.
type EditRequest struct {
	// Command is one of control's, "" for a file that was read again.
	Command string
	// Edit is what it asks for.
	Edit control.Edit
}

// asking is a wish on its way.
type asking struct {
	request EditRequest
	by      journal.Person
	// answer is called once, when the change is durable or was refused.
	answer func(control.Response)
}

// amended is what became of one.
type amended struct {
	asking *asking
	plan.Amended
	err error
}

// changes are those of the run.
type changes struct {
	steps *stepper
	all   plan.Changes
	// asked are the requests that wait, the first of which is being looked at.
	asked []*asking
	// next is what the run goes by from the next decision on, where that differs.
	next *plan.Options
	// outdated: the policy knows of another record than there is; remaking: it is made anew.
	outdated, remaking bool
}

// refusal says why the run takes no change now, nil where it may.
func (l *changes) refusal(command string) *control.Response {
	s := l.steps
	record := command == control.CommandStrike || command == control.CommandUnstrike
	switch {
	case s.phase <= booting:
		return &control.Response{Code: control.CodeStarting, Message: "the run is starting: its devices are being opened and read"}
	case s.phase >= resting:
		return &control.Response{Code: control.CodeEnding, Message: "the run is ending"}
	case s.deps.Amend == nil:
		return &control.Response{Code: control.CodeMode, Message: "this run takes no changes"}
	case s.ending.reason != "" && !(record && s.verifying.running), s.wantBest && !s.verifying.running:
		return &control.Response{Code: control.CodeEnding, Message: "the search has ended: no decision follows"}
	}
	return nil
}

// ask begins to look at a change.
func (l *changes) ask(a *asking) {
	if r := l.refusal(a.request.Command); r != nil {
		a.answer(*r)
	} else if l.asked = append(l.asked, a); len(l.asked) == 1 {
		l.look()
	}
}

// look has the first of the requests looked at: by what is recorded, off this goroutine.
func (l *changes) look() {
	a, before, amend := l.asked[0], l.all, l.steps.deps.Amend
	l.steps.pool.Post(laneChange, func() any {
		out := amended{asking: a}
		out.Amended, out.err = amend(before, a.request)
		return out
	})
}

// looked takes in what became of the first of the requests.
func (l *changes) looked(m amended) {
	l.asked = l.asked[1:]
	if r := l.make(m); r != nil {
		m.asking.answer(*r)
	}
	if len(l.asked) > 0 {
		l.look()
	}
}

// make records a change and takes it over, or says why not.
func (l *changes) make(m amended) *control.Response {
	s := l.steps
	if r := l.refusal(m.asking.request.Command); r != nil { // the run may have come to its end meanwhile
		return r
	}
	err := m.err
	if err == nil {
		keeps := s.guard.LimitsNow()
		if err = m.Options.Inside(&keeps.Limits); err == nil {
			err = s.instrument.Accepts(&m.Options)
		}
	}
	c := m.Change
	c.Command, c.Who, c.Why = m.asking.by.Command, m.asking.by.Who, m.asking.by.Reason
	if c.From = s.steps + 1; s.step.open {
		c.From++
	}
	var facts journal.Facts
	if err == nil {
		facts, err = c.Facts()
	}
	if err != nil {
		return &control.Response{Code: control.CodeArgs, Message: err.Error()}
	}
	e := journal.Event{Level: "info", Kind: journal.EventChanged, Message: c.Words, Facts: facts, Step: c.From, At: s.stamp()}
	s.tellEvent(e)
	s.record("change", func(j *journal.Journal) error { return j.Log(e) }, changeRecorded{m.asking, done("%s: from step %d on", c.Words, c.From)})
	l.all, l.next, l.outdated = append(l.all[:len(l.all):len(l.all)], c), &m.Options, true
	if s.phase == choosing && !s.step.open && !l.remaking && !s.verifying.running { // its decision would go by what was
		s.next()
	}
	return nil
}

// takeEffect brings what was changed into force, before a decision.
func (l *changes) takeEffect() {
	s := l.steps
	from := l.all[len(l.all)-1].From
	if l.next != nil {
		l.next.TakeOver(&s.opt)
		l.next = nil
		l.tellKept(from)
	}
	l.outdated, l.remaking, s.proposed = false, true, false
	s.enter(choosing)
	s.rebuild()
}

// tellKept records the limits and ranges that decisions go by from a step on.
func (l *changes) tellKept(from int) {
	s := l.steps
	n, at := s.guard.LimitsNow(), s.stamp()
	n.From = from
	facts, err := n.Facts()
	if err != nil {
		s.runner.fail(fmt.Errorf("record the limits: %w", err))
		return
	}
	s.record("event", func(j *journal.Journal) error {
		return j.Log(journal.Event{Level: "info", Kind: journal.EventNarrowed, Message: "the present limits and ranges", Facts: facts, Step: from, At: at})
	}, nil)
}

func (l *Loop) changing() bool { return l.stepper.changes.outdated || l.stepper.changes.remaking }

// changeRecorded: a change is durable.
type changeRecorded struct {
	asking   *asking
	response control.Response
}
