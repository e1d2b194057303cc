// Package schema reads TOML against the tags of structs. It knows no section.
//
//	bytes ── Decode ──> generic tree ─┐
//	   └──── scan ────> lines of keys ─┴─ Walker ──> struct, Problems
//
// The tags of a field are its schema:
//
//	toml      the key
//	doc       what the key says, in one sentence
//	unit      what a number is counted in
//	bound     what a number must satisfy: "> 0", ">= 1, <= 4096"
//	enum      the words that a string may be, separated by commas; @LIST: handed in
//	default   what the key is where the file does not have it; "": nothing
//	zero      "absent" where the zero value stands for a key that the file does not have
//	required  "true" where the key must be written
//
// Others, such as reload, belong to whoever asks for them ([Tagged], [Each]).
//
// A section may have further keys, of packages that act on them: an [Owner] gives their
// structs, which are filled, listed and documented like the section's own.
//
// The same tags give the reference table ([ReferenceOf]) and the effective configuration
// ([Effective]). The TOML library knows neither the lines of keys nor how to go on after a
// first error, so the lines come from a small scanner that is checked against the
// library's own list of keys.
package schema
