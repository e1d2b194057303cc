package warp

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// exponents that compete: none, root and logarithm, for values that bunch near zero.
var exponents = []float64{1, 0.5, 0}

// asked is by how many times the evidence of a transformation must exceed that of none: "decisive" by
// Jeffreys (Theory of Probability, 1961), since a transformation that is wrong costs more than one that is
// missing.
const asked = 100

// mostReadings bounds the work: the newest count.
const mostReadings = 256

// Choose is the transformation that readings y at settings x ask for, row after row of so many unit coordinates. The
// evidence of an exponent is
//
//	p(y) = sum over models of p(z(y)) times the product of dz/dy,
//
// where a model is a Matern 5/2 process with one of a few lengthscales and noises; its mean is that of the
// readings, its variance the likeliest. It is none where readings have both signs or are few.
func Choose(x, y []float64, dims int) (Power, error) {
	if n := len(y); n > mostReadings {
		x, y = x[(n-mostReadings)*dims:], y[n-mostReadings:]
	}
	reference, ok := middle(y)
	if !ok {
		return None(), nil
	}
	evidence := make([]float64, len(exponents))
	for i := range evidence {
		evidence[i] = math.Inf(-1)
	}
	for _, length := range []float64{0.1, 0.2, 0.4, 0.8} {
		for _, noise := range []float64{1e-4, 1e-2, 0.1, 1} {
			if err := addEvidence(evidence, hypothesis{length, noise, dims}, x, y, reference); err != nil {
				return None(), err
			}
		}
	}
	best := 0
	for i := range exponents {
		if evidence[i] > evidence[best] {
			best = i
		}
	}
	if !(evidence[best]-evidence[0] > math.Log(asked)) {
		return None(), nil
	}
	return Power{Exponent: exponents[best], Reference: reference}, nil
}

// middle is the geometric mean of values of one sign; ok is false where they are not, or fewer than three.
func middle(y []float64) (reference float64, ok bool) {
	if len(y) < 3 {
		return 0, false
	}
	sum := 0.0
	for _, v := range y {
		if !(v/y[0] > 0) {
			return 0, false
		}
		sum += math.Log(math.Abs(v))
	}
	reference = math.Copysign(math.Exp(sum/float64(len(y))), y[0])
	return reference, reference != 0 && !math.IsInf(reference, 0)
}

// hypothesis is a model: the noise variance is relative to the process's.
type hypothesis struct {
	length, noise float64
	dims          int
}

// addEvidence adds the likelihood of one model to that of each exponent, in logarithms. With Q = z' K^-1 z of
// centred values z, the likelihood is greatest at the variance Q/n: -n/2 log(Q/n) - log|K|/2, but for what all share.
func addEvidence(evidence []float64, h hypothesis, x, y []float64, reference float64) error {
	n := len(y)
	lengths := make([]float64, h.dims)
	for i := range lengths {
		lengths[i] = h.length * math.Sqrt(float64(h.dims))
	}
	noises, z := make([]float64, n), make([]float64, n)
	for i := range noises {
		noises[i] = h.noise
	}
	g := gpcore.New(kernels.Matern52(1, lengths), n)
	if err := g.Load(x, z, noises); err != nil {
		return fmt.Errorf("evidence of the objective's power: %w", err)
	}
	alone := g.LogLikelihood() // of zeros: -log|K|/2, and what all share
	for i, exponent := range exponents {
		p, mean, jacobian := Power{exponent, 1}, 0.0, 0.0
		for k, v := range y {
			value, slope := p.Of(v / reference)
			z[k], mean, jacobian = value, mean+value/float64(n), jacobian+math.Log(slope)
		}
		for k := range z {
			z[k] -= mean
		}
		if err := g.SetTargets(z); err != nil {
			return fmt.Errorf("evidence of the objective's power: %w", err)
		}
		q := 2 * (alone - g.LogLikelihood())
		if !(q > 0) { // all readings are equal
			continue
		}
		value := alone - float64(n)/2*math.Log(q/float64(n)) + jacobian
		top := max(evidence[i], value)
		evidence[i] = top + math.Log(math.Exp(evidence[i]-top)+math.Exp(value-top))
	}
	return nil
}
