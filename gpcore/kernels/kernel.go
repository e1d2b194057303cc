package kernels

// ParamKind says what a hyperparameter measures, so that a fit can choose its
// prior.
type ParamKind int

const (
	// OutputVariance is a variance of the function, in squared units of y.
	OutputVariance ParamKind = iota
	// Lengthscale is a distance in units of x over which the function changes.
	Lengthscale
	// Timescale is the time over which the function is forgotten. A fit holds it
	// fixed: data gathered near a moving optimum hide the drift.
	Timescale
	// Period is the period of a periodic function, in units of x.
	Period
	// Shape is a dimensionless exponent or roughness.
	Shape
)

// Kernel is a covariance function k(x, y) of d-dimensional points, positive
// definite. Implementations are immutable and safe for concurrent use. Slices
// passed in are only read, and not kept.
//
// The kernels of this package are evaluated 24 pairs at a time by vector code;
// one written elsewhere works as well, pair by pair.
type Kernel interface {
	// Dim is the number of coordinates d of a point.
	Dim() int
	// Cov is k(x, y).
	Cov(x, y []float64) float64
	// Variance is k(x, x).
	Variance(x []float64) float64
	// NumParams is the number of hyperparameters.
	NumParams() int
	// Params appends the natural logarithms of the hyperparameters to dst: a
	// leaf's output variance first, then its lengthscales, then what else it has;
	// a sum's or product's operands in order.
	Params(dst []float64) []float64
	// Kinds appends the kinds of the hyperparameters, in the order of Params.
	Kinds(dst []ParamKind) []ParamKind
	// WithParams is the same family with the hyperparameters exp(logs[i]). logs
	// has NumParams elements, else it panics.
	WithParams(logs []float64) Kernel
	// Gradient sets dst[i] to the derivative of k(x, y) by x[i]. Where k has a kink
	// at x = y, it is zero there.
	Gradient(dst, x, y []float64)
	// ParamGradient sets dst[i] to the derivative of k(x, y) by Params[i].
	ParamGradient(dst, x, y []float64)
}
