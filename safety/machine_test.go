package safety

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// worldLimits are an instrument with one of everything: a knob with a readback and a
// lease, a valve that is let go, a doser; a watched sensor, and a door.
func worldLimits() Limits {
	return Limits{Tick: tick, HoldMax: 2 * time.Second, Comms: 3 * time.Second, DurableWait: 2 * tick,
		Variables: []VariableLimits{
			{Low: -2, High: 10, SlewUp: 1, SlewDown: 4, Safe: 0, Lease: time.Second, Tolerance: 0.1, Timeout: time.Second, OnFault: RestSafe, Shutdown: RestHold},
			{Low: 0, High: 1, SlewUp: 0.5, SlewDown: 0.5, Safe: 0, Dwell: 300 * time.Millisecond, OnFault: RestOff, Shutdown: RestOff, Timeout: time.Second},
			{Low: 0, High: 50, SlewUp: 100, SlewDown: 100, Safe: 0, OnFault: RestOff, Shutdown: RestOff, Tolerance: 0.01, Timeout: time.Minute},
		},
		Sensors:    []SensorLimits{{Low: 0, High: 100, MaxAge: time.Second, Watched: true}, {Low: 0, High: 1, MaxAge: time.Second}},
		Links:      []LinkLimits{{Watched: true}},
		Interlocks: []Condition{{Sensor: 1, Low: 0.5, High: 1}},
		Doses:      []DoseLimits{{Variable: 2, PerDose: 20, Hour: 60, MinInterval: 5 * time.Second}},
	}
}

// world is a rig that a random walk acts on, with the invariants beside it.
type world struct {
	*rig
	t       *rapid.T
	witness [MaxVariables]witness
	dosed   []dosed
}

// dosed is what went out above what was in the tank.
type dosed struct {
	at     time.Duration
	amount float64
}

func newWorld(t *rapid.T, outer *testing.T) *world {
	w := &world{rig: newRig(outer, worldLimits(), 1), t: t}
	w.read[0], w.read[1] = 20, 1
	return w
}

// act lets a tick pass and compares it with the invariants.
func (w *world) act(c Command) {
	w.rig.tick(c)
	before, in := w.given.s, w.given.in
	w.compare(in, before)
	w.follows(before, c)
	// I9: the same inputs give the same, bit for bit.
	if s, out := Step(&w.l, before, &in, &w.given.p, w.now); s != w.s || out != w.out {
		w.t.Fatalf("at %v: two decisions from the same inputs", w.now)
	}
}

// compare checks I1 to I3 and I6: what was written, and what was dosed.
func (w *world) compare(in Inputs, before State) {
	for i := range w.l.Variables {
		c := scene{l: &w.l, i: i, in: &in.Variable[i], out: &w.out, dt: min(w.now-before.Last, 2*tick),
			moved: before.Variable[i].Overridden || w.out.Active[RuleOverride].Has(i)}
		if !before.Ticked {
			c.dt = 0
		}
		rest := w.l.Variables[i].OnFault
		if w.s.Ending {
			rest = w.l.Variables[i].Shutdown
		}
		c.kept = w.s.Mode == Hold || w.s.Mode == Fallback && rest == RestHold
		c.driven = !c.kept && (w.s.Mode == Fallback && rest == RestSafe || w.s.Mode == Run && w.p.Drive[i])
		if wrong := w.witness[i].look(c); wrong != "" {
			w.t.Fatalf("at %v, variable %d: %s", w.now, i, wrong)
		}
	}
	if x := w.out.Setpoint[2]; w.out.Write[2] && x > in.Variable[2].Readback.Value {
		w.dosed = append(w.dosed, dosed{w.now, x - in.Variable[2].Readback.Value})
	}
	total := 0.0
	for _, g := range w.dosed {
		if w.now-g.at < time.Hour {
			total += g.amount
		}
	}
	if total > 60+1e-9 {
		w.t.Fatalf("at %v: %v dosed in an hour", w.now, total)
	}
}

// follows checks I5 and I8: no way from Tripped or Stopped but by a reset, none to
// Run but by Armed or Hold, and a first-out for every trip.
func (w *world) follows(before State, c Command) {
	from, to := before.Mode, w.s.Mode
	switch {
	case from >= Tripped && to < Tripped && (c != CommandReset || to != Idle):
		w.t.Fatalf("%v to %v by %d", from, to, c)
	case to == Run && from != Run && from != Hold && from != Armed, to == Hold && from != Run && from != Hold:
		w.t.Fatalf("%v to %v", from, to)
	case to >= Tripped && w.s.FirstOut.Empty(), to >= Tripped && w.s.Latched.Empty():
		w.t.Fatalf("%v with first-out %v, latched %v", to, names(w.s.FirstOut), names(w.s.Latched))
	case from < Tripped && to >= Tripped && w.s.Generation == before.Generation:
		w.t.Fatalf("a latch that is not to be made durable")
	}
	for i := range w.l.Variables {
		if w.out.Release[i] && to != Run && to < Fallback {
			w.t.Fatalf("let go in %v", to)
		}
	}
}

