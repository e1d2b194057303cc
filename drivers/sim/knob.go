package sim

import (
	"math"
	"time"
)

// A knob's motion. The motor goes at a limited speed and closes in exponentially:
//
//	p' = clamp((target - p)/lag, -speed, speed)
//
// which has the closed form in motion.at. The optic behind it follows with play:
// it moves only when the motor pushes it,
//
//	q = clamp(q, p - play/2, p + play/2)
//
// which is exact as long as the motor moves one way, and it does between two
// changes of its target.
type motion struct {
	// start is when the motion began and from where.
	start       time.Duration
	from, optic float64
	target      float64
	// speed in unit/s (may be infinite) and lag in s.
	speed, lag float64
	play       float64
}

// at returns where the motor is at t >= start.
func (m *motion) at(t time.Duration) float64 {
	distance := math.Abs(m.target - m.from)
	if distance == 0 {
		return m.target
	}
	dt := (t - m.start).Seconds()
	// Beyond the distance that the lag covers at full speed, speed rules.
	if near := m.speed * m.lag; distance > near && !math.IsInf(m.speed, 1) {
		travel := (distance - near) / m.speed
		if dt < travel {
			return m.from + math.Copysign(m.speed*dt, m.target-m.from)
		}
		dt -= travel
		distance = near
	}
	if m.lag == 0 {
		return m.target
	}
	return m.target - math.Copysign(distance*math.Exp(-dt/m.lag), m.target-m.from)
}

// opticPosition returns where the optic behind the motor is at t >= start.
func (m *motion) opticPosition(t time.Duration) float64 {
	p := m.at(t)
	return min(max(m.optic, p-m.play/2), p+m.play/2)
}

// knob is a variable as the plant has it; values in the variable's unit.
type knob struct {
	motion
	// setpoint is what was last asked for.
	setpoint float64
	// released says that the environment decides, if the variable lets them.
	released bool
	// ownSpeed and ownLag are those of a sound actuator.
	ownSpeed, ownLag float64
	// mirror, while the wrong-sign fault lasts, is the position about which
	// motions are reversed.
	mirror float64
	// effect is what a dead actuator goes on doing.
	effect float64
	// wrongSign, stuck, slow and dead are the faults at work.
	wrongSign, stuck, slow, dead bool
	// low and high are the stops that no fault can push the knob through.
	low, high float64
}

// slowdown is by how much the slow fault divides speed and multiplies lag; a
// knob without a speed limit gets slowRate of its range per second.
const (
	slowdown = 10
	slowRate = 0.05
)

// redirect starts a new motion at t from where the knob is, towards what its
// setpoint and its faults make of it. span is the width of the variable's range.
func (k *knob) redirect(t time.Duration, motor, optic, span float64) {
	k.start, k.from, k.optic = t, motor, optic
	k.target = k.setpoint
	if k.wrongSign {
		k.target = min(max(2*k.mirror-k.setpoint, k.low), k.high)
	}
	if k.stuck || k.released {
		k.target = motor
	}
	k.speed, k.lag = k.ownSpeed, k.ownLag
	if k.slow {
		k.speed, k.lag = min(k.ownSpeed/slowdown, slowRate*span), k.ownLag*slowdown
	}
}
