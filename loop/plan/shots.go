package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// View is what an instrument shows: what was read of each sensor and variable last, what a
// channel gave in place of a value, what an actuator acknowledged and what was dosed.
type View interface {
	Sensor(i int) Reading
	// OddSensor is what was not believed last.
	OddSensor(i int) Reading
	Variable(i int) Reading
	Answer(c Channel) string
	Written(i int) float64
	Given(i int) float64
}

// Shots are those of a step in the making. A shot is one value of the objective with
// everything of the same instant.
type Shots struct {
	step int
	// random has one entry per variable: it is left alone in this step.
	random []bool
	// from is when the instrument has settled: what was asked or answered before is none of
	// the step's. waitedFrom is when the wait for the next shot began.
	from, waitedFrom time.Time
	pace
	// pending says that a shot of the instant at waits for other sensors.
	pending bool
	at      time.Time
	// unusable says why the last value of the objective is none, nil where it is one; refused is how many of the step were
	// none, and refusal why the last of them was.
	unusable, refusal error
	refused           int
	taken             []journal.Shot
	// block is for how many shots memory is taken at a time, room what is left for their readings.
	block int
	room  []float64
}

// blockMost bounds block: a step that ends early has no use for it.
const blockMost = 16

// NewShots are those of a step that takes so many; random says of each variable whether it is left alone.
func NewShots(step, wanted int, random []bool) Shots {
	return Shots{step: step, random: random, block: min(wanted, blockMost)}
}

// Settle lets the instrument settle until end.
func (s *Shots) Settle(end time.Time) { s.from = end }

// Settled says that the instrument has settled.
func (s *Shots) Settled(now time.Time) bool { return !now.Before(s.from) }

// Begin begins to take shots: what is asked for and answered from now on belongs to the
// setting.
func (s *Shots) Begin(now time.Time) {
	s.from, s.waitedFrom, s.pace, s.unusable = now, now, pace{}, nil
}

// Freeze stops the clocks for as long as it was past; Drop forgets the shot that waits.
func (s *Shots) Freeze(past time.Duration) {
	s.from, s.waitedFrom = s.from.Add(past), s.waitedFrom.Add(past)
}

func (s *Shots) Drop() { s.pending = false }

// Mine says that what was asked then belongs to the step.
func (s *Shots) Mine(asked time.Time) bool { return !asked.Before(s.from) }

// Taken are the shots so far.
func (s *Shots) Taken() []journal.Shot { return s.taken }

// Waited is how long the next shot has been waited for.
func (s *Shots) Waited(now time.Time) time.Duration { return now.Sub(s.waitedFrom) }

// Offer makes a shot of a new value of the objective, and reports whether it is complete.
// It waits for sensors of other devices that are late by no more than their skew.
func (s *Shots) Offer(o *Options, v View, renewed []int, at, asked time.Time, now journal.Stamp) bool {
	if !s.Mine(at) || !s.Mine(asked) || s.again(at, asked) {
		return false
	}
	if slices.Contains(renewed, o.Objective.Uses[0]) && s.Due(asked) {
		s.pending, s.at, s.asked = true, at, asked
	}
	return s.Try(o, v, now)
}

// Try completes the pending shot if everything it needs is there.
func (s *Shots) Try(o *Options, v View, now journal.Stamp) bool {
	if !s.pending {
		return false
	}
	shot, ok := s.fill(o, v)
	if !ok {
		return false
	}
	s.pending = false
	y, err := o.Objective.Of(shot.Sensors)
	if s.unusable = err; err != nil {
		s.refused, s.refusal = s.refused+1, err
		return false // no data: the wait for the next value goes on
	}
	shot.Step, shot.Index, shot.Objective, shot.At = s.step, len(s.taken), y, now
	s.keep(shot)
	s.waitedFrom = now.Wall
	if o.Objective.Every > 0 {
		s.next = s.asked.Add(o.Objective.Every)
	}
	return true
}

// keep adds a shot that was filled.
func (s *Shots) keep(shot journal.Shot) {
	if len(s.taken) == cap(s.taken) {
		s.taken = append(make([]journal.Shot, 0, len(s.taken)+max(s.block, 1)), s.taken...)
	}
	s.taken = append(s.taken, shot)
	s.room = s.room[even(len(shot.Sensors))+even(len(shot.X)):]
}

// fill gathers the values of the shot's instant, in room; it reports false while one that
// is needed is missing.
func (s *Shots) fill(o *Options, view View) (p journal.Shot, ok bool) {
	sensors, variables, x := len(o.Sensors), len(o.Variables), even(len(o.Sensors))
	if all := x + even(variables); len(s.room) < all {
		s.room = make([]float64, max(s.block, 1)*all)
	}
	p.Sensors, p.X = s.room[:sensors:sensors], s.room[x:x+variables:x+variables]
	for i := range o.Sensors {
		v := &o.Sensors[i]
		e := view.Sensor(i)
		p.Sensors[i] = math.NaN()
		if e.Belongs(s.at, v.MaxAge, v.MaxSkew) {
			p.Sensors[i] = e.Value
		} else if slices.Contains(o.Objective.Uses, i) {
			return p, false
		}
	}
	for i := range o.Variables {
		v := &o.Variables[i]
		e := view.Variable(i)
		switch {
		case v.Dose:
			p.X[i] = view.Given(i)
		case e.Belongs(s.at, v.MaxAge, 0):
			p.X[i] = e.Value
		case v.Tolerance <= 0 && !s.random[i] && !math.IsNaN(view.Written(i)):
			p.X[i] = view.Written(i)
		default:
			return p, false
		}
	}
	return p, true
}

// Unusable says, in words, that there were values of the objective beside the shots that are none, "" where there were none.
func (s *Shots) Unusable() string {
	if s.refused == 0 || len(s.taken) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the objective in step %d could not be used, the last because %v; the step has the others, %s",
		Counted(s.refused, "value"), s.step, s.refusal, Counted(len(s.taken), "shot"))
}

// Missing names what kept shots from being complete.
func (s *Shots) Missing(o *Options, view View, now time.Time) string {
	for i := range o.Sensors {
		if !slices.Contains(o.Objective.Uses, i) {
			continue
		}
		v, e := &o.Sensors[i], view.Sensor(i)
		if odd := v.OddWords(e, view.OddSensor(i), now); odd != "" && !e.Fresh(now, v.MaxAge) {
			return fmt.Sprintf("sensor %s: %s", v.Name, odd)
		}
		if !e.Known {
			return fmt.Sprintf("sensor %s has never given a value inside [%g, %g] %s%s", v.Name, v.Low, v.High, v.Unit, view.Answer(v.Channel))
		}
		if !e.Fresh(now, v.MaxAge) {
			return fmt.Sprintf("sensor %s has been silent for %v%s", v.Name, now.Sub(e.At), view.Answer(v.Channel))
		}
	}
	for i := range o.Variables {
		v, e := &o.Variables[i], view.Variable(i)
		if v.Channel.Device >= 0 && !v.Dose && !e.Fresh(now, v.MaxAge) && (s.random[i] || v.Tolerance > 0) {
			return fmt.Sprintf("variable %s has no fresh reading%s", v.Name, view.Answer(v.Channel))
		}
	}
	if s.unusable != nil {
		return s.unusable.Error()
	}
	return "the objective has no new value"
}
