package control

import "github.com/labtuner/tuner/loop/journal"

// PendingTry is a setting that a person has asked for, to be measured in Left steps more.
type PendingTry struct {
	Person journal.Person
	Try    Try
	Left   int
}

// PendingTries are those that wait, the oldest first.
type PendingTries []PendingTry

// MostPending bounds the steps that people may have asked for.
const MostPending = 1000

// Steps counts the steps that people have asked for.
func (p PendingTries) Steps() (n int) {
	for i := range p {
		n += p[i].Left
	}
	return n
}

// CountOff takes one step off the oldest.
func (p *PendingTries) CountOff() {
	if (*p)[0].Left--; (*p)[0].Left <= 0 {
		*p = (*p)[1:]
	}
}
