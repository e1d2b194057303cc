// Package sim is a set of simulated instruments that behave like a laboratory:
// finite speed, settling, noise that depends on the setting, drift, lost light,
// and faults on request.
//
// # Words
//
// A plant is what the instruments are attached to: one object with one state,
// whatever number of devices it is seen through. A knob is a variable as the
// plant has it: a commanded setpoint, a motor that follows it, and (in the
// laser) an optic that follows the motor with play. A shot is one event at which
// the plant yields a value of its objective: a laser pulse, the end of a batch,
// a finished table measurement. Between two shots there is nothing new, and a
// Reading says so by leaving the channel out.
//
// A variable that is released, or has no actuator, is in the hands of the
// environment: it takes draws from its declared distribution.
//
// A plant's own coordinates are the unit cube: axis i is the i-th variable in
// file order, 0 its low and 1 its high end.
//
// # Time and chance
//
// A plant does nothing by itself. Its state at an instant is a closed form of
// the calls that changed it and of the time since, and every random number is a
// function of (seed, stream, index), where the index counts pulses, batches or
// nanoseconds. What a call returns therefore depends on the seed and on the
// times of the calls alone: reading more often changes nothing but which shots
// are seen. Time is Env.Clock's, counted from New.
//
// Every constant of the laser is ours, chosen to make the problem instructive;
// nothing here is a claim about a particular laser. The growth plant and the
// tables rest on published data, see README.md.
package sim
