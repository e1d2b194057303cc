package sim

import "time"

// Options describes a plant. It is plain data.
type Options struct {
	// Kind is "laser", "growth", "dosing" or "table".
	Kind string
	// Noise scales the standard deviation of a shot; 1 is the plant's own noise
	// and 0 none.
	Noise float64
	// Drift moves the laser's optimum, in knob ranges per hour.
	Drift float64
	// Saturation is the share of the energy sensor's range above which the laser's
	// detector says the same for every pulse; 0 counts as 1.
	Saturation float64
	// Faults as in ParseFault, each with a step or a time.
	Faults []string
	// Data names the table of a table plant; see Tables.
	Data string
	// Batch is how long one value of a growth, dosing or table plant takes; 0 takes
	// DefaultGrowthBatch, DefaultDosingBatch or DefaultTableBatch.
	Batch time.Duration
	// Seed determines every random number.
	Seed uint64
	// Variables in file order, one to 200.
	Variables []Variable
	// Sensors in file order, at least one.
	Sensors []Sensor
}

// How long one value of a plant takes unless Options.Batch says otherwise. A
// batch is longer than any ramp of a sensible file, so that it is a step of its
// own, and short enough that hundreds pass quickly in virtual time. A table's
// value takes two of the loop's default ticks.
const (
	DefaultGrowthBatch = 60 * time.Second
	DefaultTableBatch  = 200 * time.Millisecond
)

// Variable is one input of the plant.
type Variable struct {
	Name, Unit string
	// Low and High bound what a policy may ask for, in Unit; the plant's axis. Log: the laser's axis is the
	// logarithm of the value.
	Low, High float64
	Log       bool
	// Start is where the variable is when the plant is switched on, in Unit. NaN: a
	// variable that can be released is released then, any other is at mid-range.
	Start float64
	// Device and Channel say where it is set and read.
	Device, Channel string
	// Resolution is the device's step in Unit; 0: continuous.
	Resolution float64
	// Integer and Levels (growing) restrict the values that the device can take.
	Integer bool
	Levels  []float64
	// Actuated is false for a variable that is only measured.
	Actuated bool
	// Dose says that a write adds an amount, once; see doses.go.
	Dose bool
	// OnRelease is "release" (the environment decides, by Random), "park" (the
	// caller writes Safe) or "hold" (and "": the last value stays).
	OnRelease string
	// Random is the distribution while released; see Variable.OnRelease.
	Random Distribution
	// Safe is what Halt drives to, in Unit; NaN: Start, or mid-range without one.
	Safe float64
	// Min and Max are the device's own limits, in Unit. Both 0: the range and two
	// spans to either side, of a logarithmic scale from 0, wide enough for any sensible hard limit of a file.
	Min, Max float64
}

// Distribution says what a variable does when it is left to the environment.
type Distribution struct {
	Kind RandomKind
	// Mean and SD are those of the normal distribution before it is truncated to
	// the variable's range, in the variable's unit.
	Mean, SD float64
}

// RandomKind names a family of distributions.
type RandomKind uint8

// The families.
const (
	// Held: the last value stays.
	Held RandomKind = iota
	// Uniform over the variable's range.
	Uniform
	// Normal, truncated to the variable's range.
	Normal
)

// Sensor is one output of the plant.
type Sensor struct {
	Name, Unit string
	// Device and Channel say where it is read. A sensor on a variable's channel
	// reads that variable.
	Device, Channel string
	// Low and High bound what the sensor can say, in Unit. The laser scales its
	// energy to them.
	Low, High float64
	// Objective marks the sensors that bring a new value only with a shot. The
	// first of them is the plant's objective.
	Objective bool
	// Interlock, if any, is the range that the sensor must be in for the loop to
	// run, in Unit.
	Interlock *[2]float64
}
