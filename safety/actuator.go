package safety

// resendMax is how often a setpoint that does not show is sent again. Not fewer: a
// lost frame is no fault. Not more: what three repeats do not bring is broken.
const resendMax = 3

// watchActuator looks at what one actuator does with its setpoint.
func (x *pass) watchActuator(i int) {
	l, v, in := &x.l.Variables[i], &x.s.Variable[i], &x.in.Variable[i]
	if l.OnFault == RestNone {
		return
	}
	x.watchExposure(i)
	if l.Tolerance <= 0 || !v.Known || !v.Changed || !in.Written.finite() || in.Written.Value != v.Setpoint {
		return
	}
	near := in.Readback.finite() && within(in.Readback.Value, v.Setpoint, l.Tolerance)
	switch {
	case near && in.Readback.At >= in.Written.At:
		v.Confirmed, v.Off, v.Tries = true, false, 0
	case near && v.Confirmed:
		v.Off = false // read before the last refresh, and still true
	case v.Confirmed && in.Readback.finite():
		x.watchOverride(i)
	case in.Silent:
		// Nobody knows what the actuator does: silence is the links' business.
	case x.now-max(v.ChangedAt, v.TriedAt) > l.Timeout:
		x.retry(i)
	}
}

// retry sends a setpoint again that the readback does not show, then trips. A
// dose is never sent twice.
func (x *pass) retry(i int) {
	v := &x.s.Variable[i]
	if v.Tries >= resendMax {
		x.s.raised.Add(RuleReadback, i)
		return
	}
	v.Tries++
	v.TriedAt = x.now
	v.Resend = !x.doses(i)
}

// safeUnconfirmed reports whether a safe value that the device has acknowledged has not shown in
// its readback for a timeout: then it is sent again, as often as it takes, because of the
// way to safety nothing is given up. Once it has shown, what moves the actuator is a
// person at the instrument: the actuator is not driven against them.
func (x *pass) safeUnconfirmed(i int) bool {
	l, v, in := &x.l.Variables[i], &x.s.Variable[i], &x.in.Variable[i]
	if l.Tolerance <= 0 || !in.Written.finite() || in.Written.Value != l.Safe || v.Setpoint != l.Safe ||
		!in.Readback.finite() || in.Readback.At < in.Written.At {
		return false
	}
	if within(in.Readback.Value, l.Safe, l.Tolerance) {
		v.Confirmed, v.Off, v.Tries = true, false, 0
	}
	return !v.Confirmed && x.now-v.IssuedAt > l.Timeout
}

// noteOutcome takes in what has become of the last write. The dwell of a change begins when the
// device received it, not when it was given out: on a busy line that is later. The tick before the
// answer is as late as it may be known to have been under way; where the outcome is not known, it
// may be under way until now.
func (x *pass) noteOutcome(i int) {
	v, in := &x.s.Variable[i], &x.in.Variable[i]
	if in.Lost {
		v.Unsure, v.LostAt = true, x.now
	} else if in.Written.finite() && in.Written.At >= v.LostAt {
		v.Unsure = false
	}
	switch {
	case !v.Moved || v.Answered:
	case in.Lost:
		v.Answered, v.MovedAt = true, x.now
	case in.Written.finite() && in.Written.At >= v.MovedAt:
		v.Answered, v.MovedAt = true, max(min(in.Written.At, x.now), x.now-x.gap)
	case in.CanWrite && in.Written.finite(): // nothing is on its way: it was taken back before it left
		v.Answered, v.Resend = true, v.Resend || v.Before != in.Written.Value
		v.Ramp, v.Setpoint = v.Before, v.Before
	}
}

// stands reports whether a value is what the device has acknowledged, with no other on its way
// since, and none of which the outcome is not known.
func (x *pass) stands(i int, value float64) bool {
	v, written := &x.s.Variable[i], &x.in.Variable[i].Written
	return written.finite() && written.Value == value && !v.Unsure && (v.Answered || !v.Moved)
}

// rememberConfirmed remembers the last acknowledged value that the readback has shown.
func (x *pass) rememberConfirmed(i int) {
	l, in := &x.l.Variables[i], &x.in.Variable[i]
	if l.Tolerance > 0 && in.Written.finite() && in.Readback.finite() && in.Readback.At >= in.Written.At &&
		within(in.Readback.Value, in.Written.Value, l.Tolerance) {
		x.s.Variable[i].LastConfirmed = in.Written
	}
}

// watchOverride notices that an actuator which had followed has been moved by
// someone else for longer than a readback may take: the run holds, and takes over
// the new place.
func (x *pass) watchOverride(i int) {
	v := &x.s.Variable[i]
	if !v.Off {
		v.Off, v.OffSince = true, x.now
	}
	if x.now-v.OffSince > x.l.Variables[i].Timeout {
		v.Overridden, v.Known, v.Changed = true, false, false
		x.s.raised.Add(RuleOverride, i)
	}
}

// watchExposure bounds the time in a row above a value; see watchDuty for its sum.
func (x *pass) watchExposure(i int) {
	l, v := &x.l.Variables[i], &x.s.Variable[i]
	if l.AboveTime <= 0 || !x.above(i, l.Above) {
		v.IsAbove = false
		return
	}
	if !v.IsAbove {
		v.IsAbove, v.AboveSince = true, x.now
	}
	if x.now-v.AboveSince > l.AboveTime {
		x.s.raised.Add(RuleExposure, i)
	}
}
