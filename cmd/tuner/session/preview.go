package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// preview says what a command would do now, by the record and the newest status. Its error is
// what the command would be refused for, as far as that can be known before.
func (s *session) preview(q control.Request) (p control.Preview, err error) {
	changes, err := s.changesNow()
	if err != nil {
		return p, err
	}
	now, err := s.base.Anew(s.Env, changes)
	if err != nil {
		return p, plainly(err)
	}
	f := foresight{o: &now.Options, status: s.panel.Status()}
	if driving := q.Command == control.CommandTry || q.Command == control.CommandSetBest; driving && f.o.Mode == plan.Shadow {
		return p, fmt.Errorf("a dry run drives nothing: there is nothing to %s", q.Command)
	}
	p = control.Preview{Moves: []control.Move{}, Args: q.Args}
	switch q.Command {
	case control.CommandTry:
		return f.try(q.Args)
	case control.CommandSetBest:
		return f.setBest(p)
	case control.CommandEnd:
		p.Words, p.Moves = "the run ends, and each actuator goes to its shutdown state", f.rests(func(v control.VariableStatus) string { return v.OnEnd })
		return p, nil
	case control.CommandStop:
		p.Words, p.Moves = "every actuator goes to its safe value at once, and the run ends", f.rests(func(v control.VariableStatus) string { return v.OnStop })
		return p, nil
	case control.CommandPause, control.CommandResume, control.CommandReset, control.CommandStatus:
		p.Words = "no variable is given another value by it"
		return p, nil
	}
	args := q.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	e, err := control.ParseEdit(q.Command, args)
	if err != nil {
		return p, err
	}
	a, err := s.amend(changes, loop.EditRequest{Command: q.Command, Edit: e})
	if err != nil {
		return p, err
	}
	p.Words = a.Change.Words + "; the next decision goes by it, nothing moves before"
	if q.Command == control.CommandFreeze {
		p.Words, p.Moves = a.Change.Words+", from the next step on", f.frozen(e.Values)
	}
	return p, nil
}

// changesNow are those on record.
func (s *session) changesNow() (all plan.Changes, err error) {
	r, err := journal.OpenReader(s.journal.Path())
	if err != nil {
		return nil, err
	}
	all, err = plan.ChangesIn(r)
	return all, errors.Join(err, r.Close())
}

// foresight is what is known of a run from outside of its loop: its options with all changes, and
// its newest status.
type foresight struct {
	o      *plan.Options
	status *control.Status
}

// variable is a variable's status, false before there is one.
func (f *foresight) variable(i int) (v control.VariableStatus, ok bool) {
	if i >= len(f.status.Variables) {
		return v, false
	}
	return f.status.Variables[i], true
}

// at is where variable i will be when the present step is over: where it is driven to, else what
// was set last, else what it reads; NaN where nobody knows.
func (f *foresight) at(i int) float64 {
	v, ok := f.variable(i)
	if !ok {
		return math.NaN()
	}
	for _, x := range []journal.Number{v.Wanted, v.Setpoint, v.Readback} {
		if x.Known() {
			return float64(x)
		}
	}
	return math.NaN()
}

// inside is what may be asked of variable i now.
func (f *foresight) inside(i int) (low, high float64) {
	low, high = f.o.Allowed(i)
	if v, ok := f.variable(i); ok && v.Low.Known() && v.High.Known() {
		low, high = max(low, float64(v.Low)), min(high, float64(v.High))
	}
	return low, high
}

// move is what becomes of variable i when it goes to x.
func (f *foresight) move(i int, x float64) control.Move {
	v := &f.o.Variables[i]
	return control.Move{Variable: v.Name, Unit: v.Unit, From: journal.Number(f.at(i)), To: journal.Number(x), Text: plan.InUnit(x, v.Unit)}
}

// told is the same where words alone say it.
func (f *foresight) told(i int, text string) control.Move {
	m := f.move(i, math.NaN())
	m.Text = text
	return m
}

// try is what a setting of a person's own moves: all values are named in Args, so that it is this
// setting which is tried.
func (f *foresight) try(args json.RawMessage) (p control.Preview, err error) {
	t, err := control.ParseTry(args)
	if err != nil {
		return p, err
	}
	x, set, err := f.o.TrySetting(t.Values, f.inside)
	if err != nil {
		return p, err
	}
	var rests []func(i int) float64
	if r := f.status.Recommended; r != nil && t.Rest != control.RestPresent {
		rests = append(rests, func(i int) float64 { return float64(r.Values[i]) })
	}
	if err := f.o.CompleteTry(x, set, f.inside, append(rests, f.at)...); err != nil {
		return p, err
	}
	p.Moves = f.moves(x)
	p.Words = "tried after the present step"
	if t.Times > 1 {
		p.Words += fmt.Sprintf(", in %d steps", t.Times)
	}
	c := f.o.ControlSets[set]
	p.Words += fmt.Sprintf(", by the control set of %s, whose own price is %s a step", strings.Join(f.o.SetNames(set), ", "), plan.InUnit(c.Cost, f.o.Cost.Unit))
	t.Values, t.Rest = map[string]float64{}, control.RestPresent
	for i := range x {
		if !math.IsNaN(x[i]) {
			t.Values[f.o.Variables[i].Name] = x[i]
		}
	}
	p.Args, err = control.ArgsOf(t, control.ReasonOf(args))
	return p, err
}

// moves are those of a step with setting x, NaN where it leaves a variable alone.
func (f *foresight) moves(x []float64) []control.Move {
	out := []control.Move{}
	for i := range f.o.Variables {
		v := &f.o.Variables[i]
		kept, is := v.Kept()
		switch {
		case v.Dose && x[i] > 0:
			out = append(out, f.told(i, plan.InUnit(x[i], v.Unit)+" is given, which nothing takes back"))
		case v.Dose, !v.Actuated:
		case !math.IsNaN(x[i]):
			out = append(out, f.move(i, x[i]))
		case is:
			out = append(out, f.move(i, kept))
		case v.OnRelease == plan.Hold:
			out = append(out, f.told(i, "stays where it is"))
		default:
			out = append(out, f.told(i, "let go"))
		}
	}
	return out
}

// setBest is what the end of the search at the recommended setting moves.
func (f *foresight) setBest(p control.Preview) (control.Preview, error) {
	r := f.status.Recommended
	if r == nil {
		return p, errors.New("no step has given data yet: there is no best setting")
	}
	x := policy.NaNs(len(f.o.Variables))
	for i := range min(len(x), len(r.Values)) {
		x[i] = float64(r.Values[i])
	}
	p.Moves = f.moves(x)
	p.Words = "the search ends, and the run goes to the recommended setting"
	if f.o.Verify.Pairs > 0 {
		p.Words = "the search ends; the recommended setting is measured in turn with the starting one, then the run goes to it"
	}
	return p, nil
}

// frozen is what frozen variables do.
func (f *foresight) frozen(values map[string]float64) []control.Move {
	out := []control.Move{}
	for i := range f.o.Variables {
		if x, named := values[f.o.Variables[i].Name]; named {
			out = append(out, f.move(i, x))
		}
	}
	return out
}

// rests are what becomes of each actuator, in the status's words.
func (f *foresight) rests(word func(control.VariableStatus) string) []control.Move {
	out := []control.Move{}
	for i := range f.o.Variables {
		if v, ok := f.variable(i); ok && word(v) != "" {
			out = append(out, f.told(i, word(v)))
		}
	}
	return out
}
