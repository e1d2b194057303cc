// Package export writes the record of a run for other programs: CSV with its units, a line of
// JSON for each step, or for everything the journal holds, and the documents of Bluesky's
// event model. Write makes any of them from a journal.Reader and ends with a check of the whole
// journal, so what it wrote without an error is all there is.
//
// A step is a line of JSON as [control.Step] has it; the command's --json prints the same.
package export
