package instrument

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// actuator is one variable's, in three parts: where the step wants it, what the safety
// layer said of that, and what its device has made of it.
type actuator struct {
	wish
	ruling
	wire
}

// wish is what the step wants of an actuator.
type wish struct {
	// drive says that the variable is driven to dest through the safety layer.
	drive bool
	dest  float64
	// bad says that the policy asked for what is not finite; dest stands in for it.
	bad bool
	// release says that the device is to let go.
	release bool
	// dose numbers the dose that is wanted, 0: none; dest is its amount then.
	dose int64
}

// ruling is what the safety layer said last of the wish; none yet of a new one.
type ruling struct {
	// arrived says that what the device acknowledged is the destination, failed that a dose
	// was not given, or that nobody knows.
	arrived, failed bool
}

// wire is what a device has made of what was sent to it.
type wire struct {
	// released says that it has let go.
	released bool
	// written is the last setpoint that the device acknowledged, first at writtenAt;
	// NaN: none since it was last released.
	written   float64
	writtenAt time.Time
	// lost says that the outcome of a write is unknown since the last tick, lostAt when the layer
	// was told so last; unsure that something else than written was given out, or was lost, and
	// nothing has been acknowledged that was asked for since.
	lost, unsure bool
	lostAt       time.Time
	// refused is the device's no to what was sent last, refusedSafe that this was a rest
	// state.
	refused     error
	refusedSafe bool
	// outcome and delivered say what has become of the last dose since the last tick, why
	// is the device's reason; amount is what the step has given.
	outcome           safety.DoseOutcome
	delivered, amount float64
	why               error
}

// actuators are those of all variables, in the order of the plan, with what was read of
// them.
type actuators struct {
	plan *plan.Options
	readings
	all []actuator
	// cameBack has each driven variable whose device has come back since the
	// last Rule, moved each that may have moved since Unsettled: by itself, or by a setpoint.
	cameBack, moved safety.Set
}

func newActuators(o *plan.Options) actuators {
	x := actuators{plan: o, readings: newReadings(o), all: make([]actuator, len(o.Variables))}
	for i := range x.all {
		x.all[i].written = math.NaN()
	}
	return x
}

// anew is what of the wire outlives a change of the wish.
func (w *wire) anew() wire {
	return wire{written: w.written, writtenAt: w.writtenAt, lost: w.lost, lostAt: w.lostAt, unsure: w.unsure, outcome: w.outcome, delivered: w.delivered}
}

// driveTo aims at a destination.
func (a *actuator) driveTo(dest float64) {
	if a.drive && a.dest == dest && !a.release {
		a.refused = nil
		return
	}
	*a = actuator{wish: wish{drive: true, dest: dest}, wire: a.anew()}
}

// letGo asks for a release, unless the device has let go already.
func (a *actuator) letGo() {
	if a.released {
		return
	}
	*a = actuator{wish: wish{release: true}, wire: a.anew()}
	a.written, a.writtenAt = math.NaN(), time.Time{}
}

// dosing wants what is reported of it instead of what was wanted: what is on its way stays on
// it, and the step has given nothing yet.
func (a *actuator) dosing(w wish) {
	released := a.released
	*a = actuator{wish: w, wire: a.anew()}
	a.written, a.writtenAt, a.released = math.NaN(), time.Time{}, released
}

// Aim wants variable i driven to a destination; bad says that it stands in for a value that
// is not finite. It reports whether the wish has changed.
func (x *actuators) Aim(i int, dest float64, bad bool) (changed bool) {
	a := &x.all[i]
	before := a.wish
	a.driveTo(dest)
	a.bad = bad
	return a.differs(before)
}

// LetGo wants variable i released. It reports whether the wish has changed.
func (x *actuators) LetGo(i int) (changed bool) {
	a := &x.all[i]
	before := a.wish
	a.letGo()
	return a.differs(before)
}

func (w wish) differs(before wish) bool {
	return w.dest != before.dest || w.release != before.release || w.drive != before.drive
}

// Stand wants nothing of any actuator: each is left where it is.
func (x *actuators) Stand() {
	for i := range x.all {
		x.all[i].stand()
	}
}

func (a *actuator) stand() { a.drive, a.release = false, false }

// Wish sets p, which is empty or was set before, to what is asked of the safety layer.
func (x *actuators) Wish(p *safety.Proposal, id int64) {
	p.ID = id
	for i := range x.all {
		a := &x.all[i]
		p.Drive[i], p.Destination[i], p.Release[i], p.Dose[i] = a.drive, a.dest, a.release, a.dose
		if a.bad {
			p.Destination[i] = math.NaN() // the layer is to see what was asked for
		}
	}
}

