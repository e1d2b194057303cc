// Package guard owns the safety layer's state: it alone writes a safety.State.
//
// It knows the limits and what holds now, and no device. In each tick it receives what the
// instrument has to say and what the step wants, and says what may be done:
//
//	Hear(sensor, value, at) bool                  the only door for samples
//	Tick(command, Told) Ruling                    safety.Output, whether the mode has turned
//	Save(), Handle(worker.Result)                 latches and doses made durable, on a worker of their own
//
// It decides whether a run may start (what an earlier one left latched, how often a machine
// has started by itself), keeps the control state and looks whether its files are there,
// watches that the loop goes on, records the safety trace, and says in words what holds a
// run up.
package guard
