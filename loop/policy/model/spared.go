package model

import "math"

const (
	// hopeless is the probability below which a member is revised at every revisedEvery-th row only, from row sparedFrom on: before,
	// a row says much of its unit, and costs little.
	hopeless     = 1e-6
	revisedEvery = 8
	sparedFrom   = 32
	// spreadMoves is the share by which the data's spread may change, and with it what units would be estimated, until all are.
	spreadMoves = 0.05
	// surprise is the log density, in the process's unit, below which a reading has a member revised all the same: it is four of
	// its prior standard deviations off, or more, so the unit has changed.
	surprise = -8
)

// spared says which members the newest of n rows does not revise: their mean, unit and noise variances stay, and their
// evidence grows by the density of that row, as that of priors with nothing to estimate does. What they give is not
// looked at, a reading that speaks for one has it revised with the next, and one that surprises it at once. Where single
// shots teach the noise, what they teach moves the noise of all rows, and with it what each member is worth: none is spared.
func (c *priorSet) spared(n, left int) []bool {
	clear(c.spare)
	averages := c.Spec.PriorRule != PriorsSampled && c.Spec.PriorRule != PriorsElimination
	moved := math.Abs(c.scale-c.spread) > spreadMoves*c.spread
	if c.sequential || c.Singles || !averages || c.Broken || left >= 0 || n < sparedFrom || n%revisedEvery == 0 || moved {
		c.spread = c.scale
		return c.spare
	}
	c.set.Probabilities(c.probed)
	for i, p := range c.probed {
		c.spare[i] = p < hopeless && c.set.Alive(i)
	}
	return c.spare
}

// restandardise takes the newest row into the standardisation, which changes the figures, not the meaning, of what
// spared members keep: the density of the n-1 rows that they hold changes with its unit.
func (c *priorSet) restandardise(rows []Row, spared []bool) {
	center, scale := c.center, c.scale
	c.standardise(rows)
	for i, spare := range spared {
		if !spare {
			continue
		}
		if b := &c.members[i]; math.IsNaN(b.mean) {
			c.means[i] = (c.means[i]*scale + center - c.center) / c.scale
		}
		if c.members[i].unit == 0 {
			c.units[i] *= scale / c.scale
		}
		c.set.SetLogEvidence(i, c.set.LogEvidence(i)+float64(len(rows)-1)*math.Log(c.scale/scale))
	}
}