// TakeOver is the value that a variable is taken over from when it begins to
// be driven: what was last written, else what was last read; NaN: nobody knows.
func (x *actuators) TakeOver(i int) float64 {
	if x.plan.Variables[i].Dose {
		return 0 // each dose is all of the way
	}
	if a := &x.all[i]; !math.IsNaN(a.written) {
		return a.written
	}
	if r := x.variables[i]; r.Known {
		return r.Value
	}
	return math.NaN()
}

// InPlace reports whether a driven variable has arrived: acknowledged, and its
// readback, taken after that, within tolerance.
func (x *actuators) InPlace(i int) bool {
	a, v := &x.all[i], &x.plan.Variables[i]
	if a.release {
		return a.released
	}
	if !a.drive {
		return true
	}
	if !a.arrived {
		return false
	}
	if v.Tolerance <= 0 {
		return true
	}
	e := x.variables[i]
	return e.Known && !e.At.Before(a.writtenAt) && math.Abs(e.Value-a.written) <= v.Tolerance
}

// Stuck says why variable i will not arrive, "" while it still may: limit is how long its
// way may take since it was begun. A readback that does not follow is the safety layer's
// business (rule 12).
func (x *Instrument) Stuck(i int, took, limit time.Duration) string {
	a, v := &x.all[i], &x.plan.Variables[i]
	switch {
	case len(x.giving) > 0: // a dose takes its time, and its driver bounds that
		return ""
	case a.refused != nil:
		return fmt.Sprintf("%s: %v", v.Name, a.refused)
	case !x.links[v.Channel.Device].ready(): // while nothing can be written, the safety layer knows of no arrival
		return ""
	case !a.arrived && took > limit:
		return fmt.Sprintf("%s: not written within %v", v.Name, limit)
	}
	return ""
}

// Unsettle says that each driven variable may have moved by itself: while a run is held, hands
// may move them.
func (x *actuators) Unsettle() {
	for i := range x.all {
		if x.all[i].drive {
			x.moved.Add(i)
		}
	}
}

// Unsettled is the longest time to settle among the variables that may have moved since it
// was asked last: by themselves, or by a setpoint. A step whose wish is that of the step
// before moves what that step could not, because its device had refused.
func (x *actuators) Unsettled() (settle time.Duration) {
	for i := range x.all {
		if x.moved.Has(i) {
			settle = max(settle, x.plan.Variables[i].Settle)
		}
	}
	x.moved = safety.Set{}
	return settle
}

// Refused is the device's no to what was sent of variable i last, nil where it said
// none; AskAgain has it sent once more.
func (x *actuators) Refused(i int) error { return x.all[i].refused }
func (x *actuators) AskAgain(i int)      { x.all[i].refused = nil }

// Refuses is the first variable whose device said no to what was sent of it last, -1 where none did.
func (x *actuators) Refuses() int {
	return slices.IndexFunc(x.all, func(a actuator) bool { return a.refused != nil })
}

// Written is what the device of variable i acknowledged last, NaN: nothing since it was
// released; Released that it has let go; Given the amount that this step has dosed.
func (x *actuators) Written(i int) float64 { return x.all[i].written }
func (x *actuators) Released(i int) bool   { return x.all[i].released }
func (x *actuators) Given(i int) float64   { return x.all[i].amount }

// Wanted is where variable i is driven to; false where it is not.
func (x *actuators) Wanted(i int) (dest float64, driven bool) {
	return x.all[i].dest, x.all[i].drive
}

// Actions appends to out, per device, what is going to be done: of is a variable's value, whether it
// is driven there, and whether it is released instead.
func (x *Instrument) Actions(out []journal.Action, kind string, of func(i int) (value float64, driven, released bool)) []journal.Action {
	for d, k := range x.links {
		a := journal.Action{Device: k.name, Kind: kind, Values: map[string]float64{}}
		for i := range x.plan.Variables {
			c := x.plan.Variables[i].Channel
			if c.Device != d {
				continue
			}
			if value, driven, released := of(i); driven {
				a.Values[c.Name] = value
			} else if released {
				a.Release = append(a.Release, c.Name)
			}
		}
		if len(a.Values)+len(a.Release) > 0 {
			out = append(out, a)
		}
	}
	return out
}
