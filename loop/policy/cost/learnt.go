package cost

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/space"
)

// learnt are costs of control sets of which each step tells one reading. A set is expected to cost the mean of
// its readings, and before the first of them what the file says. Its readings scatter in proportion to their
// mean, all sets' alike, so that a set with one reading has a scatter too.
//
// Each set is played once first ([Model.Untried]): a guess that is too high would never be corrected.
// Decisions weigh a lower bound of the mean, so that a set is not given up for one expensive reading:
//
//	mean_i (1 - v sqrt(2 log t / n_i)), at least 0
//
// v the coefficient of variation, t all readings, n_i those of the set: the confidence of UCB1 (Auer et al.,
// 2002), on the side that makes a cost look small.
type learnt struct {
	tried         []bool // a step was made with it, whether or not its cost was read
	count         []int
	mean, squares []float64 // of deviations from the mean
	most          []float64 // the greatest reading
	total         int
}

// Learn has the costs of control sets learnt; what they are now are the first guesses.
func (c *Model) Learn() {
	c.Sets = slices.Clone(c.Sets)
	n := len(c.Sets)
	c.learnt = &learnt{tried: make([]bool, n), count: make([]int, n), mean: make([]float64, n), squares: make([]float64, n), most: make([]float64, n)}
}

// Read takes in what a control set has cost by itself in a step, and reports whether that has changed what
// steps are taken to cost: not where it was not read (NaN), or costs are given.
func (c *Model) Read(set int, cost float64, domains []*space.Domain) bool {
	l := c.learnt
	if l == nil || set < 0 {
		return false
	}
	l.tried[set] = true
	if math.IsNaN(cost) {
		return false
	}
	l.total++
	l.count[set]++
	off := cost - l.mean[set] // Welford's update
	l.mean[set] += off / float64(l.count[set])
	l.squares[set] += off * (cost - l.mean[set])
	l.most[set] = max(l.most[set], cost)
	c.Sets[set] = l.mean[set]
	c.TypicalCost = c.Typical(domains)
	return true
}

// Untried is the first of these control sets whose cost is to be learnt and that no step was made with, alone;
// else they are all.
func (c *Model) Untried(sets []int) []int {
	if c.learnt == nil {
		return sets
	}
	for k, i := range sets {
		if !c.learnt.tried[i] {
			return sets[k : k+1]
		}
	}
	return sets
}

// Alike reports whether two control sets cost the same, as far as is known.
func (c *Model) Alike(i, j int) bool {
	if c.learnt == nil {
		return Same(c.Sets[i], c.Sets[j])
	}
	return Same(c.Sets[i], c.Sets[j]) || math.Abs(c.Sets[i]-c.Sets[j]) <= c.learnt.halfWidth(i)+c.learnt.halfWidth(j)
}

// surplus is how much a set's most expensive step cost above its mean: that has to be left of a budget.
func (c *Model) surplus(set int) float64 {
	if c.learnt == nil || c.learnt.count[set] == 0 {
		return 0
	}
	return c.learnt.most[set] - c.learnt.mean[set]
}

// margin is what the lower bound of a set's cost is below its mean.
func (l *learnt) margin(set int) float64 { return min(l.halfWidth(set), l.mean[set]) }

// halfWidth is how far the mean of a set's cost may be off; 0 where nothing is known of it.
func (l *learnt) halfWidth(set int) float64 {
	if l.count[set] == 0 {
		return 0
	}
	return l.mean[set] * l.variation() * math.Sqrt(2*math.Log(float64(l.total))/float64(l.count[set]))
}

// variation is the coefficient of variation of readings of one set; 0 before one has two.
func (l *learnt) variation() float64 {
	sum, degrees := 0.0, 0
	for i, n := range l.count {
		if n > 1 && l.mean[i] > 0 {
			sum += l.squares[i] / (l.mean[i] * l.mean[i])
			degrees += n - 1
		}
	}
	if degrees == 0 {
		return 0
	}
	return math.Sqrt(sum / float64(degrees))
}
