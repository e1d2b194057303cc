package instrument

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// granted has the layer give out a dose of 3 whose intent is recorded; the device has not been
// told: its line is taken.
func granted(t *testing.T) (*trial, *Dose, *flight) {
	t.Helper()
	tr := newTrial(t)
	tr.plan.Variables[1].OnFault, tr.plan.Variables[1].Shutdown = plan.RestOff, plan.RestHold
	tr.AimDose(1, 3, 1, false)
	var out safety.Output
	out.Write[1], out.Setpoint[1] = true, 3
	tr.Rule(tr.present(safety.Run), &out, false)
	doses := tr.Apply(tr.present(safety.Run), &out)
	busy := &flight{}
	tr.links[0].flight = busy
	return tr, doses[0], busy
}

// TestDoseGates: a dose is given in a run, in a step, over a line that is free to a device that
// answers; elsewhere it waits, and where its step has ended it is not given any more.
func TestDoseGates(t *testing.T) {
	for name, c := range map[string]struct {
		mode   safety.Mode
		change func(tr *trial, p *Present)
		given  bool
		over   bool // it is not given, and that is told
	}{
		"all is well":      {safety.Run, func(*trial, *Present) {}, true, false},
		"held":             {safety.Hold, func(*trial, *Present) {}, false, false},
		"line taken":       {safety.Run, func(tr *trial, _ *Present) { tr.links[0].flight = &flight{} }, false, false},
		"out of order":     {safety.Run, func(tr *trial, _ *Present) { tr.links[0].outage.out = true }, false, false},
		"too often so":     {safety.Run, func(tr *trial, _ *Present) { tr.links[0].outage.spent = true }, false, false},
		"the step ended":   {safety.Run, func(_ *trial, p *Present) { p.Moving = false }, false, true},
		"fallen back":      {safety.Fallback, func(*trial, *Present) {}, false, true},
		"tripped":          {safety.Tripped, func(*trial, *Present) {}, false, true},
		"device is broken": {safety.Run, func(tr *trial, _ *Present) { tr.links[0].dead = errors.New("x") }, false, true},
	} {
		tr, g, busy := granted(t)
		tr.Intended(tr.present(safety.Run), g, 7)
		if g.sent || len(tr.giving) != 1 {
			t.Fatalf("%s: sent %v over a line that is taken", name, g.sent)
		}
		tr.links[0].landed(busy)
		p := tr.present(c.mode)
		c.change(tr, &p)
		tr.GoOn(p)
		if given := g.sent; given != c.given {
			t.Errorf("%s: given %v", name, given)
		}
		tr.drain(t, safety.Run)
		if in := tr.inputs(safety.Run, 1); c.over != (in.Dose == safety.DoseNotGiven) || c.given != (tr.pumped == 3) || c.given != (in.Dose == safety.DoseGiven) {
			t.Errorf("%s: pumped %v, told %v", name, tr.pumped, in.Dose)
		}
		if waits := len(tr.giving) == 1; waits == (c.given || c.over) {
			t.Errorf("%s: waits %v", name, waits)
		}
	}
	tr, g, busy := granted(t) // before its intent is durable it is neither given nor given up
	tr.links[0].landed(busy)
	tr.GoOn(tr.present(safety.Run))
	if g.sent || len(tr.giving) != 1 {
		t.Error("given before its intent was durable")
	}
	tr.GoOn(tr.present(safety.Fallback))
	if len(tr.giving) != 1 {
		t.Error("given up before its intent has an outcome to be closed by")
	}
}

// TestDoseIsRevoked: a dose that waits for its device's worker when the mode changes does not leave;
// it is given in the run that goes on, once, and never after a fallback.
func TestDoseIsRevoked(t *testing.T) {
	for _, c := range []struct {
		then safety.Mode
		want float64
	}{{safety.Run, 3}, {safety.Hold, 0}, {safety.Fallback, 0}, {safety.Stopped, 0}} {
		tr, g, busy := granted(t)
		tr.links[0].landed(busy)
		tr.Intended(tr.present(safety.Run), g, 7)
		if !g.sent {
			t.Fatal("not on its way")
		}
		tr.Rule(tr.present(safety.Hold), &safety.Output{}, true)
		for _, m := range []safety.Mode{safety.Hold, c.then, c.then} {
			tr.drain(t, m)
			if m == safety.Hold && tr.pumped != 0 {
				t.Fatalf("%v pumped after the mode changed", tr.pumped)
			}
			tr.GoOn(tr.present(m))
		}
		tr.drain(t, c.then)
		if tr.pumped != c.want {
			t.Errorf("then %v: %v pumped, want %v", c.then, tr.pumped, c.want)
		}
	}
}

