package plan

import "github.com/labtuner/tuner/loop/journal"

// Marked is the best pessimistic bound so far, which another must be better than. The zero
// value has none.
type Marked struct {
	is bool
	// bound is as it is maximised; so many steps of the search, and so much spent on them, had
	// come to it.
	bound float64
	steps int
	spent Money
}

// MarkedAt goes on with what was recorded, nil: nothing was.
func MarkedAt(m *journal.Mark) Marked {
	if m == nil {
		return Marked{}
	}
	return Marked{true, float64(m.Bound), m.Steps, AsMoney(float64(m.Spent))}
}

// Steps is how many steps of the search had come to it.
func (m *Marked) Steps() int { return m.steps }

// Raise takes in a bound after so many steps, at most those of the initial design where
// designing. Where it is better it gives what is to be recorded, else nil.
func (m *Marked) Raise(n NoImprovement, bound float64, steps int, spent Money, designing bool) *journal.Mark {
	if n.Steps == 0 && n.Cost == 0 || m.is && bound <= m.bound+n.By && !designing {
		return nil
	}
	if !m.is || bound > m.bound {
		m.bound = bound
	}
	m.is, m.steps, m.spent = true, steps, spent
	return &journal.Mark{Bound: journal.Number(m.bound), Steps: steps, Spent: journal.Number(spent.Float())}
}

// over says that no better bound has come for as long as n allows.
func (m *Marked) over(n NoImprovement, steps int, spent Money) bool {
	return m.is && (n.Steps > 0 && steps-m.steps >= n.Steps || n.Cost > 0 && spent-m.spent >= AsMoney(n.Cost))
}

// reached says that a bound, as it is maximised, has reached the target.
func (o *Options) reached(bound float64) bool {
	return o.Stop.Target != nil && bound >= o.Sense(*o.Stop.Target)
}
