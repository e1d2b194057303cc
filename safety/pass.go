package safety

import "time"

// pass is one run of the pipeline: everything a rule may look at.
type pass struct {
	l   *Limits
	s   *State
	in  *Inputs
	p   *Proposal
	out *Output
	now time.Duration
	// dt is the time that slew may use, gap the whole time since the last tick.
	dt, gap time.Duration
}

// issue gives out a setpoint.
func (x *pass) issue(i int, set float64) {
	v := &x.s.Variable[i]
	if set != v.Setpoint {
		v.Allowed = 0
	}
	changed, stands := !v.Changed || set != v.Setpoint, x.stands(i, set)
	if v.Unsure || changed && (v.Resend || !stands) {
		v.Moved, v.Answered, v.MovedAt, v.Before = true, stands, x.now, v.Setpoint
	}
	if changed {
		v.Changed, v.ChangedAt = true, x.now
		v.Confirmed, v.Off, v.Tries = false, false, 0
		x.noteMovement()
	}
	v.Setpoint, v.IssuedAt, v.Resend = set, x.now, false
	x.out.Write[i], x.out.Setpoint[i] = true, set
}

// noteMovement notes that an actuator has done something that sensors may show.
func (x *pass) noteMovement() {
	for j := range x.l.Sensors {
		x.s.Sensor[j].OutputMoved = true
	}
}

// reaches reports whether the device of variable i can be written now: on the way
// to safety, whatever keeps a proposal back.
func (x *pass) reaches(i int) bool {
	in := &x.in.Variable[i]
	return in.CanWrite || in.CanMakeSafe && x.s.Mode >= Fallback
}

// release asks the device to let go until it has.
func (x *pass) release(i int) {
	x.out.Release[i] = x.reaches(i) && !x.in.Variable[i].Released
	x.s.Variable[i].forget()
}
