package front

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Quantity names a sensor of the record, or the objective, and which way is better.
type Quantity struct {
	// Sensor indexes Options.Sensors; -1: the objective of a shot.
	Sensor   int
	Maximize bool
}

// none is no number.
var none = journal.Number(math.NaN())

// sensorWords say what the values of a sensor are.
const sensorWords = "mean over the shots at the setting; low and high are two standard errors away"

// OfSensors weighs two quantities over the settings that a run has measured: all shots of one
// setting count together, whichever steps they are of, with their standard error. counts says which
// steps count; nil: all. A shot without both values does not count.
//
// Errors: a dry run, which sets nothing, and what reading the journal gives.
func OfSensors(o *plan.Options, r *journal.Reader, first, second Quantity, counts func(journal.Step) bool) (*Front, error) {
	if o.Mode == plan.Shadow {
		return nil, errors.New("a dry run sets nothing: its journal has no settings that were measured")
	}
	m := measured{opt: o, first: first, second: second, at: map[string]int{}}
	shotsOf := r.ShotsAhead()
	for s, err := range r.Steps() {
		if err != nil {
			return nil, err
		}
		if !s.Concluded {
			break
		}
		shots, err := shotsOf(s.Decision.Step)
		if err != nil {
			return nil, err
		}
		if s.Outcome.Valid && (counts == nil || counts(s)) {
			m.add(&s, shots)
		}
	}
	f := &Front{First: m.axis(first), Second: m.axis(second)}
	f.setPoints(m.points())
	return f, nil
}

// measured gathers what was measured, by setting.
type measured struct {
	opt           *plan.Options
	first, second Quantity
	// at is where the entry of a setting is.
	at  map[string]int
	all []entry
}

// entry is one setting.
type entry struct {
	set           int
	x             []float64
	left          []moments
	first, second moments
	steps         int
	feasible      bool
}

// add counts the shots of a step.
func (m *measured) add(s *journal.Step, shots []journal.Shot) {
	key := fmt.Sprint(s.Decision.ControlSet, s.Decision.Applied) // the shortest text that gives the same numbers
	i, there := m.at[key]
	if !there {
		i = len(m.all)
		m.at[key] = i
		m.all = append(m.all, entry{set: s.Decision.ControlSet, x: s.Decision.Applied, left: make([]moments, len(s.Decision.Applied)), feasible: true})
	}
	e := &m.all[i]
	counted := false
	kept := make([]moments, len(m.opt.Constraints))
	for k := range shots {
		shot := &shots[k]
		a, b := m.first.of(shot), m.second.of(shot)
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		counted = true
		e.first.add(a)
		e.second.add(b)
		for j := range e.left {
			e.left[j].add(shot.X[j])
		}
		for j, c := range m.opt.Constraints {
			kept[j].add(shot.Sensors[c.Sensor])
		}
	}
	if counted {
		e.steps++
	}
	for j, c := range m.opt.Constraints {
		e.feasible = e.feasible && !(kept[j].mean < c.Low || kept[j].mean > c.High)
	}
}

// of is the quantity in one shot.
func (q Quantity) of(s *journal.Shot) float64 {
	if q.Sensor < 0 {
		return s.Objective
	}
	return s.Sensors[q.Sensor]
}

// axis describes a quantity.
func (m *measured) axis(q Quantity) Axis {
	if q.Sensor < 0 {
		return Axis{Name: "objective", Unit: m.opt.Objective.Unit, Maximize: q.Maximize, Of: m.opt.Objective.Name + ": " + sensorWords}
	}
	s := &m.opt.Sensors[q.Sensor]
	return Axis{Name: s.Name, Unit: s.Unit, Maximize: q.Maximize, Of: sensorWords}
}

// points are the settings.
func (m *measured) points() (out []Point) {
	for i := range m.all {
		e := &m.all[i]
		left := make([]policy.Left, len(e.left))
		for j := range left {
			left[j] = policy.Left{Mean: e.left[j].mean, SD: math.NaN()}
		}
		parts := control.SettingOf(m.opt, e.x, left)
		p := Point{ControlSet: []string{}, Variables: parts, Try: control.TryLine(m.opt.Run.Name, parts), First: e.first.value(), Second: e.second.value(),
			Feasible: e.feasible, Steps: e.steps, Shots: e.first.n}
		if e.set >= 0 {
			p.ControlSet = slices.Clone(m.opt.SetNames(e.set))
		}
		out = append(out, p)
	}
	return out
}

// moments are a mean and the sum of squares around it, taken in one by one (Welford's way,
// Technometrics 4 (1962) 419).
type moments struct {
	n            int
	mean, square float64
}

func (m *moments) add(v float64) {
	if m.n++; m.n == 1 {
		m.mean = v
		return
	}
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.square += d * (v - m.mean)
}

// value is the mean with its standard error, of single shots that do not depend on each other.
func (m *moments) value() Value {
	if m.n == 0 {
		return Value{none, none, none, none}
	}
	se := math.NaN()
	if m.n > 1 {
		se = math.Sqrt(m.square / float64(m.n-1) / float64(m.n))
	}
	return Value{journal.Number(m.mean), journal.Number(se), journal.Number(m.mean - 2*se), journal.Number(m.mean + 2*se)}
}
