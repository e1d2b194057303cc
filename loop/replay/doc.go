// Package replay derives a run from its record: every decision anew, bit for bit
// ([Decisions]), and the state of an unfinished run, so that another process can go on
// with it ([Past]).
//
// A decision is derived from the observations before it, with the work units and cuts that
// were recorded, never from a clock. What the safety layer did is derived by package
// trace.
package replay
