package space

import "slices"

// Variable is one input.
type Variable struct {
	Name string
	// Low and High bound what may be proposed, in the variable's unit.
	Low, High float64
	// Levels, if any, are the only values that may be proposed, in growing order.
	Levels []float64
	// Integer restricts proposals to whole numbers.
	Integer bool
	// Resolution is the device's step, in the variable's unit; 0: continuous.
	Resolution float64
	// Log says that the variable's effect goes with its logarithm: the model, the search and
	// a uniform distribution then take log(v) for v. Low is positive.
	Log bool
	// Start is the starting setting, NaN if the variable is random then.
	Start float64
	// Random says what the variable does when it is left alone.
	Random Distribution
}

// Distribution says what a random variable does.
type Distribution struct {
	Kind RandomKind
	// Mean and SD are the parameters of the normal distribution before it is
	// truncated to the variable's range, in the variable's unit.
	Mean, SD float64
}

// RandomKind names a family of distributions.
type RandomKind uint8

// The families.
const (
	// Held: the device keeps the last value; a point mass there.
	Held RandomKind = iota
	// Uniform over the variable's range, on its scale.
	Uniform
	// TruncatedNormal within the variable's range.
	TruncatedNormal
	// Learnt from the readings taken while the variable was random, starting at
	// uniform with the weight of ten readings.
	Learnt
)

// String is the family's word.
func (k RandomKind) String() string {
	return [...]string{Held: "held", Uniform: "uniform", TruncatedNormal: "normal", Learnt: "learnt"}[k]
}

// ControlSet is a subset of the variables that a step can control.
type ControlSet struct {
	// Controlled has one entry per variable.
	Controlled []bool
	// Cost is what a step with this control set costs, in the file's cost unit.
	Cost float64
}

// Full reports whether a set controls every variable.
func (c ControlSet) Full() bool { return !slices.Contains(c.Controlled, false) }
