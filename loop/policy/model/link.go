package model

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// link ties the Gaussian process of the noise to the variance of one shot: on
// which scale the process lives, and what a bound of the process says about the
// variance. Variances are in squared units of the standardised objective.
type link interface {
	// target is what the process is to learn from a sample variance of so many
	// shots, and the sampling variance of that target (0: unknown, it is fitted).
	target(sampleVariance float64, shots int) (y, noiseVariance float64)
	// variance is the variance of one shot where the process takes the value v,
	// and its derivative by v. It is never negative.
	variance(v float64) (value, slope float64)
	// variances replaces values of the process by the variances of one shot there.
	variances(v []float64)
}

// logLink models log s^2. With s^2 the unbiased variance of k normal shots,
// (k-1) s^2/variance has a chi-squared distribution, so
//
//	log s^2 - [psi((k-1)/2) - log((k-1)/2)]
//
// is an unbiased observation of log variance, and its own variance is
// trigamma((k-1)/2) whatever the variance is: homoscedastic and known exactly.
// Bounds exp(mu -+ beta sd) are positive by themselves.
type logLink struct {
	// floor stands in for sample variances of zero, whose logarithm is -Inf.
	floor float64
}

func (l logLink) target(s2 float64, shots int) (y, noiseVariance float64) {
	m := logMomentsOf(shots)
	return math.Log(max(s2, l.floor)) - m.bias, m.variance
}

// logMoments are the bias and the variance of the logarithm of a sample variance.
type logMoments struct{ bias, variance float64 }

// fewMoments are those of up to 64 shots, which a fit asks for at every row.
var fewMoments = sync.OnceValue(func() []logMoments {
	out := make([]logMoments, 65)
	for shots := 2; shots < len(out); shots++ {
		out[shots] = computeLogMoments(shots)
	}
	return out
})

// logMomentsOf are those of so many shots.
func logMomentsOf(shots int) logMoments {
	if few := fewMoments(); shots >= 2 && shots < len(few) {
		return few[shots]
	}
	return computeLogMoments(shots)
}

func computeLogMoments(shots int) logMoments {
	half := float64(shots-1) / 2
	return logMoments{mathext.Digamma(half) - math.Log(half), trigamma(half)}
}

func (l logLink) variance(v float64) (value, slope float64) {
	e := math.Exp(v)
	return e, e
}

func (l logLink) variances(v []float64) {
	for i, x := range v {
		v[i] = math.Exp(x)
	}
}

// rawLink models s^2 itself, as the paper does (Makarova et al., NeurIPS 2021,
// section 4.2); its sampling noise is taken as constant and fitted. The process is
// standardised: s^2 = center + scale*v. A bound below zero is cut to zero, because
// a variance cannot be less and a setting must not earn a bonus for it; where it is free,
// as in the paper, it is not.
type rawLink struct {
	center, scale float64
	free          bool
}

func (l rawLink) target(s2 float64, _ int) (y, noiseVariance float64) {
	return (s2 - l.center) / l.scale, 0
}

func (l rawLink) variance(v float64) (value, slope float64) {
	if s2 := l.center + l.scale*v; s2 > 0 || l.free {
		return s2, l.scale
	}
	return 0, 0
}

func (l rawLink) variances(v []float64) {
	for i, x := range v {
		v[i], _ = l.variance(x)
	}
}

// trigamma is the second derivative of the logarithm of the gamma function; it
// equals Hurwitz's zeta function zeta(2, x).
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }
