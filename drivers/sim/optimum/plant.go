// Package optimum finds the best setting of a simulated plant: what it really is, by the
// plant's own law, so that a result can be held against it.
package optimum

// Plant is what the search knows of a plant at one moment; its drift is frozen. u is
// a point of the unit cube, with one coordinate for each axis; the functions may be called
// from any goroutine.
type Plant struct {
	// Axes are the variables in file order.
	Axes    []Axis
	Sensors []Sensor
	// Goal is the signal that is the objective.
	Goal int
	// Moments gives mean and variance of a signal of one shot, in its sensor's unit.
	Moments func(signal int, u []float64) (mean, variance float64)
	// Outcomes calls visit for every node of a rule that integrates over the shots at u:
	// visit's weights sum to one.
	Outcomes func(u []float64, visit func(signals []float64, weight float64))
	// Average, where the plant has a closed form, gives a function for the expectation of
	// the objective's mean and variance over the axes that are not controlled, and the
	// variance of the mean over them; else nil.
	Average func(controlled []bool) func(u []float64) (mean, variance, spread float64)
	// Landmarks are points worth starting from.
	Landmarks func() [][]float64
	// Snap, of a plant that knows its landmarks only, gives the values in the variables'
	// units of the one that u is nearest to; nil: every point has a value.
	Snap func(u []float64) []float64
}

// Axis is one variable.
type Axis struct {
	// Low and High are where its coordinate is 0 and 1, in its unit.
	Low, High float64
	// Nearest gives the value that its device can take; nil: any. Gap is the widest between
	// two of them, as a share of the range.
	Nearest func(x float64) float64
	Gap     float64
	// Quantile is that of its distribution where it is left random, on the cube; nil: it
	// is held, at Held.
	Quantile func(p float64) float64
	Held     float64
	// Idle says that nothing depends on it: it is not searched, and has no best value.
	Idle bool
}

// at gives the value at a coordinate.
func (a Axis) at(u float64) float64 { return a.Low + u*(a.High-a.Low) }

// Sensor is one output of the plant.
type Sensor struct {
	Name string
	// From says where its value comes from, Index which signal or axis; Value is the
	// constant's.
	From  Source
	Index int
	Value float64
}

// Source says where a sensor's value comes from.
type Source uint8

// The sources.
const (
	// Signal: the plant's law.
	Signal Source = iota
	// Variable: it reads an axis.
	Variable
	// Constant: always the same.
	Constant
	// Reservoir: it depends on what was dosed before, which the search does not know.
	Reservoir
)
