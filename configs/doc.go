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
//	bytes ── package schema, by the tags of structs ──> Config ── checks of several keys ──> Problems
//
// The structs of this package, with their tags, are the schema; package schema reads a
// file against them, knows the line of every key, and lists what is effective, and where
// it comes from. Drivers declare their own keys in structs of their own and never import
// this package ([Device.Decode]).
//
// A pointer field is an optional key: nil means that the file does not have it.
// Times are [time.Duration], written as "250ms" or "336h". All other defaults
// are tags, each with its reason above the field; those that depend on other keys stand in
// derive.go.
//
// # How keys are named in messages
//
// By their TOML path, where an element of a repeated section goes by its name,
// or else by its number, counted from one: sensor.pulse_energy.range,
// control_set.3.cost.
package configs
