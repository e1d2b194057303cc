package safety

import "time"

// ResponseState is what the layer remembers of one watched response.
type ResponseState struct {
	// Based says that Base is the setpoint at which Seen was watched.
	Based bool
	Base  float64
	Seen  Sample
	// Waiting says that a response is due by Deadline; Rising that it is a rise.
	Waiting, Rising bool
	Deadline        time.Duration
}

// watchResponse looks whether a change shows where it should.
func (x *pass) watchResponse(i int) {
	l, s := &x.l.Responses[i], &x.s.Response[i]
	if x.l.Variables[l.Variable].Dose {
		x.watchDoseResponse(i)
		return
	}
	u := x.in.Variable[l.Variable].Written
	if !u.finite() || !x.s.Variable[l.Variable].Known {
		*s = ResponseState{}
		return
	}
	y := x.responseValue(l)
	changed := u.Value - s.Base
	switch {
	case !s.Based || !s.Waiting && changed == 0:
		// Nothing has moved yet: what is seen now is what a change is seen against.
		*s = ResponseState{Based: true, Base: u.Value, Seen: y}
	case !s.Waiting && (changed >= l.Change || changed <= -l.Change):
		s.Waiting, s.Rising, s.Deadline = true, changed > 0, x.now+l.Within
	case s.Waiting && (s.Rising && changed < l.Change || !s.Rising && changed > -l.Change):
		// It was taken back before it was due.
		*s = ResponseState{Based: true, Base: u.Value, Seen: y}
	}
	if !s.Waiting {
		return
	}
	moved := (y.Value - s.Seen.Value) / l.Moves
	if y.finite() && s.Seen.finite() && (s.Rising && moved >= 1 || !s.Rising && moved <= -1) {
		*s = ResponseState{Based: true, Base: u.Value, Seen: y}
		return
	}
	if x.now > s.Deadline {
		x.s.raised.Add(RuleResponse, i)
	}
}

// responseValue is the present value of what should respond.
func (x *pass) responseValue(l *ResponseLimits) Sample {
	if l.Sensor < 0 {
		return x.in.Variable[l.Variable].Readback
	}
	if !x.fresh(l.Sensor) {
		return Sample{}
	}
	return x.s.Sensor[l.Sensor].Last
}

// watchDoseResponse looks whether a dose shows where it should.
func (x *pass) watchDoseResponse(r int) {
	l, s := &x.l.Responses[r], &x.s.Response[r]
	if !s.Waiting {
		return
	}
	y := x.responseValue(l)
	if y.finite() && s.Seen.finite() && (y.Value-s.Seen.Value)/l.Moves >= 1 {
		*s = ResponseState{}
		return
	}
	if x.now > s.Deadline {
		x.s.raised.Add(RuleResponse, r)
	}
}

// noteBaseline notes what is seen where the dose that goes out now should show.
func (x *pass) noteBaseline(i int) {
	for r := range x.l.Responses {
		if l := &x.l.Responses[r]; l.Variable == i {
			x.s.Response[r] = ResponseState{Based: true, Seen: x.responseValue(l)}
		}
	}
}

// awaitResponse begins the wait for a dose to show, once it has been given, where it is large
// enough to.
func (x *pass) awaitResponse(i int, delivered float64) {
	for r := range x.l.Responses {
		if l, s := &x.l.Responses[r], &x.s.Response[r]; l.Variable == i && delivered >= l.Change {
			s.Waiting, s.Deadline = true, x.now+l.Within
		}
	}
}

// mustWait reports whether a dose that is wanted since a time must wait: because the
// one before has not shown yet, or for a reading of what should show it. An older one
// may be of other water. Where the rule is set aside nothing waits.
func (x *pass) mustWait(i int, since time.Duration) bool {
	for r := range x.l.Responses {
		l, s := &x.l.Responses[r], &x.s.Response[r]
		switch {
		case l.Variable != i:
		case x.out.Bypassed.Has(RuleResponse):
			*s = ResponseState{}
		case s.Waiting || !x.responseValue(l).finite() || x.responseValue(l).At <= since:
			return true
		}
	}
	return false
}
