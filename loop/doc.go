// Package loop is the tuner: measure, learn, propose, clamp, write, settle,
// record.
//
// # Two clocks
//
// A tick (100 ms by default) passes every driven variable through safety.Step,
// writes what came out, asks the devices for readings and looks at the step's
// deadlines. It never blocks. A step is a small state machine over ticks; it may
// take milliseconds or days:
//
//	opening → booting → choosing → recording → moving → settling → measuring → concluding ┐
//	                       ^                                                              │
//	                       └──────────────────────────────────────────────────────────────┘
//	  a stop condition → the recommended against the starting setting, in steps → homing? → resting → closed
//	  a fault, an interrupt                                                               → resting → closed
//
// A run that nobody typed may wait between booting and choosing for a resume: it reads,
// and writes nothing (see StartMode).
//
// While the safety layer holds, or a device is out of order, the step's clocks stand
// still; when the layer falls back the step is given up, and the run waits for the end
// of an outage or for a person, or ends where neither can be; when it trips or is
// stopped the run ends.
//
// # Who runs what
//
// One goroutine owns the loop's state. Whatever may block (a device call, a
// decision, a durable write) is a job of a worker (package worker), a goroutine of
// its own, and comes back as a result that the part which posted it takes in. In a
// simulation there are no goroutines: jobs run in order between ticks and a
// [worker.VirtualClock] moves by one tick at a time, so the same seed gives the same run.
//
// Each part owns its state: the advisor the policy, the guard the safety layer, the
// instrument devices and actuators, the recorder what is to be durable. They return
// events, which the loop follows in order; the step, outages and the end of the run
// are types of this package.
//
// # The way of a setpoint
//
//	advisor.Ask, Handle -> Decided          the policy's proposal
//	plan.Decide(options, decision, proposal, guard, from) -> plan.Step
//	recorder.Put(now, entry) -> Written     the decision, then the intent
//	instrument.Aim(i, destination, bad)     or LetGo, AimDose: the wish
//	guard.Tick(command, Told{inputs, wish}) -> Ruling
//	instrument.Rule, Apply(present, output) the device's worker writes
//	instrument.InPlace(i)                   acknowledged, and read within tolerance
//
// # The way of a shot
//
//	instrument.Poll, Handle -> Heard        a reading
//	guard.Hear(sensor, value, at) bool      the only door for samples
//	instrument.Accept(heard, guard.Hear) -> the sensors renewed
//	plan.Shots.Offer(options, instrument, renewed, at, asked, now) bool
//	plan.Statistic.Summarise(shots, n) -> journal.Outcome
//	recorder.Put(now, entry) -> Written     shots and outcome
//	advisor.Learn(plan.Options.Observations(concluded)) -> Learnt
//
// # What the model learns
//
// A shot is one new value of the objective, with the other sensors' and the
// variables' values of the same instant. Shots count from the moment when every
// driven variable's readback is within tolerance and the settle time has passed.
// The model learns the setting that was achieved: the readback of controlled
// variables, the measured value of random ones. What is stale, missing, out of
// range or not finite is no data, never a number.
package loop
