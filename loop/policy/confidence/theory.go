package confidence

import (
	"math"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/model"
)

// srinivas is GP-UCB's confidence parameter of Srinivas et al. (IEEE Trans. Inf. Theory
// 58 (2012) 3250, Theorems 1 and 2):
//
//	finite:     zeta_t = 2 log(|X| t^2 pi^2 / (6 delta))
//	continuous: zeta_t = 2 log(2 pi^2 t^2 / (3 delta))
//	                   + 2 d log(t^2 d b r sqrt(log(4 d a / delta)))
//
// with r = 1 for the unit cube and a, b of smoothness. The second term, the logarithm of
// the size of a grid, is taken as zero where it would be negative. Both hold for a
// function drawn from the prior that the model has; they say nothing about a prior that
// was fitted.
//
// With delta/(4|P|) in place of delta the finite form is 2 log(2 |X||P| pi^2 t^2/(3 delta)), with
// which PE-GP-TS and PE-GP-UCB have their guarantee over all priors P at once (Sandberg and
// Chehreghani, arXiv 2502.01226, Theorem 4.1): form "all-priors". Bounds of the expected regret
// (Russo and Van Roy, Math. Oper. Res. 39 (2014)) take 2 log(|X| t^2/sqrt(2 pi)): form "expected",
// which no delta enters.
type srinivas struct {
	counter
	dims   int
	finite int // |X|; 0: not finite
	delta  float64
	belief func() model.View
	*kernelReader
}

func (c srinivas) Beta(step int) float64 { return math.Sqrt(c.zeta(step)) }

func (c srinivas) zeta(step int) float64 {
	t, d := c.t(step), float64(c.dims)
	if c.finite > 0 {
		return max(2*math.Log(float64(c.finite)*t*t*math.Pi*math.Pi/(6*c.delta)), 0)
	}
	a, b := c.smoothness(c.belief())
	grid := t * t * d * b * math.Sqrt(math.Log(4*d*a/c.delta))
	return 2*math.Log(2*math.Pi*math.Pi*t*t/(3*c.delta)) + 2*d*max(math.Log(grid), 0)
}

// kernelReader reads hyperparameters, in memory that it keeps; nil: in new one.
type kernelReader struct {
	logs  []float64
	kinds []kernels.ParamKind
}

// smoothness are the constants a and b of P(sup |df/dx_j| > L) <= a exp(-(L/b)^2), for
// a function of prior variance one, which the papers leave to the reader. Here a = 1
// and b = sqrt(2)/l, with l the least lengthscale in force: then the bound is the tail
// of the derivative at one place, whose variance is 1/l^2 for a squared exponential. A
// period P counts as a lengthscale P/(2 pi); a kernel with neither, as the whole range.
func (r *kernelReader) smoothness(v model.View) (a, b float64) {
	if r == nil {
		r = &kernelReader{}
	}
	least := 1.0
	for _, c := range v {
		if c.GP == nil { // nothing was observed yet
			continue
		}
		k := c.GP.Kernel()
		r.logs, r.kinds = k.Params(r.logs[:0]), k.Kinds(r.kinds[:0])
		logs := r.logs
		for i, kind := range r.kinds {
			switch kind {
			case kernels.Lengthscale:
				least = min(least, math.Exp(logs[i]))
			case kernels.Period:
				least = min(least, math.Exp(logs[i])/(2*math.Pi))
			}
		}
	}
	return 1, math.Sqrt2 / least
}

// selfNormalised is the data-dependent parameter of RAHBO's Lemma 1 (Makarova et al.,
// NeurIPS 2021, after Kirschner and Krause, COLT 2018, Lemma 7) with lambda = 1:
//
//	beta_t = sqrt(2 log( det(S + K)^(1/2) / (delta det(S)^(1/2)) )) + B
//	       = sqrt(log det(I + S^-1 K) - 2 log delta) + B
//
// K is the kernel's matrix of the observations that the model holds, S the diagonal of
// the noise variances of their means as the model takes them, and B = Spec.NormBound
// bounds the objective's norm in the kernel's own space: a function of norm B is at most
// B prior standard deviations high. Nothing in the data bounds it, so it has to be
// given; 1 is taken where it is not. The bound of the noise variance has the parameter of
// its own process, with the same B. Where priors compete, the greatest of theirs counts.
type selfNormalised struct {
	delta, norm float64
	model       *model.Model
}

func (c selfNormalised) Beta(int) float64 {
	gain := 0.0
	for _, p := range c.model.Posterior() {
		gain = max(gain, p.GP.InformationGain())
	}
	return c.of(gain)
}

// NoiseBeta implements noiseConfidence.
func (c selfNormalised) NoiseBeta(step int) float64 {
	if c.model.Noise == nil {
		return c.Beta(step)
	}
	return c.of(c.model.Noise.GP.InformationGain())
}

// of is the parameter at an information gain in nats.
func (c selfNormalised) of(gain float64) float64 {
	return math.Sqrt(2*gain-2*math.Log(c.delta)) + c.norm
}