// endingBench is a device whose Write tells why its context has ended.
type endingBench struct {
	*bench
	cause error
}

func (b *endingBench) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	b.cause = context.Cause(ctx)
	return b.bench.Write(ctx, s)
}

// TestDoseIsCutOff: a dose that runs is cut off where its device is to be stopped, not where it
// may run to its end.
func TestDoseIsCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		mode   safety.Mode
		ending bool
		cut    bool
	}{"run": {safety.Run, false, false}, "hold": {safety.Hold, false, false}, "fallback": {safety.Fallback, false, true},
		"stop": {safety.Stopped, false, true}, "the end, at which it may run on": {safety.Fallback, true, false}} {
		tr, g, busy := granted(t)
		dev := &endingBench{bench: tr.bench}
		tr.links[0].act = dev
		tr.links[0].landed(busy)
		tr.Intended(tr.present(safety.Run), g, 7)
		p := tr.present(c.mode)
		p.Ending = c.ending
		tr.GoOn(p)
		tr.GoOn(p)
		tr.drain(t, c.mode)
		if cut := errors.Is(dev.cause, drivers.ErrPreempted); cut != c.cut || g.cancelled != c.cut {
			t.Errorf("%s: cut off %v (%v)", name, cut, dev.cause)
		}
	}
}

// apply has the layer give out a place of the knob.
func (tr *trial) apply(m safety.Mode, place float64) {
	var out safety.Output
	out.Write[0], out.Setpoint[0], out.Destination[0], out.Arrived[0] = true, place, place, true
	tr.Aim(0, place, false)
	tr.Rule(tr.present(m), &out, false)
	tr.Apply(tr.present(m), &out)
}

// TestTooLate: a setpoint leaves within its lease, or ten seconds, and within two ticks of its
// decision; a safe value leaves whenever it can. What has not left is acknowledged by nobody.
func TestTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		lease, waits time.Duration
		mode         safety.Mode
		leaves       bool
	}{
		"at the end of its lease":    {3 * time.Second, 3 * time.Second, safety.Run, true},
		"after its lease":            {3 * time.Second, 3*time.Second + 1, safety.Run, false},
		"ten seconds without one":    {0, leaveMost, safety.Run, true},
		"longer without one":         {0, leaveMost + 1, safety.Run, false},
		"a long lease":               {time.Minute, leaveMost + 1, safety.Run, false},
		"a safe value, in an hour":   {3 * time.Second, time.Hour, safety.Tripped, true},
		"a way to rest, in an hour":  {3 * time.Second, time.Hour, safety.Fallback, true},
		"what a hold holds, too old": {3 * time.Second, time.Hour, safety.Hold, false},
	} {
		tr := newTrial(t)
		tr.plan.Variables[0].Limits.Lease = c.lease
		tr.apply(c.mode, 6)
		if tr.inputs(c.mode, 0).CanWrite {
			t.Errorf("%s: two writes at once", name)
		}
		tr.clock.now = tr.clock.now.Add(c.waits)
		tr.drain(t, c.mode)
		if left := tr.knob == 6; left != c.leaves || c.leaves != (tr.Written(0) == 6) || tr.inputs(c.mode, 0).Lost {
			t.Errorf("%s: left %v, acknowledged %v, lost %v", name, left, tr.Written(0), tr.inputs(c.mode, 0).Lost)
		}
		if !tr.inputs(c.mode, 0).CanWrite {
			t.Errorf("%s: its line stays taken", name)
		}
	}
	for stood, leaves := range map[time.Duration]bool{staleTicks * time.Second: true, staleTicks*time.Second + 1: false} {
		tr := newTrial(t)
		var out safety.Output
		out.Write[0], out.Setpoint[0] = true, 6
		tr.Rule(tr.present(safety.Run), &out, false)
		p := tr.present(safety.Run)
		tr.clock.now = tr.clock.now.Add(stood)
		tr.Apply(p, &out)
		if tr.drain(t, safety.Run); (tr.knob == 6) != leaves {
			t.Errorf("handed over %v after its tick: left %v", stood, !leaves)
		}
	}
}

