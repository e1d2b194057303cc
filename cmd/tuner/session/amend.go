package session

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// amend looks at a change that is asked for while the run goes on: what it sets is read as if
// it stood in the file. It runs on a worker of the loop's.
func (s *session) amend(before plan.Changes, w loop.EditRequest) (a plan.Amended, err error) {
	now, err := s.base.Anew(s.Env, before)
	if err != nil {
		return a, plainly(err)
	}
	m := amender{now: now, edit: w.Edit, set: map[string]string{}}
	switch w.Command {
	case control.CommandStrike, control.CommandUnstrike:
		a.Change, err = strike(s.journal.Path(), &now.Options, before, w)
	case control.CommandNarrow, control.CommandWiden:
		err = m.ranges(w.Command == control.CommandNarrow)
	case control.CommandFreeze:
		err = m.freeze()
	case control.CommandFree:
		err = m.free()
	default:
		err = m.keys()
	}
	if err != nil {
		return a, err
	}
	if len(m.set) > 0 {
		a.Change.Set, a.Change.Words = m.set, strings.Join(m.words, "; ")
	}
	next, err := s.base.Anew(s.Env, append(before[:len(before):len(before)], a.Change))
	if err != nil {
		return a, plainly(err)
	}
	a.Options = next.Options
	return a, nil
}

// plainly tells what a file would be refused for, without the file's name and lines: the
// person has not written it there.
func plainly(err error) error {
	broken := (*configs.Error)(nil)
	if !errors.As(err, &broken) {
		return err
	}
	var words []string
	for _, p := range broken.Problems {
		words = append(words, p.Key+": "+p.What)
	}
	return errors.New(strings.Join(words, "; "))
}

// amender turns what a command names into keys of the file.
type amender struct {
	now   *setup.Setup
	edit  control.Edit
	set   map[string]string
	words []string
}

// variable finds a variable by its name.
func (m *amender) variable(name string) (*configs.Variable, *plan.Variable, error) {
	var names []string
	for i := range m.now.Config.Variables {
		c := &m.now.Config.Variables[i]
		if c.Name == name {
			return c, &m.now.Options.Variables[i], nil
		}
		names = append(names, c.Name)
	}
	return nil, nil, fmt.Errorf("there is no variable %q; there are %s", control.Clip(name), strings.Join(names, ", "))
}

// ranges narrows or widens ranges.
func (m *amender) ranges(narrow bool) error {
	for _, name := range slices.Sorted(maps.Keys(m.edit.Ranges)) {
		c, v, err := m.variable(name)
		if err != nil {
			return err
		}
		from, to := c.Range, configs.Range{Lo: m.edit.Ranges[name][0], Hi: m.edit.Ranges[name][1]}
		text := rangeText(to, c.Unit) + " for " + name
		switch {
		case to == from:
			return fmt.Errorf("the range of %s is %s already", name, rangeText(from, c.Unit))
		case narrow && (to.Lo < from.Lo || to.Hi > from.Hi):
			return fmt.Errorf("%s is not inside its present range, %s: use widen", text, rangeText(from, c.Unit))
		case !narrow && (to.Lo > from.Lo || to.Hi < from.Hi):
			return fmt.Errorf("%s does not contain its present range, %s: use narrow", text, rangeText(from, c.Unit))
		case !narrow && v.Actuated && (to.Lo < v.Limits.Low || to.Hi > v.Limits.High):
			return fmt.Errorf("%s reaches outside its hard limits, %s, which no command changes", text, rangeText(configs.Range{Lo: v.Limits.Low, Hi: v.Limits.High}, c.Unit))
		}
		m.set["variable."+name+".range"] = fmt.Sprintf("[%s, %s]", number(to.Lo), number(to.Hi))
		if c.Start != nil && !to.Contains(*c.Start) { // where the run began is on record
			m.set["variable."+name+".start"] = ""
		}
		m.words = append(m.words, fmt.Sprintf("the range of %s is %s (was %s)", name, rangeText(to, c.Unit), rangeText(from, c.Unit)))
	}
	return nil
}

// freeze keeps variables at values.
func (m *amender) freeze() error {
	for _, name := range slices.Sorted(maps.Keys(m.edit.Values)) {
		c, v, err := m.variable(name)
		if err != nil {
			return err
		}
		x := m.edit.Values[name]
		switch {
		case !v.Actuated:
			return fmt.Errorf("%s is measured only: nothing can keep it at a value", name)
		case c.Frozen != nil && *c.Frozen == x:
			return fmt.Errorf("%s is frozen at %s already", name, plan.InUnit(x, c.Unit))
		case !c.Range.Contains(x):
			return fmt.Errorf("%s = %s is outside its range, %s", name, plan.InUnit(x, c.Unit), rangeText(c.Range, c.Unit))
		}
		m.set["variable."+name+".frozen"] = number(x)
		m.words = append(m.words, fmt.Sprintf("%s is frozen at %s", name, plan.InUnit(x, c.Unit)))
	}
	return nil
}

// free has variables tuned again.
func (m *amender) free() error {
	for _, name := range m.edit.Variables {
		c, _, err := m.variable(name)
		if err != nil {
			return err
		}
		if c.Frozen == nil {
			return fmt.Errorf("%s is not frozen", name)
		}
		m.set["variable."+name+".frozen"] = ""
		m.words = append(m.words, name+" is tuned again")
	}
	return nil
}

// keys sets keys of the file.
func (m *amender) keys() error {
	for _, key := range slices.Sorted(maps.Keys(m.edit.Set)) {
		if !configs.Changeable(key, setup.Known()) {
			return fmt.Errorf("%s does not change while a run goes on; these do: %s", control.Clip(key), strings.Join(ChangeableKeys(), ", "))
		}
		m.set[key] = m.edit.Set[key]
		m.words = append(m.words, fmt.Sprintf("%s = %s (was %s)", key, cmp.Or(m.set[key], "left out"), cmp.Or(m.now.Config.ValueOf(key), "absent")))
	}
	return nil
}

// ChangeableKeys are the keys that the command change sets; NAME stands for that of one of
// several.
func ChangeableKeys() (keys []string) {
	for _, r := range configs.Reloadable(setup.Known()) {
		if configs.Changeable(r[0], setup.Known()) {
			keys = append(keys, strings.ReplaceAll(r[0], "*", "NAME"))
		}
	}
	return keys
}

// rangeText is a range for people.
func rangeText(r configs.Range, unit string) string {
	return show.WithUnit("["+show.Number(r.Lo)+", "+show.Number(r.Hi)+"]", unit)
}

// number is a number in TOML.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
