package confidence

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// irgp is IRGP-UCB's randomised confidence, a shifted exponential (Takeno et al.,
// arXiv 2409.00979):
//
//	zeta_t = s_t + Z,  Z exponential with rate 1/2 (mean 2)
//
//	finite:     s   = 2 log(|X|/2)                      (their theorem for finite X)
//	high-probability: s_t = 2 log(|X| t^2 pi^2/(12 delta))   (their Theorem 4.5: conditional
//	                  expected regret, with probability 1 - delta; finite X)
//	continuous: s   = d/2                               (their experiments, section 5)
//	wide:       s   = 2 d                               (ours)
//	theory:     s_t = 2 d log(b d r t^2 (sqrt(log(a d)) + sqrt(pi)/2)) - 2 log 2
//
// "wide" is the theory's leading term with one in place of its logarithm. It is what
// the risk-averse kinds take: on Branin's function they found the quiet one of its three
// optima in 97.5 % of the runs with it and in 95 % with d/2, because a process fitted to
// data that gather at another optimum is too sure of what it has not seen.
//
// A shift below zero (one or two settings, t = 1 on a long lengthscale) is taken as
// zero. Of the theory's constants, the inputs' unit cube gives r = 1; a and b, which
// the paper leaves to the reader, are smoothness's.
type irgp struct {
	*num.Generator
	*kernelReader
	counter
	dims   int
	finite int    // |X|; 0: not finite
	form   string // SettingTheory, SettingWide, SettingHighProbability, or the experiments'
	delta  float64
	seed   uint64
	belief func() model.View
	// noise multiplies the standard deviation in the bound of the noise variance.
	noise float64
}

func (c irgp) Beta(step int) float64 {
	return math.Sqrt(c.shift(step) + 2*c.Stream(c.seed, num.ForConfidence, step).ExpFloat64())
}

// NoiseBeta is constant: the draw is there to explore the objective. With a draw for both
// bounds, RAHBO paid a third more on the sine, at settings whose noise it took for small.
func (c irgp) NoiseBeta(int) float64 { return c.noise }

func (c irgp) shift(step int) float64 {
	d, t := float64(c.dims), c.t(step)
	switch {
	case c.finite > 0 && c.form == SettingHighProbability:
		return max(2*math.Log(float64(c.finite)*t*t*math.Pi*math.Pi/(12*c.delta)), 0)
	case c.finite > 0:
		return max(2*math.Log(float64(c.finite)/2), 0)
	case c.form == SettingWide:
		return 2 * d
	case c.form == SettingTheory:
		a, b := c.smoothness(c.belief())
		inner := b * d * t * t * (math.Sqrt(max(math.Log(a*d), 0)) + math.Sqrt(math.Pi)/2)
		return max(2*d*math.Log(inner)-2*math.Ln2, 0)
	}
	return d / 2
}

// rgp is RGP-UCB's randomised confidence as Takeno et al. compare with it (arXiv
// 2409.00979, section 5; the policy is Berk et al.'s, IJCAI 2020, whose published code
// swaps shape and scale):
//
//	zeta_t from Gamma(shape kappa_t, scale 1)
//
//	finite:     kappa_t = log(|X| t^2)/log(1.5)
//	continuous: kappa_t = 0.2 d log(2t)
type rgp struct {
	*num.Generator
	heuristic
	finite int // |X|; 0: not finite
	seed   uint64
}

func (c rgp) Beta(step int) float64 {
	shape := c.shape(step)
	if shape <= 0 { // one setting, t = 1: the distribution is a point mass at zero
		return 0
	}
	g := distuv.Gamma{Alpha: shape, Beta: 1, Src: c.Stream(c.seed, num.ForConfidence, step)}
	return math.Sqrt(g.Rand())
}

func (c rgp) shape(step int) float64 {
	if c.finite > 0 {
		t := c.t(step)
		return math.Log(float64(c.finite)*t*t) / math.Log(1.5)
	}
	return c.zeta(step)
}
