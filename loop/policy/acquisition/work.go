package acquisition

import (
	"context"

	"github.com/labtuner/tuner/gpcore/search"
)

// Meter counts the work units of a decision over all of its searches. After the first
// cut every search does one unit, which is not counted: so a decision that was cut
// after n units repeats when it is limited to n.
type Meter struct {
	Ctx   context.Context
	Limit int // 0: none
	Done  int
	Cut   bool

	unmetered float64 // multiply-adds outside of searches since they last made a unit
}

// afford counts work outside of searches, about so many multiply-adds: every search.UnitCost of them are a
// unit. It reports whether that work is to be done.
func (m *Meter) afford(cost float64) bool {
	if m.unmetered += cost; m.unmetered < search.UnitCost {
		return !m.Cut
	}
	if m.Cut = m.Cut || m.over(); m.Cut {
		return false
	}
	m.unmetered = 0
	m.Done++
	return true
}

// over reports whether no further unit may be done: one always may.
func (m *Meter) over() bool {
	return m.Limit > 0 && m.Done >= m.Limit || m.Done > 0 && m.Ctx.Err() != nil
}

// Run lets a search work with what is left.
func (m *Meter) Run(s *search.Search) []search.Maximum {
	if m.Cut = m.Cut || m.over(); m.Cut {
		out, _ := s.Run(context.Background(), 1)
		return out
	}
	left := 0
	if m.Limit > 0 {
		left = m.Limit - m.Done
	}
	out, done := s.Run(m.Ctx, left)
	m.Done += done
	m.Cut = s.Cut()
	return out
}
