package kernels

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// family is the radial profile f of a stationary kernel variance*f(r).
type family int

const (
	gaussian family = iota
	matern52
	matern32
	exponential
	rationalQuadratic
)

// stationary is a kernel of the scaled distance
// r^2 = sum over i of ((x_i - y_i)/lengthscale_i)^2.
type stationary struct {
	family      family
	variance    float64
	lengthscale []float64
	shape       float64 // of the rational quadratic, else 0
}

// SquaredExponential is variance * exp(-r^2/2), with
// r^2 = sum over i of ((x_i-y_i)/lengthscales[i])^2; one lengthscale per
// coordinate (ARD). The function it describes is infinitely smooth. Like every
// constructor of a kernel it panics unless all hyperparameters are positive and
// finite. Rasmussen & Williams (2006), eq. 4.9.
func SquaredExponential(variance float64, lengthscales []float64) Kernel {
	return newStationary(gaussian, variance, lengthscales, 0)
}

// Matern52 is variance * (1 + u + u^2/3) exp(-u), u = sqrt(5) r, with r as in
// [SquaredExponential]. The function it describes is twice differentiable.
// Rasmussen & Williams (2006), eq. 4.17.
func Matern52(variance float64, lengthscales []float64) Kernel {
	return newStationary(matern52, variance, lengthscales, 0)
}

// Matern32 is variance * (1 + u) exp(-u), u = sqrt(3) r, with r as in
// [SquaredExponential]. The function it describes is once differentiable.
// Rasmussen & Williams (2006), eq. 4.17.
func Matern32(variance float64, lengthscales []float64) Kernel {
	return newStationary(matern32, variance, lengthscales, 0)
}

// RationalQuadratic is variance * (1 + r^2/(2 shape))^(-shape), with r as in
// [SquaredExponential]: a mixture of squared exponentials of many lengthscales,
// more of them the smaller the shape. Rasmussen & Williams (2006), eq. 4.19.
func RationalQuadratic(variance, shape float64, lengthscales []float64) Kernel {
	mustBePositive(shape)
	return newStationary(rationalQuadratic, variance, lengthscales, shape)
}

func newStationary(f family, variance float64, lengthscales []float64, shape float64) *stationary {
	if len(lengthscales) == 0 {
		panic("gpcore: a kernel needs at least one lengthscale")
	}
	mustBePositive(variance)
	for _, l := range lengthscales {
		mustBePositive(l)
	}
	return &stationary{f, variance, append([]float64(nil), lengthscales...), shape}
}

func mustBePositive(v float64) {
	if !(v > 0) || math.IsInf(v, 1) {
		panic("gpcore: a hyperparameter must be positive and finite")
	}
}

// mustCount checks the argument of WithParams.
func mustCount(logs []float64, n int) {
	if len(logs) != n {
		panic("gpcore: WithParams needs one value per hyperparameter")
	}
}

func (k *stationary) Dim() int                   { return len(k.lengthscale) }
func (k *stationary) Variance([]float64) float64 { return k.variance }

func (k *stationary) NumParams() int {
	if k.family == rationalQuadratic {
		return 2 + len(k.lengthscale)
	}
	return 1 + len(k.lengthscale)
}

func (k *stationary) Params(dst []float64) []float64 {
	dst = append(dst, math.Log(k.variance))
	for _, l := range k.lengthscale {
		dst = append(dst, math.Log(l))
	}
	if k.family == rationalQuadratic {
		dst = append(dst, math.Log(k.shape))
	}
	return dst
}

func (k *stationary) Kinds(dst []ParamKind) []ParamKind {
	dst = append(dst, OutputVariance)
	for range k.lengthscale {
		dst = append(dst, Lengthscale)
	}
	if k.family == rationalQuadratic {
		dst = append(dst, Shape)
	}
	return dst
}

// WithParams, like all of this package, takes exponentials from vec: those of the
// standard library differ in the last bit between processors with and without
// fused multiply-add.
func (k *stationary) WithParams(logs []float64) Kernel {
	mustCount(logs, k.NumParams())
	d := len(k.lengthscale)
	l := make([]float64, d)
	for i := range l {
		l[i] = vec.Exp(logs[1+i])
	}
	shape := 0.0
	if k.family == rationalQuadratic {
		shape = vec.Exp(logs[1+d])
		mustBePositive(shape)
	}
	return newStationary(k.family, vec.Exp(logs[0]), l, shape)
}

// squaredDistance is r^2.
func (k *stationary) squaredDistance(x, y []float64) float64 {
	s := 0.0
	for i, l := range k.lengthscale {
		t := (x[i] - y[i]) / l
		s += float64(t * t)
	}
	return s
}

// profile returns f(r) and s, where the derivative of f by r^2 is -s/2; so the
// derivative of f by x_i is -s*(x_i-y_i)/l_i^2.
func (k *stationary) profile(r2 float64) (f, s float64) {
	switch k.family {
	case gaussian:
		f = vec.Exp(-r2 / 2)
		return f, f
	case matern52:
		u := math.Sqrt(5 * r2)
		e := vec.Exp(-u)
		return (1 + u + u*u/3) * e, 5.0 / 3 * (1 + u) * e
	case matern32:
		u := math.Sqrt(3 * r2)
		e := vec.Exp(-u)
		return (1 + u) * e, 3 * e
	case exponential:
		u := math.Sqrt(r2)
		f = vec.Exp(-u)
		if u == 0 {
			return f, 0
		}
		return f, f / u
	case rationalQuadratic:
		l := math.Log1p(r2 / (2 * k.shape))
		return vec.Exp(-k.shape * l), vec.Exp((-k.shape - 1) * l)
	}
	panic("gpcore: unknown kernel family")
}

func (k *stationary) Cov(x, y []float64) float64 {
	f, _ := k.profile(k.squaredDistance(x, y))
	return k.variance * f
}

func (k *stationary) Gradient(dst, x, y []float64) {
	_, s := k.profile(k.squaredDistance(x, y))
	for i, l := range k.lengthscale {
		dst[i] = -k.variance * s * (x[i] - y[i]) / (l * l)
	}
}

func (k *stationary) ParamGradient(dst, x, y []float64) {
	r2 := k.squaredDistance(x, y)
	f, s := k.profile(r2)
	dst[0] = k.variance * f
	for i, l := range k.lengthscale {
		t := (x[i] - y[i]) / l
		dst[1+i] = k.variance * s * t * t
	}
	if k.family == rationalQuadratic {
		// d/d(log a) of exp(-a log(1+q)), q = r^2/(2a).
		a, q := k.shape, r2/(2*k.shape)
		dst[1+len(k.lengthscale)] = k.variance * f * a * (q/(1+q) - math.Log1p(q))
	}
}

// Lengthscales are those of a kernel of scaled distances, one per coordinate; ok is false
// for other kernels. They alias the kernel: read only.
func Lengthscales(k Kernel) (lengthscales []float64, ok bool) {
	if s, ok := k.(*stationary); ok {
		return s.lengthscale, true
	}
	return nil, false
}

// IsSquaredExponential reports whether k is a [SquaredExponential].
func IsSquaredExponential(k Kernel) bool {
	s, ok := k.(*stationary)
	return ok && s.family == gaussian
}
