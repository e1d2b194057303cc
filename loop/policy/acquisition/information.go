package acquisition

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// truncation says what an observation reveals about a maximum: how far the maximum lies above
// the mean of f at the setting of interest, gamma standard deviations of f, and the
// correlation rho of f with the observation; leak is sqrt(1 - rho^2).
type truncation struct{ gamma, rho, residual float64 }

// information is what an observation y, normal with correlation rho to a normal f, tells
// of the event that f lies below a bound gamma standard deviations above its mean, in
// nats: the entropy of y less that of y given f <= bound,
//
//	I = rho^2 gamma h/2 - log Phi(gamma) + E[log Phi(u)],   h = phi(gamma)/Phi(gamma),
//	u = (gamma - rho y)/sqrt(1 - rho^2),   y of density phi(y) Phi(u)/Phi(gamma).
//
// For rho = 1 the expectation vanishes and max-value entropy search's closed form is
// left (Wang and Jegelka, ICML 2017, eq. 6); else it is a one-dimensional integral
// (Takeno et al., ICML 2020, eq. 8), here by the trapezium rule, whose error for such
// smooth integrands is below 1e-12. byGamma is the derivative by gamma, byRho that by the
// logarithm of f's standard deviation at constant noise, over rho,
//
//	leak^2 dI/drho - leak rho dI/dleak,
//
// which stays finite where rho is 1.
//
// A bound below farBelow counts as there.
func (c truncation) information() (value, byGamma, byRho float64) {
	if c.gamma < farBelow {
		c.gamma = farBelow
		value, _, byRho = c.information()
		return value, 0, byRho
	}
	logBelow := logNormalCDF(c.gamma)
	h := math.Exp(-0.5*c.gamma*c.gamma - logRoot2Pi - logBelow)
	slope := -h * (c.gamma + h)
	value = 0.5*c.rho*c.rho*c.gamma*h - logBelow
	byGamma = 0.5*c.rho*c.rho*(h+c.gamma*slope) - h
	byRho = c.residual * c.residual * c.rho * c.gamma * h
	var e, eGamma, eRho float64
	switch {
	case c.residual == 0:
	case c.rho >= c.residual:
		e, eGamma, eRho = c.integrateOverBound(logBelow)
	default:
		e, eGamma, eRho = c.integrateOverReading(logBelow)
	}
	value += e
	byGamma += eGamma - h*e
	return max(value, 0), byGamma, byRho + eRho
}

// The trapezium rule's step and reach, in standard deviations.
const (
	informationStep  = 0.5
	informationReach = 8
)

// farBelow is the standardised bound from which on it tells nearly all that noise lets through: up to here the integrals
// take a hundred steps, and 1/Phi is a number.
const farBelow = -30

// logRoot2Pi is log sqrt(2 pi).
const logRoot2Pi = 0.9189385332046727

// integrateOverBound is the expectation as an integral over u, for which all but one normal
// density is the same for every channel. The derivative by gamma leaves out that of
// 1/Phi(gamma).
func (c truncation) integrateOverBound(logBelow float64) (e, byGamma, byRho float64) {
	scale := informationStep * c.residual / c.rho
	last := int(informationReach / informationStep)
	for k := int(math.Floor((min(0, c.gamma*c.residual) - informationReach) / informationStep)); k <= last; k++ {
		u := informationStep * float64(k)
		logU := logBelowStep(k)
		a := (c.gamma - c.residual*u) / c.rho
		p := scale * logU * math.Exp(logU-0.5*a*a-logRoot2Pi-logBelow)
		e += p
		byGamma -= p * a / c.rho
		// Along rho, times leak^2: leak/rho falls by leak/rho^2, and a changes by leak u - a leak^2/rho.
		byRho -= p * (1/(c.rho) + a*(c.residual*u-a*c.residual*c.residual/c.rho))
	}
	return e, byGamma, byRho
}

// integrateOverReading is the same as an integral over y.
func (c truncation) integrateOverReading(logBelow float64) (e, byGamma, byRho float64) {
	last := int(informationReach / informationStep)
	for k := int(math.Floor((min(0, c.gamma*c.rho) - informationReach) / informationStep)); k <= last; k++ {
		y := informationStep * float64(k)
		u := (c.gamma - c.rho*y) / c.residual
		logU := logNormalCDF(u)
		p := informationStep * math.Exp(-0.5*y*y-logRoot2Pi-logBelow)
		e += p * logU * math.Exp(logU)
		slope := p * math.Exp(-0.5*u*u-logRoot2Pi) * (logU + 1)
		byGamma += slope / c.residual
		byRho += slope * (u*c.rho - c.residual*y)
	}
	return e, byGamma, byRho
}

// logBelowSteps are the logarithms of the distribution function at most of the points where
// integrateOverBound wants them: from -stepsBelow steps on.
var logBelowSteps = func() (out [stepsBelow + informationReach/informationStep + 1]float64) {
	for i := range out {
		out[i] = logNormalCDF(informationStep * float64(i-stepsBelow))
	}
	return out
}()

const stepsBelow = 64

// logBelowStep is logNormalCDF at k steps.
func logBelowStep(k int) float64 {
	if k < -stepsBelow {
		return logNormalCDF(informationStep * float64(k))
	}
	return logBelowSteps[k+stepsBelow]
}

// logNormalCDF is the logarithm of the standard normal distribution function, by its
// asymptotic series where the function itself underflows.
func logNormalCDF(z float64) float64 {
	if z > -10 {
		return math.Log(num.NormalCDF(z))
	}
	q := 1 / (z * z)
	return -0.5*z*z - logRoot2Pi - math.Log(-z) + math.Log1p(-q*(1-q*(3-q*(15-105*q))))
}

// MaximumInformation is the information that a reading of f with noise of the given variance
// holds about a bound on f, with its derivatives by mean and standard deviation of f.
func MaximumInformation(mean, sd, bound, noise float64) (value, byMean, bySD float64) {
	total := sd*sd + noise
	root := math.Sqrt(total)
	c := truncation{(bound - mean) / sd, sd / root, math.Sqrt(noise / total)}
	value, byGamma, byRho := c.information()
	// With sd, rho grows by leak^2/root and leak falls by leak rho/root.
	return value, -byGamma / sd, -c.gamma*byGamma/sd + byRho/root
}
