package confidence

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// Parameter is the confidence parameter: what multiplies the posterior standard
// deviation in the bounds of one step's acquisition. Papers write it in two ways, as
// mu + beta*sd (Makarova, Tay, Kirschner) and as mu + sqrt(beta)*sd (Srinivas, Takeno,
// Sandberg, Paria); here beta always multiplies the standard deviation, and what is
// under the root is called zeta.
//
// One draw serves a step: a randomised parameter is a function of the seed and the
// step, so it is the same for all control sets.
type Parameter interface {
	Beta(step int) float64
}

// noiseConfidence is a confidence parameter that is another for the process of the
// noise.
type noiseConfidence interface{ NoiseBeta(step int) float64 }

// NoiseBeta is the parameter of the noise variance's bound: the objective's, unless the
// rule has one of its own.
func NoiseBeta(c Parameter, step int) float64 {
	if n, ok := c.(noiseConfidence); ok {
		return n.NoiseBeta(step)
	}
	return c.Beta(step)
}

// Words of Spec.Confidence and Spec.ConfidenceSetting.
const (
	Constant  = "constant"
	Srinivas  = "srinivas"
	Data      = "data"
	RGP       = "rgp"
	IRGP      = "irgp"
	Heuristic = "heuristic"

	SettingFinite          = "finite"
	SettingContinuous      = "continuous"
	SettingTheory          = "theory"
	SettingWide            = "wide"
	SettingHighProbability = "high-probability"
	SettingAllPriors       = "all-priors"
	SettingExpected        = "expected"
)

// Names lists the words of Spec.Confidence. With t the number of decisions after
// the initial design, d the number of variables, |X| the number of settings and delta
// Spec.Delta, beta is the root of zeta:
//
//	"constant"  beta = Spec.Beta
//	"heuristic" zeta = 0.2 d log(2t)
//	"irgp"      finite: zeta = 2 log(|X|/2) + Z; continuous: d/2 + Z; wide: 2 d + Z;
//	            theory: s_t + Z; high-probability: 2 log(|X| t^2 pi^2/(12 delta)) + Z;
//	            Z exponential with mean 2 (see irgp)
//	"rgp"       zeta from Gamma(shape, scale 1), finite: shape log(|X| t^2)/log 1.5;
//	            continuous: 0.2 d log(2t) (see rgp)
//	"srinivas"  finite: zeta = 2 log(|X| t^2 pi^2/(6 delta)); all-priors:
//	            2 log(2 |X||P| t^2 pi^2/(3 delta)); expected: 2 log(|X| t^2/sqrt(2 pi));
//	            continuous: see srinivas
//	"data"      beta = sqrt(log det(I + S^-1 K) - 2 log delta) + Spec.NormBound (see
//	            selfNormalised)
func Names() []string {
	return []string{Constant, Heuristic, IRGP, RGP, Srinivas, Data}
}

// constant is the same in every step (Makarova et al., NeurIPS 2021, take 2; Tay et
// al., NeurIPS 2023, too).
type constant float64

func (c constant) Beta(int) float64 { return float64(c) }

// counter turns steps into the t of the papers: decisions after the initial design,
// from 1.
type counter struct{ initial int }

func (c counter) t(step int) float64 { return float64(max(step-c.initial, 1)) }

// heuristic is zeta_t = 0.2 d log(2t), with which GP-UCB is usually compared
// (Kandasamy et al., ICML 2015; Takeno et al., arXiv 2409.00979, section 5).
type heuristic struct {
	counter
	dims int
}

func (c heuristic) Beta(step int) float64 { return math.Sqrt(c.zeta(step)) }

func (c heuristic) zeta(step int) float64 { return 0.2 * float64(c.dims) * math.Log(2*c.t(step)) }

// Spec describes a confidence parameter.
type Spec struct {
	Name, Form string // of Spec.Confidence and Spec.ConfidenceSetting
	Initial    int    // steps of the initial design
	Dims       int
	Finite     int // the number of settings where that counts, else 0
	Priors     int // the number of priors that compete, |P| of form "all-priors"
	Seed       uint64
	// Beta is the constant, Delta the probability of failure, Norm the bound of the
	// objective's norm.
	Beta, Delta, Norm float64
}

// Count is the t of the papers at a step.
func (s Spec) Count(step int) float64 { return counter{s.Initial}.t(step) }

// New makes the confidence parameter; m is the model whose bounds it is for.
func New(s Spec, m *model.Model) Parameter {
	count := counter{s.Initial}
	switch s.Name {
	case Heuristic:
		return heuristic{count, s.Dims}
	case IRGP:
		return irgp{Generator: new(num.Generator), kernelReader: &kernelReader{}, counter: count, dims: s.Dims, finite: s.Finite, form: s.Form, delta: s.Delta, seed: s.Seed, belief: m.Posterior, noise: s.Beta}
	case RGP:
		return rgp{Generator: new(num.Generator), heuristic: heuristic{count, s.Dims}, finite: s.Finite, seed: s.Seed}
	case Srinivas:
		c := srinivas{kernelReader: &kernelReader{}, counter: count, dims: s.Dims, finite: s.Finite, delta: s.Delta, belief: m.Posterior}
		switch s.Form {
		case SettingAllPriors:
			c.delta /= 4 * float64(max(s.Priors, 1))
		case SettingExpected:
			c.delta = math.Pi * math.Pi * math.Sqrt(2*math.Pi) / 6
		}
		return c
	case Data:
		return selfNormalised{delta: s.Delta, norm: s.Norm, model: m}
	}
	return constant(s.Beta)
}
