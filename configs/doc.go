// Package configs holds the configuration's schema, beside the sample files
// that prove it.
//
// # Words
//
// A section is a TOML table ([objective]) or one element of an array of tables
// ([[sensor]]). A key is one name in it. A problem is one thing that is wrong
// with a file: where, which key, what, and what to do about it. A setting is one
// key of the effective configuration: its value and its origin, a line of the
// file or the schema's default.
//
// # From a file to a Config
//
//	bytes ── toml.Decode ──> generic tree ─┐
//	   └──── scan ─────────> lines of keys ─┴─ walk(schema) ──> Config ── Validate ──> Problems
//
// [Parse] reads the text into a generic tree and walks it against the structs
// of this package, whose field tags are the schema:
//
//	toml      the key
//	doc       what the key says, in one sentence
//	unit      what a number is counted in
//	bound     what a number must satisfy: "> 0", ">= 1, <= 4096"
//	enum      the words that a string may be, separated by commas
//	required  "true" where the key must be written
//
// The same tags give the reference table ([Reference]) and serve the drivers,
// which declare their own keys in structs of their own and never import this
// package ([Device.Decode]). The TOML library knows neither the lines of keys
// nor how to go on after a first error, so the lines come from a small scanner
// that is checked against the library's own list of keys.
//
// A pointer field is an optional key: nil means that the file does not have it.
// Times are [time.Duration], written as "250ms" or "336h". All other defaults
// stand in defaults.go, each with its reason.
//
// # How keys are named in messages
//
// By their TOML path, where an element of a repeated section goes by its name,
// or else by its number, counted from one: sensor.pulse_energy.range,
// control_set.3.cost.
package configs
