package gpcore

import "math"

// weight is the share of a reading with this noise variance in the weighted mean
// with a value of noise variance held. Values without noise share evenly.
func weight(held, noise float64) float64 {
	if held+noise == 0 {
		return 0.5
	}
	return held / (held + noise)
}

// merged is the weighted mean of y_j and y, and its noise variance. With them in
// place of two observations at one setting, the posterior is the same.
func (g *GP) merged(j int, y, noise float64) (mean, variance float64) {
	share := weight(g.m.Factor.Noise[j], noise)
	return g.m.Factor.Y[j] + share*(y-g.m.Factor.Y[j]), share * noise
}

func (g *GP) lead() *GP            { return g }
func (g *GP) target(i int) float64 { return g.m.Factor.Y[i] }

func (g *GP) merge(j int, _ []float64, y, noise float64) error {
	mean, variance := g.merged(j, y, noise)
	n, err := g.m.PrepareNoise(j, variance)
	if err != nil {
		return err
	}
	g.commitNoise(n)
	g.m.Factor.SetTarget(j, mean)
	return nil
}

func (g *GP) join(j int, at []float64, r reading) error {
	mean, variance := g.merged(j, r.y, r.noise)
	return g.Replace(j, at, mean, variance)
}

func (s *PriorSet) target(i int) float64 {
	b := s.Best()
	return s.members[b].m.Factor.Y[i] + s.priors[b].Mean
}

// learn adds the predictive density of a reading to the evidence. It must come
// before the reading is merged.
func (s *PriorSet) learn(r reading) {
	var m, v [1]float64
	_ = s.each(func(i int, g *GP, p Prior) error {
		g.Predict(m[:], v[:], r.x)
		d, t := r.y-p.Mean-m[0], v[0]+r.noise+p.NoiseVariance
		// Without any noise a repeated reading is certain: no news.
		if t == 0 {
			return nil
		}
		s.evidence[i] -= 0.5*d*d/t + 0.5*math.Log(2*math.Pi*t)
		return nil
	})
}

func (s *PriorSet) merge(j int, x []float64, y, noise float64) error {
	err := s.each(func(i int, g *GP, p Prior) (err error) {
		_, variance := g.merged(j, y-p.Mean, noise+p.NoiseVariance)
		s.pending[i].n, err = g.m.PrepareNoise(j, variance)
		return err
	})
	if err != nil {
		return err
	}
	s.learn(reading{x, y, noise})
	return s.each(func(i int, g *GP, p Prior) error {
		mean, _ := g.merged(j, y-p.Mean, noise+p.NoiseVariance)
		g.commitNoise(s.pending[i].n)
		g.m.Factor.SetTarget(j, mean)
		return nil
	})
}

func (s *PriorSet) join(j int, at []float64, r reading) error {
	err := s.each(func(i int, g *GP, p Prior) (err error) {
		mean, variance := g.merged(j, r.y-p.Mean, r.noise+p.NoiseVariance)
		c := &s.pending[i]
		c.e, c.s, err = g.m.PrepareReplace(j, at, mean, variance)
		return err
	})
	if err != nil {
		return err
	}
	s.learn(r)
	return s.each(func(i int, g *GP, _ Prior) error {
		g.commitReplace(j, at, s.pending[i].e, s.pending[i].s)
		return nil
	})
}
