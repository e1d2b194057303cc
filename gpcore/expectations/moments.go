package expectations

// Moments are expectations of a process: of its posterior mean, of its standard deviation and of the
// square of the mean. Square is zero where nothing is random.
type Moments struct{ Mean, SD, Square []float64 }

// moments has the sums of which Moments are made: E[mu - sigma], -E[sigma] and E[mu^2]. Negative
// coefficients of a standard deviation have no Jensen bound, which takes O(n^3) to prepare.
func (t Term) moments() [3]Term {
	square := func(mu, _ float64) (value, byMu, bySigma float64) { return mu * mu, 2 * mu, 0 }
	return [3]Term{
		{Process: t.Process, Mean: 1, SD: -1, Offset: t.Offset}, {Process: t.Process, SD: -1},
		{Process: t.Process, Offset: t.Offset, Of: square},
	}
}

// Moments sets out to those of the process of t, with its offset, at the rows of x, a value each.
func (c *Cache) Moments(out Moments, t Term, in Inputs, x []float64) error {
	if in.Random == nil && in.Nodes == nil {
		t.momentsAt(out, x)
		clear(out.Square)
		return nil
	}
	if c == nil {
		c = &Cache{}
	}
	c.sums = t.moments()
	e, err := c.once(c.sums[:1], in)
	if err != nil {
		return err
	}
	e.Prepare()
	// The others differ in their terms alone: the closed form that the first one may have is of the
	// mean, which they do not add.
	for k, dst := range [...][]float64{out.Mean, out.SD, out.Square} {
		s := &c.parts[k]
		*s = *e.controlSet
		s.terms = c.sums[k : k+1]
		e.s.output(k, s, dst, nil)
	}
	e.evaluateAll(&e.nodes, x, len(c.sums))
	for k, negative := range out.SD {
		out.Mean[k] -= negative
		out.SD[k] = -negative
	}
	return nil
}

// momentsAt are the moments at points of all coordinates, as [At] has their sums.
func (t Term) momentsAt(m Moments, x []float64) {
	d := t.Process.Dim()
	t.Process.Predict(m.Mean, m.SD, x)
	for k := range m.Mean {
		point := x[k*d : (k+1)*d]
		mu, sigma := m.Mean[k], deviation(m.SD[k], t.Process.Kernel().Variance(point))
		if t.Offset != nil {
			mu += t.Offset(nil, point)
		}
		m.Mean[k], m.SD[k] = (mu-sigma)+sigma, sigma
	}
}
