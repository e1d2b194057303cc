package safety_test

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/safety"
)

// A proposal far out of bounds, in ticks: nothing is written before a person arms and starts;
// then the bound clamps the destination, the slew limits each step on the way there, and the
// stop writes the safe value at once.
func ExampleStep() {
	limits := safety.Limits{Tick: 100 * time.Millisecond, Variables: []safety.VariableLimits{
		{Low: 0, High: 100, SlewUp: 2, SlewDown: 20, Safe: 60, OnFault: safety.RestSafe, Shutdown: safety.RestSafe}}}
	in := safety.Inputs{Ready: true, Durable: safety.Undurable}
	in.Variable[0] = safety.VariableInput{Readback: safety.Sample{Value: 70, Known: true}, CanWrite: true}
	p := safety.Proposal{ID: 1}
	p.Drive[0], p.Destination[0] = true, 250 // out of bounds, in A
	var state safety.State
	var out safety.Output
	for k, command := range []safety.Command{safety.CommandNone, safety.CommandArm, safety.CommandStart, safety.CommandNone, safety.CommandStop} {
		in.Command = command
		state, out = safety.Step(&limits, state, &in, &p, time.Duration(k)*limits.Tick)
		if !out.Write[0] {
			fmt.Printf("%v\n", out.Mode)
			continue
		}
		fmt.Printf("%v %.1f A on the way to %.0f A %v\n", out.Mode, out.Setpoint[0], out.Destination[0], out.Reasons[0].Names())
		in.Variable[0].Written = safety.Sample{Value: out.Setpoint[0], At: time.Duration(k) * limits.Tick, Known: true}
	}
	// Output:
	// IDLE
	// ARMED
	// RUN 70.2 A on the way to 100 A [hard-bounds slew]
	// RUN 70.4 A on the way to 100 A [hard-bounds slew]
	// STOPPED 60.0 A on the way to 60 A []
}
