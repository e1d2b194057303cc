package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong with the plant, and when.
type Fault struct {
	// Kind is one of FaultKinds.
	Kind string
	// Where is a channel, a sensor, a variable or (for "lost") a device; "" is the
	// kind's own choice.
	Where string
	// When is what starts the fault: Step if it is not 0, else the time After since
	// New; at once if both are 0.
	Step  int
	After time.Duration
	// How long it lasts: For if it is not 0, else until Steps more steps have begun.
	Steps int
	For   time.Duration
}

// The kinds of fault. Each lists what Where may name and what it means if absent.
const (
	// dropout: no value. A sensor's or a variable's channel; all channels of shots.
	faultDropout = "dropout"
	// stale: a channel stops being updated, which a device shows by leaving it out
	// of its answers. A sensor's or a variable's; the objective's.
	faultStale = "stale"
	// stuck: a sensor repeats its last value and calls it new. A variable's channel:
	// its motor does not move either. A sensor's or a variable's; the objective's.
	faultStuck = "stuck"
	// spike: every fifth value is off by half the sensor's range. (Where values do
	// not come with shots, those of every fifth tenth of a second.) A sensor's or a
	// variable's; the objective's.
	faultSpike = "spike"
	// lost: calls to the device fail. A device or a channel of it; all devices.
	faultLost = "lost"
	// slow: a motor goes at a tenth of its speed. A variable that can be set; the
	// first.
	faultSlow = "slow"
	// wrong-sign: a motor goes as far as asked, the other way, seen from
	// where it was when the fault began. A variable that can be set; the first.
	faultWrongSign = "wrong-sign"
	// dead: an actuator says that it moves and does nothing, as a pump with a torn
	// hose. A variable that can be set; the first.
	faultDead = "dead"
	// nan: a served device says NaN in place of numbers; a device in the same process
	// says nothing, as a driver that refuses them. A device or a channel of it; all devices.
	faultNaN = "nan"
	// garbage: a served device's answers have bytes that are not its own; calls to a
	// device in the same process fail. A device or a channel of it; all devices.
	faultGarbage = "garbage"
	// power-cycle: actuators are at once where they are when the plant is switched
	// on, and the link is lost as long as the fault lasts. A device or a channel of
	// it; all devices.
	faultPowerCycle = "power-cycle"
	// clock-jump: the times of a device's readings are clockJump ahead. A device or a
	// channel of it; all devices.
	faultClockJump = "clock-jump"
)

// FaultKinds returns the kinds of fault.
func faultKinds() []string {
	return []string{faultDropout, faultStale, faultStuck, faultSpike, faultLost, faultSlow, faultWrongSign,
		faultDead, faultNaN, faultGarbage, faultPowerCycle, faultClockJump}
}

// faultSyntax is what an error about a fault shows.
const faultSyntax = `write KIND[:CHANNEL]@STEP[+STEPS], e.g. "dropout@40" or "stuck:energy@120+3"; a time ("90s") may stand for either count`

// parseFault reads
//
//	KIND[:CHANNEL][@WHEN][+LENGTH]
//
// WHEN is a step, counted from 1, or a time since the plant was switched on
// ("90s"); absent: at once. LENGTH is a number of steps or a time; absent: one
// step.
func parseFault(text string) (Fault, error) {
	f := Fault{Steps: 1}
	rest, length, hasLength := strings.Cut(text, "+")
	rest, when, hasWhen := strings.Cut(rest, "@")
	kind, where, hasWhere := strings.Cut(rest, ":")
	f.Kind, f.Where = kind, where
	known := false
	for _, k := range faultKinds() {
		known = known || k == kind
	}
	if !known {
		return Fault{}, fmt.Errorf("no fault %q in %q; take one of %s", kind, text, strings.Join(faultKinds(), ", "))
	}
	if hasWhere && where == "" {
		return Fault{}, fmt.Errorf("fault %q names no channel after the colon; %s", text, faultSyntax)
	}
	var err error
	if hasWhen {
		if f.Step, f.After, err = stepOrTime(when); err != nil {
			return Fault{}, fmt.Errorf("fault %q begins at %q: %w; %s", text, when, err, faultSyntax)
		}
	}
	if hasLength {
		if f.Steps, f.For, err = stepOrTime(length); err != nil {
			return Fault{}, fmt.Errorf("fault %q lasts %q: %w; %s", text, length, err, faultSyntax)
		}
	}
	return f, nil
}

// stepOrTime reads a positive count of steps or a positive time.
func stepOrTime(text string) (int, time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return 0, 0, fmt.Errorf("steps are counted from 1")
		}
		return n, 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, 0, fmt.Errorf("that is neither a number of steps nor a time")
	}
	if d <= 0 {
		return 0, 0, fmt.Errorf("a time must be more than 0")
	}
	return 0, d, nil
}

// String writes the fault as ParseFault reads it.
func (f Fault) String() string {
	text := f.Kind
	if f.Where != "" {
		text += ":" + f.Where
	}
	switch {
	case f.Step > 0:
		text += fmt.Sprintf("@%d", f.Step)
	case f.After > 0:
		text += fmt.Sprintf("@%v", f.After)
	}
	switch {
	case f.For > 0:
		text += fmt.Sprintf("+%v", f.For)
	case f.Steps > 1:
		text += fmt.Sprintf("+%d", f.Steps)
	}
	return text
}
