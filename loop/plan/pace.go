package plan

import (
	"fmt"
	"math"
	"time"
)

// pace is when shots are asked for.
type pace struct {
	// next is when the next shot may be asked for at the earliest; zero: at any time. asked is when
	// the last one was, between when one was asked for last between two ticks.
	next, asked, between time.Time
}

// Due says that the next shot may be asked for.
func (p *pace) Due(now time.Time) bool { return !now.Before(p.next) }

// Ask notes that a shot is asked for between two ticks, Between says of a question whether it was
// such a one.
func (p *pace) Ask(now time.Time)            { p.between = now }
func (p *pace) Between(asked time.Time) bool { return asked.Equal(p.between) }

// Soon is when the next shot is to be asked for where no tick does it; false: a tick does.
func (p *pace) Soon(o *Options, now time.Time) (at time.Time, ok bool) {
	if p.next.IsZero() {
		return at, false
	}
	at = p.next
	if again := p.between.Add(o.Objective.Every); again.After(at) {
		at = again
	}
	if at.Before(now) {
		at = now
	}
	return at, true
}

// again says that a value which came between two ticks is the shot before once more, by a device
// that says how old its value is.
func (p *pace) again(at, asked time.Time) bool { return p.Between(asked) && at.Before(p.asked) }

// Same says, in words, that the shots between two ticks are the same to the bit: replicates of one
// measurement tell nothing of its noise.
func (s *Shots) Same(o *Options) string {
	if len(s.taken) < 3 || !o.AsksAtOnce() {
		return ""
	}
	took := s.taken[len(s.taken)-1].At.Mono - s.taken[0].At.Mono
	for _, shot := range s.taken {
		if took >= o.Tick || math.Float64bits(shot.Objective) != math.Float64bits(s.taken[0].Objective) {
			return ""
		}
	}
	return fmt.Sprintf("%d shots within %v are the same to the bit; an instrument that renews its value more slowly than it answers needs every in [objective]",
		len(s.taken), took.Round(10*time.Microsecond))
}
