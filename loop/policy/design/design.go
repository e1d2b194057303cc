// Package design chooses settings without a model: the initial steps, and all steps of the
// kinds "random" and "sobol".
package design

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Design chooses settings without a model. Its choice is a function of the step's number, the
// control sets that fit, and, in a finite domain, what was played.
type Design struct {
	random   bool // independent uniform points instead of a scrambled Sobol sequence
	seed     uint64
	sequence *sobol.Sequence
	dims     int
}

// New makes a design for so many variables; random: see Design.
func New(random bool, seed uint64, dims int) *Design {
	return &Design{random: random, seed: seed, dims: dims, sequence: sobol.NewScrambled(dims, num.Stream(seed, num.ForDesign, 0))}
}

// point is the step's design point for all variables, in unit coordinates.
func (g *Design) point(step int) []float64 {
	x := make([]float64, g.dims)
	if !g.random {
		g.sequence.Point(x, step-1)
		return x
	}
	rng := num.Stream(g.seed, num.ForDesign, step)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

// Setting is the step's setting in domain d. In a finite domain it is the one
// nearest to the design point among those not in played, while there are any.
func (g *Design) Setting(d *space.Domain, step int, played [][]float64) []float64 {
	x := make([]float64, d.Size())
	d.Project(x, g.point(step))
	n := d.Listed()
	if n == 0 {
		d.Round(x)
		return x
	}
	used := make([]bool, n)
	for _, p := range played {
		used[d.NearestListed(p)] = true
	}
	if !slices.Contains(used, false) {
		clear(used)
	}
	best, distance := 0, math.Inf(1)
	rng := num.Stream(g.seed, num.ForSets, step)
	for k, u := range used {
		q := rng.Float64() // the nearest to a uniform point is not a uniform choice in a list
		if !g.random {
			q = num.SquaredDistance(d.Row(k), x)
		}
		if !u && q < distance {
			best, distance = k, q
		}
	}
	return slices.Clone(d.Row(best))
}

// Cheapest lists the sets of least cost, in their order.
func Cheapest(sets []space.ControlSet, fits []int) []int {
	least := math.Inf(1)
	for _, i := range fits {
		least = min(least, sets[i].Cost)
	}
	var out []int
	for _, i := range fits {
		if cost.Same(sets[i].Cost, least) {
			out = append(out, i)
		}
	}
	return out
}
