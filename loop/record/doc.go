// Package record owns the way to the journal: a queue of what is to be recorded, one write
// at a time on the journal's worker, and what is known of the disk.
//
//	Put(Entry) ──> queue ──> journal's worker ──> Written, with the entry's Done
//
// A disk that fails holds the run until it is well again: the entry that failed stays the
// first, and nothing behind it is lost but lines of the story, of which a thousand may
// wait. Every method returns the events that follow, in their order; the recorder changes
// nothing outside of itself. After the events have been handled, Next begins the next
// write, which may be of something that they have put.
package record
