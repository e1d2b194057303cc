// Package safety is the layer between what the optimizer proposes and what is
// written to an actuator. It is a pure function: no clock, no I/O, no
// allocation, no dependency, so that a run can be replayed through it.
//
// # Words
//
// A destination is where a variable is to go; the setpoint is what is written in
// this tick on the way there. Clamping changes the destination to the nearest
// one inside the hard bounds. Slew shapes the way and never changes the
// destination: the setpoint moves towards it by at most slew times the time that
// passed since the last setpoint.
//
// The pipeline, in this order, for each variable that is driven:
//
//	finite → hard bounds → slew → quantise → final assert
//
// The layer is not a certified safety function. It bounds what this program
// writes; it cannot act when the computer is dead. Wire an emergency stop into
// the actuators' supply.
package safety

import (
	"math"
	"time"
)

// MaxVariables bounds the number of variables, so that a State is a plain value
// of fixed size and Step allocates nothing.
const MaxVariables = 32

// VariableLimits are the limits of one variable, in the variable's unit.
type VariableLimits struct {
	// Low and High are the hard bounds: no setpoint lies outside. Low < High.
	Low, High float64
	// SlewUp and SlewDown bound the rate of change, in units per second; > 0.
	SlewUp, SlewDown float64
	// Safe is the declared safe value, inside the hard bounds.
	Safe float64
	// Resolution is the device's step; 0: continuous. Setpoints on the way are
	// multiples of it, rounded towards Safe; a destination is written as it is.
	Resolution float64
}

// Limits are the limits of a run: they do not change while it lasts.
type Limits struct {
	// N is the number of variables, at most MaxVariables.
	N int
	// Tick is the nominal period. A measured period counts as at most two ticks,
	// so that a pause never turns into one large step.
	Tick     time.Duration
	Variable [MaxVariables]VariableLimits
}

// VariableState is what the layer remembers of one variable.
type VariableState struct {
	// Applied is where the way has come to before quantisation, or the readback
	// that the variable was taken over at; meaningful if Known.
	Applied float64
	Known   bool
}

// State is what the layer remembers between ticks. The zero State knows nothing.
type State struct {
	// Last is the time of the last Step, meaningful if Ticked.
	Last     time.Duration
	Ticked   bool
	Variable [MaxVariables]VariableState
}

// Inputs are this tick's measurements.
type Inputs struct {
	// Readback is each variable's present value, NaN where it is not known.
	Readback [MaxVariables]float64
}

// Proposal is what is wanted of each variable.
type Proposal struct {
	// Drive says whether the variable is to be driven at all. One that is not
	// driven is forgotten: it is taken over from its readback when it is driven
	// again, without a bump.
	Drive [MaxVariables]bool
	// Destination is where it is to go.
	Destination [MaxVariables]float64
	// AtOnce skips slew: for a declared safe value that must not wait.
	AtOnce [MaxVariables]bool
}

// Reasons is a set of rules that acted on one variable.
type Reasons uint32

// The rules.
const (
	// NotFinite: the destination was NaN or infinite; the last setpoint stands.
	NotFinite Reasons = 1 << iota
	// HardBounds: the destination was clamped.
	HardBounds
	// Slew: the setpoint is not yet at the destination.
	Slew
	// NoReadback: nothing is known of where the variable stands, so it cannot be
	// approached gradually; the declared safe value stands in for it.
	NoReadback
	// FinalAssert: the pipeline's result was not finite or out of bounds, a defect
	// of the layer itself; nothing is written.
	FinalAssert
)

// names of the rules, in bit order.
var names = [...]string{"not-finite", "hard-bounds", "slew", "no-readback", "final-assert"}

// Names returns the names of the rules in r, in the pipeline's order.
func (r Reasons) Names() []string {
	var out []string
	for i, name := range names {
		if r&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Output is what Step decided for each variable.
type Output struct {
	// Write says whether there is a setpoint to write; the others are untouched.
	Write [MaxVariables]bool
	// Setpoint is what to write now.
	Setpoint [MaxVariables]float64
	// Destination is the destination after clamping.
	Destination [MaxVariables]float64
	// Arrived says that Setpoint is the destination.
	Arrived [MaxVariables]bool
	Reasons [MaxVariables]Reasons
}

// Step passes one tick's proposal through the rules. now is the time since the
// start of the run, by a monotonic clock; a now that does not grow counts as no
// time. Setpoints are finite, inside the hard bounds, and outside AtOnce differ
// from the last one by at most slew·min(now-last, 2·Tick) and one step of the
// resolution, except that a variable that stands outside its hard bounds is
// brought to the nearest bound.
func Step(limits *Limits, state State, in Inputs, p Proposal, now time.Duration) (State, Output) {
	var out Output
	dt := elapsed(limits, &state, now)
	for i := range min(limits.N, MaxVariables) {
		v := &state.Variable[i]
		if !p.Drive[i] {
			*v = VariableState{}
			continue
		}
		l := &limits.Variable[i]
		if !v.Known {
			takeOver(v, l, in.Readback[i], &out.Reasons[i])
		}
		drive(l, v, i, &p, dt, &out)
	}
	state.Last, state.Ticked = now, true
	return state, out
}

// elapsed is the time that slew may use, in seconds.
func elapsed(limits *Limits, state *State, now time.Duration) float64 {
	if !state.Ticked {
		return 0
	}
	return min(max(now-state.Last, 0), 2*limits.Tick).Seconds()
}

// takeOver starts driving a variable from where it stands.
func takeOver(v *VariableState, l *VariableLimits, readback float64, r *Reasons) {
	v.Applied, v.Known = readback, true
	if !finite(readback) {
		v.Applied = l.Safe
		*r |= NoReadback
	}
}

// drive runs the pipeline for one variable.
func drive(l *VariableLimits, v *VariableState, i int, p *Proposal, dt float64, out *Output) {
	r := &out.Reasons[i]
	dest := p.Destination[i]
	if !finite(dest) {
		*r |= NotFinite
		dest = v.Applied
	}
	if clamped := clamp(dest, l.Low, l.High); clamped != dest {
		*r |= HardBounds
		dest = clamped
	}
	set := dest
	if !p.AtOnce[i] {
		from := clamp(v.Applied, l.Low, l.High)
		set = clamp(dest, from-l.SlewDown*dt, from+l.SlewUp*dt)
	}
	way := set
	if set != dest {
		*r |= Slew
		set = quantise(l, set)
	}
	if !finite(set) || set < l.Low || set > l.High {
		*r |= FinalAssert
		return
	}
	v.Applied = way
	out.Write[i], out.Setpoint[i], out.Destination[i], out.Arrived[i] = true, set, dest, way == dest
}

// quantise rounds a setpoint on the way to the device's grid, towards the safe
// value, where the grid has a point inside the hard bounds.
func quantise(l *VariableLimits, x float64) float64 {
	if l.Resolution <= 0 {
		return x
	}
	steps := x / l.Resolution
	if x > l.Safe {
		steps = math.Floor(steps)
	} else {
		steps = math.Ceil(steps)
	}
	if q := steps * l.Resolution; q >= l.Low && q <= l.High {
		return q
	}
	return x
}

// Clamp returns the destination that Step would make of x, and the rule that
// changed it (0 if none). It lets a caller record what a proposal becomes before
// the way there begins. A destination that is not finite becomes fallback.
func Clamp(l *VariableLimits, x, fallback float64) (float64, Reasons) {
	var r Reasons
	if !finite(x) {
		x, r = fallback, NotFinite
	}
	if c := clamp(x, l.Low, l.High); c != x {
		return c, r | HardBounds
	}
	return x, r
}

func clamp(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
