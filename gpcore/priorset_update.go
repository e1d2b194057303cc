package gpcore

import (
	"math"
)

// each runs f on every prior that is left and stops at the first error.
func (s *PriorSet) each(f func(i int, g *GP, p Prior) error) error {
	for i, g := range s.members {
		if s.eliminated[i] {
			continue
		}
		if err := f(i, g, s.priors[i]); err != nil {
			return err
		}
	}
	return nil
}

// addEvidence adds the predictive density of the last observation of g, just put in, to
// the evidence: with b and W of its row, -b^2/2 + log W - log(2 pi)/2.
func (s *PriorSet) addEvidence(i int, g *GP) {
	n := g.m.Factor.N - 1
	b, w := g.m.Factor.B[n], g.m.Factor.W[n*g.m.Factor.Stride+n]
	s.evidence[i] += -0.5*b*b + math.Log(w) - 0.5*math.Log(2*math.Pi)
}

// Reading is an observation as one prior sees it: the target of its process (what was
// read less the prior's mean, in the process's unit) and the whole noise variance.
type Reading struct{ Target, NoiseVariance float64 }

// reading is the reading of prior p where nothing but its mean and its noise is its own.
func (p *Prior) reading(y, noiseVariance float64) Reading {
	return Reading{y - p.Mean, noiseVariance + p.NoiseVariance}
}

// Append adds an observation to every prior's process. Errors as [GP.Append].
func (s *PriorSet) Append(x []float64, y, noiseVariance float64) error {
	if err := s.lead().check(x, y, noiseVariance); err != nil {
		return err
	}
	return s.append(x, func(i int) Reading { return s.priors[i].reading(y, noiseVariance) })
}

// AppendEach is Append where each prior has its own reading (Size elements), for
// means that depend on x, units and noise variances that differ. What is scored is the
// density of the target. Errors as [GP.Append].
func (s *PriorSet) AppendEach(x []float64, each []Reading) error {
	s.mustHaveEach(each)
	return s.append(x, func(i int) Reading { return each[i] })
}

func (s *PriorSet) mustHaveEach(each []Reading) {
	if len(each) != len(s.priors) {
		panic("gpcore: each prior needs one reading")
	}
}

func (s *PriorSet) append(x []float64, reading func(i int) Reading) error {
	err := s.each(func(i int, g *GP, _ Prior) (err error) {
		if g.m.Factor.N == g.m.Points.Cap {
			return ErrFull
		}
		c, r := &s.pending[i], reading(i)
		c.e, c.s, err = g.prepareAppend(x, r.Target, r.NoiseVariance)
		return err
	})
	if err != nil {
		return err
	}
	return s.each(func(i int, g *GP, _ Prior) error {
		g.commitAppend(x, s.pending[i].e, s.pending[i].s)
		s.addEvidence(i, g)
		return nil
	})
}

// Replace replaces observation i in every prior's process. Errors as [GP.Replace].
func (s *PriorSet) Replace(i int, x []float64, y, noiseVariance float64) error {
	if err := s.lead().check(x, y, noiseVariance); err != nil {
		return err
	}
	return s.replace(i, x, func(m int) Reading { return s.priors[m].reading(y, noiseVariance) })
}

// ReplaceEach is Replace with readings as in AppendEach. Errors as [GP.Replace].
func (s *PriorSet) ReplaceEach(i int, x []float64, each []Reading) error {
	s.mustHaveEach(each)
	return s.replace(i, x, func(m int) Reading { return each[m] })
}

func (s *PriorSet) replace(i int, x []float64, reading func(m int) Reading) error {
	err := s.each(func(m int, g *GP, _ Prior) (err error) {
		if !g.hasIndex(i) {
			return ErrIndex
		}
		c, r := &s.pending[m], reading(m)
		if err := g.check(x, r.Target, r.NoiseVariance); err != nil {
			return err
		}
		c.e, c.s, err = g.m.PrepareReplace(i, x, r.Target, r.NoiseVariance)
		return err
	})
	if err != nil {
		return err
	}
	return s.each(func(m int, g *GP, _ Prior) error {
		g.commitReplace(i, x, s.pending[m].e, s.pending[m].s)
		s.addEvidence(m, g)
		return nil
	})
}

// Remove takes observation i out of every prior's process. It returns ErrIndex
// where there is no such observation.
func (s *PriorSet) Remove(i int) error {
	if !s.lead().hasIndex(i) {
		return ErrIndex
	}
	return s.each(func(_ int, g *GP, _ Prior) error { return g.Remove(i) })
}
