package safety

import "time"

// armedMax is how long an armed run waits for its start. Not shorter: a person may
// have to walk to the instrument. Not longer: what was true when it was armed may
// not be any more.
const armedMax = 10 * time.Minute

// conditions is everything that a transition depends on.
type conditions struct {
	command Command
	// asked is the strongest reaction that any cause, latched or not, asks for.
	asked Reaction
	// ready: the actuators have been read. permitted: every permissive and interlock
	// is healthy and no cause asks for anything.
	ready, permitted bool
	// held: a fault has held the run for too long. expired: armed for too long.
	held, expired bool
	// paused: a person holds the run.
	paused bool
	// clear: no cause of a trip is left and a reset may clear the latches.
	clear bool
	// ending: the actuators are on their way to their shutdown states.
	ending bool
}

// next is the machine: the mode after m in a moment. A stop comes first, then a
// trip, then the mode's own ways out, strongest first.
func (m Mode) next(t conditions) Mode {
	switch {
	case t.command == CommandStop || t.asked == ReactStop && m != Stopped:
		return Stopped
	case t.asked == ReactTrip && m >= Armed && m < Tripped:
		return Tripped
	}
	switch m {
	case Init:
		return either(t.ready, Idle, Init)
	case Idle:
		return either(t.command == CommandArm && t.permitted, Armed, Idle)
	case Armed:
		return t.fromArmed()
	case Run, Hold:
		return t.fromRun()
	case Fallback:
		return t.fromFallback()
	default: // Tripped, Stopped
		return either(t.command == CommandReset && t.clear, Idle, m)
	}
}

func (t *conditions) fromArmed() Mode {
	switch {
	case t.command == CommandEnd || t.command == CommandFail || t.expired:
		return Idle
	case t.command == CommandStart && t.permitted:
		return Run
	}
	return Armed
}

func (t *conditions) fromRun() Mode {
	switch {
	case t.command == CommandEnd || t.command == CommandFail || t.asked == ReactFall || t.held:
		return Fallback
	case t.asked == ReactHold || t.paused:
		return Hold
	}
	return Run
}

// fromFallback never leads straight to Run.
func (t *conditions) fromFallback() Mode {
	return either(t.command == CommandResume && !t.ending && t.permitted, Armed, Fallback)
}

func either(yes bool, then, otherwise Mode) Mode {
	if yes {
		return then
	}
	return otherwise
}

// transit moves the machine by one tick: it latches what has come, follows the
// command and notes why it could not.
func (x *pass) transit() {
	s, active := x.s, &x.out.Active
	x.applyCommand(active)
	driving := s.Mode >= Armed && s.Mode < Tripped
	if driving || x.in.Command == CommandStop || x.in.Command == CommandHurry {
		s.latch(active)
	}
	asks := *active
	asks.Join(&s.Latched)
	t := x.conditions(asks)
	if to := s.Mode.next(t); to != s.Mode {
		x.enter(to)
	} else if refusable(x.in.Command, s.Mode) {
		x.out.Refused = asks
		x.unpermitted(&x.out.Refused)
	}
	if s.Mode <= Run && asks.Empty() {
		s.FirstOut = Causes{}
	}
}

// applyCommand takes in what a command does besides moving the machine. A stop and the
// hurried end of a run are causes themselves.
func (x *pass) applyCommand(active *Causes) {
	s := x.s
	switch x.in.Command {
	case CommandStop:
		active.Add(RuleStop, 0)
	case CommandHurry:
		if s.Mode == Fallback {
			active.Add(RuleShutdown, 0)
		}
	case CommandPause:
		s.Paused = s.Mode == Run || s.Mode == Hold
	case CommandResume:
		s.Paused = false
		if s.Mode == Idle || s.Mode == Hold || s.Mode == Fallback {
			s.acknowledge()
		}
	case CommandEnd:
		s.Ending = s.Ending || s.Mode == Run || s.Mode == Hold
	}
}

// conditions gathers what the transition depends on. asks are all causes, latched ones
// too.
func (x *pass) conditions(asks Causes) conditions {
	s, l := x.s, x.l
	asked := l.reaction(&asks)
	// A disk says nothing about the instrument, which is seen all the time: a hold for
	// the record may last.
	seen := asks
	seen[RuleRecord] = Set{}
	faulted := s.Mode == Hold && l.reaction(&seen) == ReactHold
	if faulted && !s.Faulted {
		s.FaultedAt = x.now
	}
	s.Faulted = faulted
	refused := asks
	x.unpermitted(&refused)
	return conditions{
		command: x.in.Command, asked: asked, ready: x.in.Ready,
		permitted: l.reaction(&refused) == ReactNot && !refused.Has(RulePermissive),
		held:      faulted && x.now-s.FaultedAt > l.HoldMax,
		expired:   x.now-s.Since > armedMax,
		paused:    s.Paused,
		clear:     l.reaction(&x.out.Active) < ReactTrip && s.resettable(),
		ending:    s.Ending,
	}
}

// enter changes the mode.
func (x *pass) enter(to Mode) {
	s := x.s
	switch {
	case to == Tripped || to == Stopped && x.in.Command == CommandStop:
		s.Ending = false // whatever was under way, fault states count now
	case to == Idle:
		if s.Mode >= Tripped {
			s.reset()
		}
		s.Paused, s.Ending = false, false
	}
	s.Mode, s.Since, s.Faulted = to, x.now, false
}

// refusable reports whether a command that changed nothing was refused.
func refusable(c Command, m Mode) bool {
	switch c {
	case CommandArm, CommandStart:
		return m < Run
	case CommandResume:
		return m == Fallback || m == Hold
	case CommandReset:
		return m >= Tripped
	}
	return false
}