// TestOvertakenBeforeItLeft: a setpoint whose call was overtaken while it waited for its worker does
// not leave, and is not acknowledged: a run that begins with it has not begun there.
func TestOvertakenBeforeItLeft(t *testing.T) {
	tr := newTrial(t)
	tr.apply(safety.Run, 6)
	tr.links[0].calls.overtake()
	tr.drain(t, safety.Run)
	if in := tr.inputs(safety.Run, 0); tr.knob == 6 || in.Written.Known || in.Lost {
		t.Errorf("knob at %v, told %+v", tr.knob, in)
	}
}

// TestInPlace: what the device has acknowledged is in place once a reading that is not older
// shows it.
func TestInPlace(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	for name, c := range map[string]struct {
		read plan.Reading
		want bool
	}{
		"shown":             {plan.Reading{Value: 6, At: asked.Add(time.Second), Known: true}, true},
		"in its moment":     {plan.Reading{Value: 6, At: asked, Known: true}, true},
		"before":            {plan.Reading{Value: 6, At: asked.Add(-1), Known: true}, false},
		"not read":          {plan.Reading{Value: 6, At: asked.Add(time.Second)}, false},
		"elsewhere":         {plan.Reading{Value: 6.5625, At: asked.Add(time.Second), Known: true}, false},
		"at the tolerance":  {plan.Reading{Value: 6.5, At: asked.Add(time.Second), Known: true}, true},
		"at it, from below": {plan.Reading{Value: 5.5, At: asked.Add(time.Second), Known: true}, true},
	} {
		tr := newTrial(t)
		tr.plan.Variables[0].Tolerance = 0.5
		tr.apply(safety.Run, 6)
		tr.clock.now = asked
		tr.drain(t, safety.Run)
		tr.variables[0] = c.read
		tr.Rule(tr.present(safety.Run), func() *safety.Output { o := &safety.Output{}; o.Arrived[0] = true; return o }(), false)
		if got := tr.InPlace(0); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if at := tr.all[0].writtenAt; !at.Equal(asked) {
			t.Errorf("%s: acknowledged as of %v, it left at %v", name, at, asked)
		}
	}
}

// readOnly is a device without actuators.
type readOnly struct{ drivers.Device }

// TestHaltIsTakenIn: every actuator of a halted device may stand anywhere, those of others not,
// and a device that has none is not halted.
func TestHaltIsTakenIn(t *testing.T) {
	tr := newTrial(t)
	other := &link{index: 1, name: "meter", dev: readOnly{tr.bench}}
	tr.links = append(tr.links, other)
	tr.tookHalt(halted{k: other, limit: time.Second})
	if tr.all[0].lost || tr.all[1].lost {
		t.Error("another device's halt has moved them")
	}
	tr.tookHalt(halted{k: tr.links[0], limit: time.Second})
	if !tr.all[0].lost || !tr.all[1].lost {
		t.Error("a halt moves nothing")
	}
	tr.HaltAll(time.Second)
	tr.drain(t, safety.Run)
	tr.apply(safety.Run, 6)
	if !tr.revoked(tr.orders.Load()) {
		t.Error("until the loop has taken the halt in, something may leave")
	}
}

// TestDoseAfterAStall: the loop has stood still since its tick: the dose is left to the next one.
func TestDoseAfterAStall(t *testing.T) {
	tr, g, busy := granted(t)
	tr.links[0].landed(busy)
	p := tr.present(safety.Run)
	tr.clock.now = tr.clock.now.Add(staleTicks*time.Second + 1)
	tr.Intended(p, g, 7)
	if tr.drain(t, safety.Run); g.sent || tr.pumped != 0 {
		t.Errorf("%v pumped after a stall", tr.pumped)
	}
	tr.Rule(tr.present(safety.Run), &safety.Output{}, false)
	tr.GoOn(tr.present(safety.Run))
	if tr.inputs(safety.Run, 0).CanWrite {
		t.Error("a setpoint may go out beside a dose")
	}
	if tr.drain(t, safety.Run); tr.pumped != 3 || !tr.inputs(safety.Run, 0).CanWrite {
		t.Errorf("%v pumped in the next tick", tr.pumped)
	}
}

// failing is a device whose Write fails.
type failing struct {
	*bench
	err error
}

func (b *failing) Write(context.Context, drivers.Setpoints) (drivers.Reading, error) {
	return drivers.Reading{}, b.err
}

