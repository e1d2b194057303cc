// Package wire reads what instruments write, strictly: lines of a bounded
// length, numbers in decimal notation, JSON without surprises.
//
// The standard parsers are too kind for a control loop. [strconv.ParseFloat]
// takes NaN, infinities, hexadecimal and underscores; encoding/json takes the
// last of two equal keys, matches "ID" to a field named id, and replaces bytes
// that are not UTF-8. What this package accepts is finite and unambiguous;
// everything else is an error that shows what came.
package wire