// TestRandomWalk acts on the instrument at random and checks the invariants at every
// tick.
func TestRandomWalk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, t)
		commands := rapid.SampledFrom([]Command{CommandNone, CommandArm, CommandStart, CommandArm, CommandStart, CommandPause,
			CommandResume, CommandReset, CommandEnd, CommandFail, CommandHurry, CommandStop})
		value := rapid.SampledFrom([]float64{-5, 0, 1, 3, 9, 12, 40, math.NaN(), math.Inf(1)})
		variable := rapid.IntRange(0, len(w.l.Variables)-1)
		toggle := func(sensor int, good float64) {
			if _, ok := w.read[sensor]; ok {
				delete(w.read, sensor)
			} else {
				w.read[sensor] = good
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"command": func(rt *rapid.T) { w.act(commands.Draw(rt, "command")) },
			"start": func(*rapid.T) {
				w.act(CommandArm)
				w.act(CommandStart)
			},
			"wait": func(rt *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(rt, "ticks") {
					w.act(CommandNone)
				}
			},
			"propose": func(rt *rapid.T) {
				i := variable.Draw(rt, "variable")
				w.p.ID++
				w.p.Drive[i], w.p.Release[i], w.p.Destination[i] = true, false, value.Draw(rt, "destination")
				w.act(CommandNone)
			},
			"release": func(rt *rapid.T) {
				i := variable.Draw(rt, "variable")
				w.p.Drive[i], w.p.Release[i] = false, rapid.Bool().Draw(rt, "let go")
				w.act(CommandNone)
			},
			"sensor":  func(*rapid.T) { toggle(0, 20); w.act(CommandNone) },
			"door":    func(*rapid.T) { toggle(1, 1); w.act(CommandNone) },
			"garbage": func(rt *rapid.T) { w.read[0] = value.Draw(rt, "reading"); w.act(CommandNone) },
			"deaf":    func(*rapid.T) { w.deaf = !w.deaf; w.act(CommandNone) },
			"silent":  func(*rapid.T) { w.silent = !w.silent; w.act(CommandNone) },
			"busy": func(rt *rapid.T) {
				i := variable.Draw(rt, "variable")
				w.in.Variable[i].CanWrite = !w.in.Variable[i].CanWrite
			},
			"drain": func(*rapid.T) { w.in.Variable[2].Readback.Value = 0; w.act(CommandNone) },
			"lose":  func(rt *rapid.T) { w.in.Variable[variable.Draw(rt, "variable")].Lost = true; w.act(CommandNone) },
			"undurable": func(rt *rapid.T) {
				w.in.Durable = w.s.Generation
				if rapid.Bool().Draw(rt, "caught up") {
					w.in.Durable = Undurable
				}
				w.act(CommandNone)
			},
			"crash": func(*rapid.T) {
				saved := w.s.Save()
				w.s = Boot(saved)
				w.witness = [MaxVariables]witness{}
				if !saved.Latched.Empty() && w.s.Latched.Empty() && !onlyShutdown(saved.Latched) {
					w.t.Fatal("a crash has cleared a latch")
				}
			},
		})
	})
}

// onlyShutdown reports whether nothing is latched but the end of a run, which a new process
// has come out of.
func onlyShutdown(c Causes) bool {
	c[RuleShutdown] = Set{}
	return c.Empty()
}

// TestNoFaultNoChange is I10: with healthy inputs and destinations inside the bounds,
// every destination is reached, unchanged, and nothing ever holds or trips.
func TestNoFaultNoChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, t)
		w.l.Doses = nil
		w.running()
		noise := rapid.Float64Range(-0.05, 0.05)
		for k := range rapid.IntRange(1, 10).Draw(rt, "steps") {
			w.p.ID++
			for i := range 3 {
				l := &w.l.Variables[i]
				w.p.Drive[i], w.p.Destination[i] = true, rapid.Float64Range(l.Low, l.High).Draw(rt, "destination")
			}
			for n := 0; ; n++ {
				w.read[0] = 20 + noise.Draw(rt, "noise")
				w.rig.tick(CommandNone)
				w.want(Run)
				if w.out.Arrived[0] && w.out.Arrived[1] && w.out.Arrived[2] {
					break
				}
				if n > 500 { // 12 at 1 per second are 120 ticks
					rt.Fatalf("step %d: not arrived: %+v", k, w.in.Variable[:3])
				}
			}
			for i := range 3 {
				if got, want := w.in.Variable[i].Written.Value, w.p.Destination[i]; got != want {
					rt.Errorf("variable %d: %v written, %v wanted", i, got, want)
				}
			}
		}
	})
}
