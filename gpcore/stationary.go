package gpcore

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// family is the radial profile f of a stationary kernel variance*f(r).
type family int

const (
	gaussian family = iota
	matern52
)

// stationary is a kernel of the scaled distance
// r^2 = sum over i of ((x_i - y_i)/lengthscale_i)^2.
type stationary struct {
	family      family
	variance    float64
	lengthscale []float64
}

// SquaredExponential is variance * exp(-r^2/2), with
// r^2 = sum over i of ((x_i-y_i)/lengthscales[i])^2; one lengthscale per
// coordinate (ARD). The function it describes is infinitely smooth. It panics
// unless all arguments are positive and finite. Rasmussen & Williams (2006), eq. 4.9.
func SquaredExponential(variance float64, lengthscales []float64) Kernel {
	return newStationary(gaussian, variance, lengthscales)
}

// Matern52 is variance * (1 + u + u^2/3) exp(-u), u = sqrt(5) r, with r as in
// [SquaredExponential]. The function it describes is twice differentiable.
// Rasmussen & Williams (2006), eq. 4.17.
func Matern52(variance float64, lengthscales []float64) Kernel {
	return newStationary(matern52, variance, lengthscales)
}

func newStationary(f family, variance float64, lengthscales []float64) Kernel {
	if len(lengthscales) == 0 {
		panic("gpcore: a kernel needs at least one lengthscale")
	}
	mustBePositive(variance)
	for _, l := range lengthscales {
		mustBePositive(l)
	}
	return &stationary{f, variance, append([]float64(nil), lengthscales...)}
}

func mustBePositive(v float64) {
	if !(v > 0) || math.IsInf(v, 1) {
		panic("gpcore: a hyperparameter must be positive and finite")
	}
}

func (k *stationary) Dim() int                   { return len(k.lengthscale) }
func (k *stationary) Variance([]float64) float64 { return k.variance }
func (k *stationary) NumParams() int             { return 1 + len(k.lengthscale) }

func (k *stationary) Params(dst []float64) []float64 {
	dst = append(dst, math.Log(k.variance))
	for _, l := range k.lengthscale {
		dst = append(dst, math.Log(l))
	}
	return dst
}

func (k *stationary) Kinds(dst []ParamKind) []ParamKind {
	dst = append(dst, OutputVariance)
	for range k.lengthscale {
		dst = append(dst, Lengthscale)
	}
	return dst
}

func (k *stationary) WithParams(logs []float64) Kernel {
	if len(logs) != k.NumParams() {
		panic("gpcore: WithParams needs one value per hyperparameter")
	}
	l := make([]float64, len(k.lengthscale))
	for i := range l {
		l[i] = math.Exp(logs[1+i])
	}
	return newStationary(k.family, math.Exp(logs[0]), l)
}

// squared is r^2.
func (k *stationary) squared(x, y []float64) float64 {
	s := 0.0
	for i, l := range k.lengthscale {
		t := (x[i] - y[i]) / l
		s += float64(t * t)
	}
	return s
}

// profile returns f(r) and its slope s, the derivative by r^2 times -2, so that
// the derivative of f by x_i is -s*(x_i-y_i)/l_i^2.
func (k *stationary) profile(r2 float64) (f, s float64) {
	switch k.family {
	case gaussian:
		f = vec.Exp(-r2 / 2)
		return f, f
	case matern52:
		u := math.Sqrt(5 * r2)
		e := vec.Exp(-u)
		return (1 + u + u*u/3) * e, 5.0 / 3 * (1 + u) * e
	}
	panic("gpcore: unknown kernel family")
}

func (k *stationary) Cov(x, y []float64) float64 {
	f, _ := k.profile(k.squared(x, y))
	return k.variance * f
}

func (k *stationary) Gradient(dst, x, y []float64) {
	_, s := k.profile(k.squared(x, y))
	for i, l := range k.lengthscale {
		dst[i] = -k.variance * s * (x[i] - y[i]) / (l * l)
	}
}

func (k *stationary) ParamGradient(dst, x, y []float64) {
	f, s := k.profile(k.squared(x, y))
	dst[0] = k.variance * f
	for i, l := range k.lengthscale {
		t := (x[i] - y[i]) / l
		dst[1+i] = k.variance * s * t * t
	}
}
