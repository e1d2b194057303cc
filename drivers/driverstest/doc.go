// Package driverstest holds what the tests of drivers, and of what uses drivers,
// have in common.
//
// [Record] wraps a device and writes down every call and its answer in a
// [Transcript]; [Playback] is a device that gives the same answers to the same
// calls, and fails on others. A transcript can be stored as JSON lines, so that a
// session with an instrument on the bench becomes a test without it. [Conform]
// checks a device against the contract of package drivers.
//
// Package broker beside this one starts an MQTT broker for a test.
package driverstest
