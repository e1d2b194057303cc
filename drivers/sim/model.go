package sim

// model is a plant's law: what one shot says at a setting. u are coordinates on
// the unit cube (they may lie a little outside), hours the time since New.
// Signal 0 is the objective; what others there are belongs to the model. A model
// has no state.
type model interface {
	// signals returns the number of signals of a shot.
	signals() int
	// moments returns mean and variance of signal k of a shot, in its sensor's unit.
	moments(k int, u []float64, hours float64) (mean, variance float64)
	// shot fills out with shot number n.
	shot(out, u []float64, hours float64, n uint64)
	// outcomes calls visit for every node of a rule that integrates over the shots
	// at u: visit's weights sum to one. The slice is the model's own.
	outcomes(u []float64, hours float64, visit func(signals []float64, weight float64))
	// landmarks returns points of the cube worth starting a search from.
	landmarks(hours float64) [][]float64
}

// averager is a model that knows its moments' expectations in closed form.
type averager interface {
	// average returns a function of u that gives the expectation of mean and
	// variance of signal 0 where the axes that are not controlled follow axes, and
	// the others are u's, and the variance of the mean over those axes.
	average(controlled []bool, axes []dist) func(u []float64) (mean, variance, spread float64)
}

// hermite holds the nodes and weights of the 9-point Gauss rule for the standard
// normal distribution, in growing order. It is exact for polynomials up to degree
// 17. (Zeros of the Hermite polynomial He9; weights 9!/(81 He8(z)²), by Newton's iteration.)
var hermite = [9][2]float64{
	{-4.512745863399783, 2.234584400774657e-05},
	{-3.20542900285647, 0.0027891413212317723},
	{-2.07684797867783, 0.04991640676521785},
	{-1.0232556637891326, 0.24409750289493937},
	{0, 0.40634920634920635},
	{1.0232556637891326, 0.24409750289493937},
	{2.07684797867783, 0.04991640676521785},
	{3.20542900285647, 0.0027891413212317723},
	{4.512745863399783, 2.234584400774657e-05},
}
