package space

import (
	"math"
	"slices"
)

// Settings counts readings of settings of a domain that is [Domain.Stepwise], each by the setting nearest to it: what is
// read back is seldom what was asked for to the last bit.
type Settings struct {
	domain   *Domain
	readings map[string]int // by the bits of the coordinates
}

// NewSettings returns an empty count.
func NewSettings(d *Domain) *Settings { return &Settings{domain: d, readings: map[string]int{}} }

// Add counts a step at x: its reading, where it is valid, else none, so that [Settings.Has] knows the setting all the same. A nil
// count stays empty.
func (s *Settings) Add(x []float64, valid bool) {
	if s == nil {
		return
	}
	key, readings := keyOf(s.nearest(x)), 0
	if valid {
		readings = 1
	}
	s.readings[key] += readings
}

// near is how far from a setting, as a share of each range, a reading lies at most that counts for it where nothing says that it
// was asked for.
const near = 0.01

// AddNear counts a reading at x, if that is a setting. A nil count stays empty.
func (s *Settings) AddNear(x []float64) {
	if s == nil {
		return
	}
	at := s.nearest(x)
	for j := range at {
		if !(math.Abs(at[j]-x[j]) <= near) {
			return
		}
	}
	s.readings[keyOf(at)]++
}

func (s *Settings) nearest(x []float64) []float64 {
	x = slices.Clone(x)
	s.domain.Round(x)
	return x
}

// Has reports whether setting x, one that may be proposed, was added. It is safe for concurrent use.
func (s *Settings) Has(x []float64) bool {
	_, has := s.at(x)
	return has
}

// Readings is how many readings setting x has.
func (s *Settings) Readings(x []float64) int {
	n, _ := s.at(x)
	return n
}

func (s *Settings) at(x []float64) (readings int, has bool) {
	var room [64]byte // of eight coordinates: more are slower
	readings, has = s.readings[string(appendKey(room[:0], x))]
	return readings, has
}
