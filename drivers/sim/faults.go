package sim

import (
	"slices"
	"time"
)

// faults are those that wait for a step or a time, and those at work.
type faults struct {
	// step is the latest that has begun.
	step    int
	waiting []target
	running []*running
	// garbled counts the answers that were spoilt with garbage.
	garbled uint64
}

// target is a fault that has been tied to the plant's channels.
type target struct {
	Fault
	// channels are what it strikes, as indices into Plant.channels.
	channels []int
	// device is the one that a lost link cuts off, "" for all.
	device string
}

// running is a fault at work.
type running struct {
	target
	// until is when it ends at the latest; endStep is the step whose beginning ends
	// it, 0 for none.
	until   time.Duration
	endStep int
	// held is what a stuck channel repeats.
	held float64
}

// next returns the first time in (now, t] at which a fault begins or ends
// by the clock.
func (f *faults) next(now, t time.Duration) (next time.Duration, ok bool) {
	next = t
	consider := func(at time.Duration) {
		if at > now && at <= next {
			next, ok = at, true
		}
	}
	for _, w := range f.waiting {
		if w.Step == 0 {
			consider(w.After)
		}
	}
	for _, r := range f.running {
		consider(r.until)
	}
	return next, ok
}

// active reports whether a fault of this kind is at work on channel c.
func (f *faults) active(kind string, c int) bool { return f.activeFault(kind, c) != nil }

func (f *faults) activeFault(kind string, c int) *running {
	for _, r := range f.running {
		if r.Kind == kind && slices.Contains(r.channels, c) {
			return r
		}
	}
	return nil
}

// cut reports whether a fault that strikes whole devices is at work on one.
func (f *faults) cut(kind, device string) bool {
	return slices.ContainsFunc(f.running, func(r *running) bool {
		return r.Kind == kind && (r.device == "" || r.device == device)
	})
}

// lost reports whether the link to a device is cut.
func (f *faults) lost(device string) bool {
	return f.cut(faultLost, device) || f.cut(faultPowerCycle, device)
}

// silent reports whether channel c has nothing to say.
func (f *faults) silent(c int) bool { return f.active(faultDropout, c) || f.active(faultStale, c) }