// TestDoseOfADeviceThatFails: a dose that fails is a failure of its device, which counts; one
// that we have cut off is not.
func TestDoseOfADeviceThatFails(t *testing.T) {
	for _, cut := range []bool{false, true} {
		tr, g, busy := granted(t)
		tr.links[0].act = &failing{tr.bench, errors.New("no answer that makes sense")}
		tr.links[0].landed(busy)
		tr.Intended(tr.present(safety.Run), g, 7)
		if cut {
			tr.GoOn(tr.present(safety.Fallback))
		}
		events := tr.drain(t, safety.Run)
		if in := tr.inputs(safety.Run, 1); in.Dose != safety.DoseUnknown {
			t.Errorf("cut off %v: told %v", cut, in.Dose)
		}
		if !slices.ContainsFunc(events, func(e any) bool {
			d, ok := e.(DoseResolved)
			return ok && d.Action == 7 && d.State == journal.Unknown && d.Message == "no answer that makes sense"
		}) {
			t.Errorf("cut off %v: for the record %+v", cut, events)
		}
		if broken := tr.links[0].dead != nil; broken == cut {
			t.Errorf("cut off %v: out of order %v", cut, broken)
		}
	}
}

// late is an instrument whose messages may arrive a minute late.
type late struct{ *bench }

func (late) MaxDelay() time.Duration { return time.Minute }
func (late) LastLoss() time.Time     { return time.Time{} }

// TestStopIsRepeatedWhereAFaultHolds: while an older setpoint may still arrive the rest state is
// written again: that of a stop is the safe value, also of an actuator that a fault and an end
// leave where it is.
func TestStopIsRepeatedWhereAFaultHolds(t *testing.T) {
	for _, c := range []struct {
		why               string
		mode              safety.Mode
		ending, makesSafe bool
		again             bool
	}{
		{"a stop", safety.Stopped, false, true, true},
		{"a stop on the way to rest", safety.Stopped, true, true, true},
		{"an end", safety.Fallback, true, false, false},
		{"a trip", safety.Tripped, false, false, false},
	} {
		tr := newTrial(t)
		v := &tr.Instrument.plan.Variables[0]
		v.OnFault, v.Shutdown = plan.RestHold, plan.RestHold
		k := tr.links[0]
		k.dev = late{tr.bench}
		tr.all[0].written = 4
		k.straggle(&batch{}, drivers.ErrUnavailable, tr.clock.now, tr.clock.now)
		tr.clock.now = tr.clock.now.Add(repeatSafe)
		p := tr.present(c.mode)
		p.Ending, p.MakesSafe = c.ending, c.makesSafe
		tr.RepeatRest(p)
		if again := math.IsNaN(tr.Written(0)); again != c.again {
			t.Errorf("%s: written again %v, want %v", c.why, again, c.again)
		}
	}
}

// TestEndWaitsForStragglersWhereItWrites: an older setpoint that may still arrive keeps up the end of
// the run of a device that is brought somewhere, or may not be left at all of its values, until none can
// come any more; where all stay where they are nothing would be written again, and nothing is waited for.
func TestEndWaitsForStragglersWhereItWrites(t *testing.T) {
	for _, c := range []struct {
		name    string
		state   plan.RestState
		exposed time.Duration
		waits   bool
	}{
		{"stays", plan.RestHold, 0, false},
		{"stays, and not above", plan.RestHold, time.Hour, true},
		{"goes to its safe value", plan.RestSafe, 0, true},
	} {
		tr := newTrial(t)
		knob, pump := &tr.Instrument.plan.Variables[0], &tr.Instrument.plan.Variables[1]
		knob.Limits.High, knob.Limits.Above, knob.Limits.AboveTime = 10, 6, c.exposed
		knob.Shutdown, pump.Shutdown = c.state, plan.RestHold
		k := tr.links[0]
		k.dev = late{tr.bench}
		k.straggle(&batch{}, drivers.ErrUnavailable, tr.clock.now, tr.clock.now)
		tr.Rest((*plan.Variable).AtEnd)
		tr.all[0].arrived = true
		since, p := tr.clock.now, tr.present(safety.Fallback)
		p.Ending = true
		over, _, told := tr.Resting(p, since)
		if over == c.waits || (len(told) > 0) != c.waits {
			t.Errorf("%s: over %v, told %+v", c.name, over, told)
		}
		k.safe.repeated = k.safe.unknown.Add(late{}.MaxDelay())
		if over, _, _ := tr.Resting(p, since); !over {
			t.Errorf("%s: none can come any more, and the end waits", c.name)
		}
	}
}
