package space

import "slices"

// Settings is a set of settings of a domain that is [Domain.Stepwise].
type Settings struct {
	domain *Domain
	has    map[string]bool // by the bits of their coordinates
}

// NewSettings returns an empty set.
func NewSettings(d *Domain) *Settings { return &Settings{domain: d, has: map[string]bool{}} }

// Add adds the setting nearest to x that may be proposed.
func (s *Settings) Add(x []float64) {
	x = slices.Clone(x)
	s.domain.Round(x)
	s.has[keyOf(x)] = true
}

// Has reports whether the set has x, a setting that may be proposed. It is safe for concurrent use.
func (s *Settings) Has(x []float64) bool {
	var room [64]byte // of eight coordinates: more are slower
	return s.has[string(appendKey(room[:0], x))]
}
