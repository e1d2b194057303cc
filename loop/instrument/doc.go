// Package instrument is the wire: devices, what was read of them, and what their
// actuators are sent.
//
// An [Instrument] keeps at most one read and one write of each device in flight, each a
// job on the device's worker, and never waits for either. What a job brings comes back
// through Handle as events. A setpoint passes through it twice, with the safety layer
// between:
//
//	Aim, Release, Dose   -> Wish(*safety.Proposal) -> (guard) -> Apply(safety.Output) -> the device's worker
//	the device's worker  -> Handle -> Heard -> (guard) -> Accept -> View -> shots
//
// Of each actuator it keeps three things apart: the wish (what the step wants), the ruling
// (what the safety layer said of it last) and the wire (what the device has acknowledged).
// A device that fails is opened again, its actuators are read before they are driven; a
// safe value waits for nothing (makesafe.go lists every gate).
package instrument
