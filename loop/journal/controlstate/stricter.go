package controlstate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/labtuner/tuner/safety"
)

// A copy that is damaged may be the newer one, and have held a trip or a dose that the
// other does not know. Nobody can tell, so what the other has is latched until a person has
// looked; and of the damaged one everything counts that allows less.

// lostCopy is what a control state has latched beside its own where one copy is damaged.
var lostCopy = Cause{Rule: safety.RuleRecord, Name: safety.RuleRecord.String(),
	Of: "the damaged copy of the control state, which may have recorded a later trip or dose"}

// besideDamage is the whole copy's state where the other copy is damaged; bad is what is left
// of that one, nil where nothing can be made of it.
func besideDamage(whole State, bad *State) State {
	out := whole
	if bad != nil {
		out = whole.stricter(bad)
	}
	if len(out.FirstOut) == 0 {
		out.Mode, out.FirstOut = safety.Tripped.String(), []Cause{lostCopy}
	}
	out.Latched = append(slices.Clone(out.Latched), lostCopy)
	return out
}

// stricter is s with everything of bad that allows less: what is latched, the larger account
// of each dose, starts without a person, a run that is under way. Time and name stay those of s.
func (s State) stricter(bad *State) State {
	if len(s.FirstOut) == 0 && len(bad.FirstOut) > 0 {
		s.Mode, s.FirstOut = bad.Mode, bad.FirstOut
	}
	s.Latched = slices.Clone(s.Latched)
	for _, c := range bad.Latched {
		if !slices.Contains(s.Latched, c) {
			s.Latched = append(s.Latched, c)
		}
	}
	doses := map[string]safety.DoseState{}
	for name, d := range bad.Doses {
		doses[name] = d
	}
	for name, d := range s.Doses {
		if o, ok := bad.Doses[name]; ok {
			d = d.Stricter(o)
		}
		doses[name] = d
	}
	if len(doses) > 0 {
		s.Doses = doses
	}
	if s.Run != bad.Run {
		s.Run = "" // totals count for whichever run it was
	}
	s.Starts = slices.Concat(s.Starts, bad.Starts)
	slices.Sort(s.Starts)
	s.Starts = slices.Compact(s.Starts)
	s.Underway = s.Underway || bad.Underway
	return s
}

// salvage makes of a damaged copy what can be made of it: its text where that can still be
// read, and says nothing that cannot be so beside the whole copy.
func salvage(data []byte, whole State) *State {
	const head = len(magic) + 4
	if len(data) <= head+4 {
		return nil
	}
	var s State
	if json.Unmarshal(data[head:len(data)-4], &s) != nil {
		return nil
	}
	if s.At > whole.At+max(s.Wall.Sub(whole.Wall), 0)+time.Hour { // its clock cannot have come so far
		return nil
	}
	for _, d := range s.Doses {
		if !d.Plausible(s.At) {
			return nil
		}
	}
	for _, at := range s.Starts {
		if at > s.At {
			return nil
		}
	}
	return &s
}
