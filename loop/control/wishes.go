package control

import "github.com/labtuner/tuner/loop/journal"

// Wish is a setting that a person has asked for, to be measured in Left steps more.
type Wish struct {
	Person journal.Person
	Try    Try
	Left   int
}

// Wishes are those that wait, the oldest first.
type Wishes []Wish

// WishesMost bounds the steps that people may have asked for.
const WishesMost = 1000

// Steps counts the steps that people have asked for.
func (w Wishes) Steps() (n int) {
	for i := range w {
		n += w[i].Left
	}
	return n
}

// CountOff takes one step off the oldest.
func (w *Wishes) CountOff() {
	if (*w)[0].Left--; (*w)[0].Left <= 0 {
		*w = (*w)[1:]
	}
}
