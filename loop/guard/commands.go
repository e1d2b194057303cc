package guard

import (
	"fmt"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/safety"
)

// done says what came of a command that was followed.
func done(format string, args ...any) control.Response {
	return control.Response{OK: true, Code: control.CodeOK, Message: fmt.Sprintf(format, args...)}
}

// Pause holds the run where it is. pass has commands go through ticks, and the run follow
// them; state says in words where the run stands.
func (g *Guard) Pause(state string, pass func(...safety.Command)) control.Response {
	switch g.state.Mode {
	case safety.Run, safety.Hold:
		held := g.state.Mode == safety.Hold && !g.state.Paused
		pass(safety.CommandPause)
		if g.state.Mode != safety.Hold {
			return control.Response{Code: control.CodeConditions, Message: g.Word() + ": " + g.Story()}
		}
		if held {
			return done("paused; it was held already: %s", g.Active())
		}
		return done("paused: every actuator stays where it is until resume")
	default:
		return control.Response{Code: control.CodeMode, Message: fmt.Sprintf("%s: nothing runs that could be paused", state)}
	}
}

// Resume goes on from a hold, a fallback or a reset, when conditions are good. What is
// refused leaves everything as it was.
func (g *Guard) Resume(t Told, pass func(...safety.Command)) control.Response {
	commands, goal := []safety.Command{safety.CommandResume}, safety.Run
	switch g.state.Mode {
	case safety.Run, safety.Armed:
		return done("the run goes on already")
	case safety.Hold:
	case safety.Fallback:
		goal = safety.Armed
	case safety.Init, safety.Idle:
		commands, goal = append(commands, safety.CommandArm), safety.Armed
	default:
		return control.Response{Code: control.CodeLatched, Message: fmt.Sprintf("%s: %s: look at the instrument, then reset", g.Word(), g.Story())}
	}
	if refused, mode := g.rehearse(t, commands...); mode != goal {
		return control.Response{Code: control.CodeConditions, Message: g.Causes(refused)}
	}
	pass(commands...)
	if goal == safety.Armed {
		return done("armed; the run goes on with a new step")
	}
	return done("the run goes on")
}

// Reset clears a latched trip whose cause has gone. It starts nothing.
func (g *Guard) Reset(t Told, state string, pass func(...safety.Command)) control.Response {
	if g.state.Mode < safety.Tripped {
		if g.state.Latched.Empty() {
			return done("nothing is latched")
		}
		return control.Response{Code: control.CodeMode, Message: fmt.Sprintf("%s: %s: resume acknowledges it", state, g.Story())}
	}
	if _, mode := g.rehearse(t, safety.CommandReset); mode == safety.Idle {
		was := g.Story()
		pass(safety.CommandReset)
		return done("cleared: %s; resume starts the run again", was)
	}
	if g.out.Active.Empty() || g.needsRestart() {
		return control.Response{Code: control.CodeLatched, Message: fmt.Sprintf("%s: that needs a new start of the program, then a reset", g.Story())}
	}
	return control.Response{Code: control.CodeConditions, Message: g.Active()}
}

// needsRestart says that something is latched which this process cannot be trusted after.
func (g *Guard) needsRestart() bool {
	for r, of := range g.state.Latched {
		if !of.Empty() && safety.About(safety.Rule(r)).Clear == safety.ClearRestart {
			return true
		}
	}
	return false
}
