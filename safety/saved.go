package safety

import "time"

// Saved is the part of a State that outlives the process.
type Saved struct {
	Generation        uint64
	Latched, FirstOut Causes
	Dose              [MaxDoses]DoseState
	// At is the time by the clock that Step was given.
	At time.Duration
}

// Save returns what must be durable.
func (s *State) Save() Saved {
	return Saved{Generation: s.Generation, Latched: s.Latched, FirstOut: s.FirstOut, Dose: s.Dose, At: s.Last}
}

// Boot makes the State of a new process. It is disarmed; what was latched is
// latched still, except that a new process has come out of its shutdown; a dose
// whose outcome was not recorded counts as delivered and must be acknowledged.
func Boot(saved Saved) State {
	s := State{Generation: saved.Generation, Latched: saved.Latched, FirstOut: saved.FirstOut, Dose: saved.Dose}
	s.Latched[RuleShutdown], s.FirstOut[RuleShutdown] = Set{}, Set{}
	for i := range s.Dose {
		if s.Dose[i].Open {
			s.Dose[i].Unknown, s.Dose[i].Failed = true, true
			s.Dose[i].Deliver(saved.At)
			s.Latched.Add(RuleUnknownDose, i)
		}
	}
	if s.FirstOut.Empty() {
		s.FirstOut = s.Latched
	}
	s.inherited = s.Latched
	for r := range RuleCount {
		switch {
		case !s.Latched.Has(r):
		case rules[r].Reaction == ReactStop:
			s.Mode = Stopped
		case rules[r].Reaction == ReactTrip && s.Mode != Stopped:
			s.Mode = Tripped
		}
	}
	return s
}
