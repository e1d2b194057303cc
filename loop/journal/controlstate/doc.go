// Package controlstate keeps what must survive a crash for the instrument's sake: what is
// latched, what has been dosed, which commands were answered. It is apart from the record of
// the run, so that a damaged or a new journal does not lose it.
//
// A File is two copies, PATH-a and PATH-b, written in turn, and PATH.lock, which says whose
// they are. PATH-latched is a mark: something was latched that the disk did not take. Peek and
// Has look without the lock. A copy is framed by its length and a CRC-32C; nothing that does
// not match is believed.
package controlstate
