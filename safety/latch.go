package safety

import "time"

// latch notes what has come. Causes that do not clear by themselves are kept; the
// first-out is what came when there was nothing.
func (s *State) latch(active *Causes) {
	if active.Empty() {
		return
	}
	if s.FirstOut.Empty() {
		s.FirstOut = *active
	}
	for r := range RuleCount {
		if fresh := active[r].Without(s.Latched[r]); !fresh.Empty() && rules[r].Clear != ClearAuto {
			s.Latched[r].Join(fresh)
			s.Generation++
		}
	}
}

// acknowledge clears the latches that an acknowledgement clears.
func (s *State) acknowledge() {
	for r := range RuleCount {
		if s.Latched.Has(r) && rules[r].Clear == ClearAck {
			s.Latched[r] = Set{}
			s.Generation++
		}
	}
	for i := range s.Dose {
		if s.Dose[i].Unknown {
			// What is wanted next is a new dose, charged anew.
			s.Dose[i].Unknown, s.Dose[i].Open, s.Dose[i].Granted = false, false, false
			s.Generation++
		}
	}
	for i := range s.Variable {
		s.Variable[i].Rejected, s.Variable[i].Tries = 0, 0
	}
}

// resettable reports whether a reset may clear the latches: nothing among them
// needs a new process first.
func (s *State) resettable() bool {
	for r := range RuleCount {
		if own := s.Latched[r].Without(s.inherited[r]); rules[r].Clear == ClearRestart && !own.Empty() {
			return false
		}
	}
	return true
}

// reset clears every latch.
func (s *State) reset() {
	s.acknowledge()
	s.Latched, s.FirstOut, s.inherited = Causes{}, Causes{}, Causes{}
	s.Generation++
}

// reaction is the strongest reaction that a set of causes asks for.
func (l *Limits) reaction(c *Causes) Reaction {
	worst := ReactNot
	if c.Empty() {
		return worst
	}
	for r := range RuleCount {
		if !c.Has(r) {
			continue
		}
		asks := rules[r].Reaction
		if r == RuleStale && l.StaleFalls {
			asks = ReactFall
		}
		if r == RuleComms && l.dosesBehind(&c[r]) {
			asks = ReactFall
		}
		worst = max(worst, asks)
	}
	return worst
}

// dosesBehind reports whether one of the links doses.
func (l *Limits) dosesBehind(links *Set) bool {
	for d := range l.Links {
		if l.Links[d].Doses && links.Has(d) {
			return true
		}
	}
	return false
}

// bypass takes causes of rules that are set aside out of the set and returns those
// rules.
func (l *Limits) bypass(c *Causes, now time.Duration) Reasons {
	var aside Reasons
	for _, b := range l.Bypasses {
		if now < b.Until && b.Rule.bypassable() {
			aside.add(b.Rule)
			c[b.Rule] = Set{}
			if b.Rule == RuleReadback {
				c[RuleOverride] = Set{}
			}
		}
	}
	return aside
}
