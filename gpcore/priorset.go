package gpcore

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Prior is one hypothesis about the function: a kernel with its hyperparameters, a
// constant mean and a noise variance that is added to each observation's own.
type Prior struct {
	Kernel        kernels.Kernel
	Mean          float64
	NoiseVariance float64
	Weight        float64 // prior probability, up to a common factor; 0 counts as 1
}

// PriorSet is a set of processes with different priors and the same observations.
// Their probabilities given the data follow from the predictions they made of each
// reading as it came (the hyperposterior of Sandberg & Chehreghani):
//
//	P(p | y_1..y_t) ~ N(y_t; mean_p(x_t), variance_p(x_t) + noise) P(p | y_1..y_(t-1)).
//
// Nothing is ever refitted, so no step is slow: a change costs O(n^2) for each
// prior. An observation that is removed keeps its share in the probabilities. A
// method that returns an error has changed nothing.
type PriorSet struct {
	priors     []Prior
	members    []*GP
	logPrior   []float64 // log weights
	evidence   []float64 // log predictive density of all readings so far
	eliminated []bool
	pending    []pending // prepared changes
	scratch    []float64 // of Draw
}

// pending is a prepared change of one member.
type pending struct {
	e factor.Entry
	s float64
}

// ErrLastPrior says that the only prior left cannot be eliminated.
var ErrLastPrior = errors.New("gpcore: the last prior of a set cannot be eliminated")

// NewPriorSet makes a set of processes without observations. It panics unless
// there are priors, their kernels have one dimension, weights and noise variances
// are not negative and all numbers are finite, and capacity is positive.
func NewPriorSet(priors []Prior, capacity int) *PriorSet {
	if len(priors) == 0 {
		panic("gpcore: a prior set needs at least one prior")
	}
	s := &PriorSet{
		priors: append([]Prior(nil), priors...), evidence: make([]float64, len(priors)),
		eliminated: make([]bool, len(priors)), pending: make([]pending, len(priors)), scratch: make([]float64, len(priors)),
	}
	for i, p := range priors {
		if p.Kernel.Dim() != priors[0].Kernel.Dim() {
			panic("gpcore: the kernels of a prior set must have one dimension")
		}
		if !check.IsFinite(p.Mean) || check.Noise(0, p.NoiseVariance) != nil || check.Noise(0, p.Weight) != nil {
			panic("gpcore: a prior's mean, noise variance and weight must be finite, the latter two not negative")
		}
		if p.Weight == 0 {
			s.priors[i].Weight = 1
		}
		s.logPrior = append(s.logPrior, math.Log(s.priors[i].Weight))
		s.members = append(s.members, New(p.Kernel, capacity))
	}
	return s
}

// Size is the number of priors, eliminated ones included.
func (s *PriorSet) Size() int { return len(s.priors) }

// Len is the number of observations held.
func (s *PriorSet) Len() int { return s.lead().Len() }

// Prior is prior i.
func (s *PriorSet) Prior(i int) Prior { return s.priors[i] }

// Member is the process of prior i, whose targets are y minus the prior's mean and
// whose noise variances include the prior's. Its targets and noise variances may be
// changed; the evidence then stays what it was. After Eliminate it no longer follows
// the data.
func (s *PriorSet) Member(i int) *GP { return s.members[i] }

// Alive reports whether prior i has not been eliminated.
func (s *PriorSet) Alive(i int) bool { return !s.eliminated[i] }

// Eliminate takes prior i out for good: its probability is zero and it is no longer
// updated. It returns ErrLastPrior where no other is left.
func (s *PriorSet) Eliminate(i int) error {
	if s.eliminated[i] {
		return nil
	}
	for j, out := range s.eliminated {
		if j != i && !out {
			s.eliminated[i] = true
			return nil
		}
	}
	return ErrLastPrior
}

// lead is the process of the most probable prior.
func (s *PriorSet) lead() *GP { return s.members[s.Best()] }

// Best is the most probable prior given the data; the first of equals.
func (s *PriorSet) Best() int {
	best, at := math.Inf(-1), -1
	for i := range s.priors {
		if w := s.logPrior[i] + s.evidence[i]; !s.eliminated[i] && (at < 0 || w > best) {
			best, at = w, i
		}
	}
	return at
}

// LogEvidence is the log predictive density of all readings so far under prior i.
// While nothing has been removed or merged it is the log marginal likelihood.
func (s *PriorSet) LogEvidence(i int) float64 { return s.evidence[i] }

// SetLogEvidence replaces the evidence of prior i, for callers who change its process
// by more than the data (a mean or a noise that is estimated) and judge it by what it
// holds. It panics unless v is finite.
func (s *PriorSet) SetLogEvidence(i int, v float64) {
	if !check.IsFinite(v) {
		panic("gpcore: a log evidence must be finite")
	}
	s.evidence[i] = v
}

// Probabilities sets dst[i] to the probability of prior i given the data; dst has
// Size elements.
func (s *PriorSet) Probabilities(dst []float64) {
	if len(dst) != len(s.priors) {
		panic("gpcore: Probabilities needs one element per prior")
	}
	b := s.Best()
	top := s.logPrior[b] + s.evidence[b]
	sum := 0.0
	for i := range s.priors {
		dst[i] = 0
		if !s.eliminated[i] {
			dst[i] = vec.Exp(s.logPrior[i] + s.evidence[i] - top)
		}
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// Draw is a prior drawn with its probability.
func (s *PriorSet) Draw(rng *rand.Rand) int {
	s.Probabilities(s.scratch)
	u, last := rng.Float64(), 0
	for i, v := range s.scratch {
		if s.eliminated[i] {
			continue
		}
		if last = i; u < v {
			break
		}
		u -= v
	}
	return last
}

// Predict is the prediction of prior i, its mean included (see [GP.Predict]).
func (s *PriorSet) Predict(i int, mean, variance, x []float64) {
	s.members[i].Predict(mean, variance, x)
	for j := range mean {
		mean[j] += s.priors[i].Mean
	}
}
