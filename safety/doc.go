// Package safety is the layer between what the optimizer proposes and what is
// written to an actuator. It is a pure function: no clock, no I/O, no allocation,
// no dependency, so that what it did can be done over from its inputs.
//
// # Words
//
// A destination is where a variable is to go; the setpoint is what is written in
// this tick on the way there. Clamping changes the destination to the nearest one
// inside the hard bounds. Slew shapes the way and never changes the destination.
// An actuator is taken over at the value where it is, so nothing jumps.
//
// A cause is a rule that asks for a reaction, with the sensor, variable or link
// that it is about. The first-out is the cause, or the causes of one tick, that
// came when there was none. A latch is a cause that stays after its reason has
// gone, until it is acknowledged or reset.
//
// The layer clamps what is small, refuses what is large, holds when it is unsure,
// and trips, and stays tripped, when something is wrong.
//
// # How to read it
//
//	ruletable.go every rule: number, home, reaction, how it clears, why its default
//	rules.go     reactions, and ways to clear
//	limits.go    what does not change during a run
//	inputs.go    what comes in, what goes out
//	step.go      Step: the order of everything, and what is remembered
//	saved.go     the part of it that outlives the process
//	mode.go      the state machine
//	causes.go    causes, first-out and latches
//	watch.go     rules that look at time: interlocks, links, stale sensors
//	sensor.go    rules on each reading: range, spike, stuck, disagreement
//	actuator.go  rules on what an actuator does: readback, response, exposure
//	values.go    rules on values: finite, bounds, slew, dwell, resolution, lease
//	duty.go      the part of the time above a value
//	dose.go      budgets of what cannot be taken back
//	amount.go    variables of doses: an amount, given once
//
// The pipeline, in this order, for each variable that is driven:
//
//	finite → mode → bounds → slew → dwell → quantise → budget → assert → lease
//
// A variable of doses has its own pipeline, in which nothing is ever done twice:
//
//	finite → mode → bounds → quantise → interval, response → budget → durable → given once
//
// The layer is not a certified safety function. It bounds what this program
// writes; it cannot act when the computer is dead. Wire an emergency stop into the
// actuators' supply.
package safety
